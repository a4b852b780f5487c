"""What a server can give, found out by a dozen requests before a study spends anything, since servers mislead.

Each check has a name. Where it fails, the capability is taken away and the reason kept; where no number depends on it,
the failure is only noted.

    models          the server has a model of this name
    parameters      it takes the parameters of a request; what it refuses is left out
    prompt          it reads the tokens that it is sent, and adds none
    tokens          the tokenizer of the study is the server's
    several         it gives as many answers to a request as are asked for, and not the same one
    sampling        answers to other seeds at temperature 1 differ
    seed            the same seed gives the same answer
    greedy          the greedy answer is the same when it is asked for again
    log_probs       log-probabilities are there, and are such: not all 0 or -9999, with a mass of at most 1
    temperature     they are those before temperature
    whole           whole distributions are there, and their likeliest token is the greedy answer's first
    likeliest       the likeliest tokens are there, their texts or ids all different
    limit           answers are not cut before the limit that was asked for
    thoughts        thoughts are told from answers
    moved           what it says of itself is what it said at the last run
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from swaymeter.data.errors import ModelError, ServiceError, first_line, nearest, printable
from swaymeter.tasks.models.capabilities import Capability
from swaymeter.tasks.models.endpoints.apis import APIS, FEW, OTHER_NAMES, RefusedParameter, Served
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Api, Decoding, Endpoint, Prompt, Reply
from swaymeter.tasks.models.prompts.template_options import SWITCHES
from swaymeter.tasks.models.prompts.thoughts import opens_marks

Answered = TypeVar("Answered")
Write = Callable[[str], Prompt]
"""Writes a text as what is sent to the server."""

_OPEN = "Write the first sentence of a story about a lighthouse, a goat and a map."
_TEXT = "The capital of Norway is Oslo, isn't it? 12,345 naïve façades — 東京."
_OWNERS: Mapping[str, Api] = {"llamacpp": "llama.cpp", "vllm": "vllm"}
_TOLERANCE = 2e-2
_CONFIGURATION = "configuration"
_LENGTH = 12
"""Tokens of an answer: enough that two sampled ones are never the same by chance."""


@dataclass
class Found:
    """What a probe found: api, version and the server's own words on the model; failed: checks with their reasons.

    taken: the capabilities that are not left, and why. refused: parameters that requests leave out, or name otherwise.
    context_window: in tokens, where the server says it. thinks: whether the model thinks where it is sent messages;
    switch: the keyword of its chat template that turns this off, "" where there is none.
    """

    api: Api
    words: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    taken: dict[Capability, str] = field(default_factory=dict)
    context_window: int | None = None
    refused: list[str] = field(default_factory=list)
    thinks: bool = False
    switch: str = ""

    def take(self, check: str, reason: str, *capabilities: Capability) -> None:
        """Notes that a check failed, and what cannot be given for it."""
        self.failed[check] = reason
        for capability in capabilities:
            self.taken.setdefault(capability, f"{check}: {reason}")


def note_moves(found: Found, before: Found) -> str:
    """Notes, and returns, in which words a server now says something else of itself; "" where in none."""
    both = [name for name in found.words.keys() & before.words.keys() if found.words[name] != before.words[name]]
    both = sorted({*both} - {_CONFIGURATION})  # which hosted APIs change from day to day
    moved = ", ".join(f"{name} was {before.words[name]} and is {found.words[name]}" for name in both)
    if moved:
        found.take("moved", moved)
    return moved


def probe(client: Client, write: Write | None) -> tuple[Served, Found]:
    """The server as it is to be asked, and what was found; write: None where the server writes the prompts itself.

    ModelError where it lacks the model, or the study's tokenizer is not the server's; ServiceError where it cannot be
    reached or refuses the key.
    """
    listed = client.get(client.openai + "models")
    entries = [entry for entry in _list(listed) if isinstance(entry, dict)]
    entry = _entry(client, entries)
    api = client.endpoint.api if client.endpoint.api != "auto" else _OWNERS.get(str(entry.get("owned_by")), "openai")
    served, found = APIS[api](client), Found(api)
    found.words, served.listed_as = _words(client, api, entry), str(entry.get("id", ""))
    found.context_window = _window(entry)
    if write is not None and not served.takes_tokens:
        raise ModelError(
            f"model {client.endpoint.name}: a tokenizer is named, and its server ({api}) takes no tokens; leave the "
            "tokenizer out, or say with `api` which server it is"
        )
    prompt = write(_OPEN) if write else Prompt(turns=[{"role": "user", "content": _OPEN}])
    for check in (_log_probs, _thoughts, _greedy, _seeds, _several, _temperature, _whole):
        check(served, found, prompt)
    if write is not None:
        _tokens(served, found, write)
    return served, found


class _RefusedError(Exception):
    """A server that is well does not answer this."""


def _unless_refused(served: Served, prompt: Prompt, ask: Callable[[], Answered]) -> Answered:
    """What a server answers; _RefusedError where it answers a plain request between two such ones, but none of these.

    ServiceError where it does not answer the plain one: a fault that passes says nothing of what the server can give.
    """
    try:
        return ask()
    except ModelError as error:
        raise _RefusedError(first_line(error)) from None
    except ServiceError:
        served.answers(prompt, Decoding(1), anew=True)
    try:
        return ask()
    except ServiceError as error:
        raise _RefusedError(first_line(error)) from None


def _log_probs(served: Served, found: Found, prompt: Prompt) -> None:
    """The first request: whether anything comes back, and with which log-probabilities."""
    asked = Decoding(_LENGTH)
    reply = _first(served, found, prompt, asked)
    values = reply.token_log_probs
    if served.log_probs and not values:
        found.take("log_probs", "the server sends none", "token_log_probs")
    elif values and (all(value == 0 for value in values) or min(values) <= -9999):
        found.take("log_probs", "they are 0 or -9999, which are none", "token_log_probs")
    elif reply.text.isascii() and reply.token_texts and reply.text.strip() not in "".join(reply.token_texts):
        found.take("log_probs", "they are of other tokens than the answer has", "token_log_probs", "likeliest_tokens")
    if "log_probs" in found.failed:
        served.log_probs = False
    if prompt.tokens and reply.prompt_tokens not in (0, len(prompt.tokens)):
        found.take(
            "prompt", f"it reads {reply.prompt_tokens} tokens where {len(prompt.tokens)} are sent",
            "next_token_logits", "answer_scores",
        )  # fmt: skip
    if reply.finish == "length" and values and len(values) < asked.max_tokens:
        found.take("limit", f"an answer ends after {len(values)} tokens where {asked.max_tokens} were asked for")
    known = {"", served.endpoint.model, served.listed_as, *found.words.values()}
    words = zip(("answers as", _CONFIGURATION), reply.model, strict=True)
    found.words |= {name: printable(word, 200) for name, word in words if word not in known}
    own = served.tokenized(_OPEN) if prompt.turns and reply.prompt_tokens else None
    if own:
        found.words["template"] = f"writes {reply.prompt_tokens} tokens for a message of {len(own)}"


def _thoughts(served: Served, found: Found, prompt: Prompt) -> None:
    """Whether the model thinks, and what of its chat template turns that off."""

    def thinks(**options: Any) -> bool:
        (reply,) = served.answers(prompt._replace(options=options), Decoding(_LENGTH), anew=bool(options))
        return bool(reply.thoughts) or opens_marks(reply.text)

    if not prompt.turns or not thinks():
        return
    found.thinks, found.words["thoughts"] = True, "they cannot be turned off"
    for name, (off, _) in SWITCHES.items() if served.takes_options else ():
        try:
            is_switch = not thinks(**{name: off})
        except ServiceError:  # a keyword that its template does not take
            continue
        if is_switch:
            found.switch, found.words["thoughts"] = name, f"{name} turns them off"
            return


def _first(served: Served, found: Found, prompt: Prompt, asked: Decoding) -> Reply:
    """The first answer, without the parameters that the server refuses one after the other."""
    reasons = dict[str, str]()
    while True:
        try:
            (reply,) = served.answers(prompt, asked, anew=True)
        except RefusedParameter as error:
            if error.name in served.refused:
                raise
            served.refused.add(error.name)
            reasons.setdefault(error.name, _short(error))
            if error.name == "logprobs":
                served.log_probs = False
                found.take("log_probs", f"the server refuses them: {_short(error)}", "token_log_probs")
        else:
            break
    found.refused = sorted(served.refused)
    others = {other: usual for usual, other in OTHER_NAMES.items() if usual in reasons}
    lines = [
        f"{name} is sent as {OTHER_NAMES[name]}" if name in others.values() and OTHER_NAMES[name] not in reasons
        else f"{name} is left out ({reason})"
        for name, reason in reasons.items() if name not in ("logprobs", *others)
    ]  # fmt: skip
    if "temperature" in reasons:
        lines.append("the greedy answer is one at the server's own temperature")
    if lines:
        found.take("parameters", ", ".join(lines))
    return reply


def _greedy(served: Served, found: Found, prompt: Prompt) -> None:
    first, second = (served.answers(prompt, Decoding(_LENGTH), anew=True)[0].text for _ in range(2))
    if first != second:
        found.take("greedy", f"asked twice, it answers {_quoted(first)} and {_quoted(second)}")


def _seeds(served: Served, found: Found, prompt: Prompt) -> None:
    def sampled(seed: int) -> str:
        return served.answers(prompt, Decoding(_LENGTH, 1.0, seed=seed), anew=True)[0].text

    texts = [sampled(seed) for seed in (11, 12, 13)]
    if len(set(texts)) == 1:
        reason = "at temperature 1 three seeds give one answer; temperature or seed is ignored"
        found.take("sampling", reason, "samples")
    elif sampled(11) != texts[0]:
        served.seeds = False
        found.take("seed", "the same seed gives another answer, so that answers cannot be drawn again")


def _several(served: Served, found: Found, prompt: Prompt) -> None:
    try:
        replies = _unless_refused(
            served, prompt, lambda: served.answers(prompt, Decoding(_LENGTH, 1.0, seed=21), 3, anew=True)
        )
    except _RefusedError as error:
        served.several = False
        found.take("several", f"one answer a request: {_short(error)}")
        return
    if len({reply.text for reply in replies}) == 1 and "sampling" not in found.failed:
        served.several = False
        found.take("several", "the answers to one request are all the same one, so each has a request of its own")


def _temperature(served: Served, found: Found, prompt: Prompt) -> None:
    try:
        other = 1.0 if "temperature" in served.refused else 0.5
        hot, cold = (
            _unless_refused(served, prompt, partial(served.likeliest, prompt, FEW, temperature=degrees))
            for degrees in (1.0, other)
        )
    except _RefusedError as error:
        found.take("likeliest", f"the server gives none: {_short(error)}", "likeliest_tokens")
        return
    if prompt.turns:
        _likeliest_of_texts(served, found, prompt)
    mass = math.fsum(map(math.exp, hot.values()))
    if len(hot) < FEW - 1:  # the last one may be a part of a letter
        found.take("likeliest", "tokens fall together by their texts, or there are none", "likeliest_tokens")
    elif mass > 1 + _TOLERANCE or len({round(value, 6) for value in hot.values()}) == 1:
        reason = f"the likeliest tokens have a mass of {mass:.3f}" if mass > 1 else "all tokens have the same one"
        found.take("log_probs", reason, "token_log_probs", "likeliest_tokens", "next_token_logits", "answer_scores")
    elif any(abs(cold[token] - hot[token]) > _TOLERANCE for token in hot.keys() & cold.keys()):
        found.take(
            "temperature", "log-probabilities change with the temperature, and are to be those before it",
            "token_log_probs",
        )  # fmt: skip
    elif served.log_probs and "temperature" not in served.refused:
        _first_token(served, found, prompt, hot)
    if "token_log_probs" in found.taken:
        served.log_probs = False


def _first_token(served: Served, found: Found, prompt: Prompt, likeliest: Mapping[str, float]) -> None:
    """The greedy answer begins with the likeliest token, or with one that is as likely."""
    (reply,) = served.answers(prompt, Decoding(_LENGTH))
    begins = f"token_id:{reply.token_ids[0]}" if reply.token_ids else next(iter(reply.token_texts), None)
    if begins is None or reply.thoughts:
        return
    if likeliest.get(begins, -math.inf) < max(likeliest.values()) - _TOLERANCE:
        reason = "the greedy answer begins with a token that is not the likeliest one that the server names"
        found.take("log_probs", reason, "token_log_probs", "likeliest_tokens")


def _likeliest_of_texts(served: Served, found: Found, prompt: Prompt) -> None:
    """Queries are texts that the model goes on with, which a chat API may not take."""
    try:
        _unless_refused(served, prompt, lambda: served.likeliest(Prompt(text=_OPEN), 5))
    except _RefusedError as error:
        found.take("likeliest", f"the server goes on with no text: {_short(error)}", "likeliest_tokens")


def _whole(served: Served, found: Found, prompt: Prompt) -> None:
    if not prompt.tokens or not served.whole:
        why = "prompts are sent as turns; name the `tokenizer`" if served.whole else f"{found.api} gives none"
        found.take("whole", why, "next_token_logits", "answer_scores", "distributions")
        return
    try:
        first = _unless_refused(served, prompt, lambda: served.next_token(prompt))
    except _RefusedError as error:
        advice = "; start the server with --max-logprobs -1" if found.api == "vllm" else ""
        found.take("whole", f"{_short(error)}{advice}", "next_token_logits", "answer_scores", "distributions")
        return
    found.words["vocabulary"] = str(len(first))
    (reply,) = served.answers(prompt, Decoding(1), anew=True)
    begins = reply.token_ids[0] if reply.token_ids else int(first.argmax())
    if begins >= len(first) or first[begins] < first.max() - _TOLERANCE:
        found.take(
            "whole", "the greedy answer begins with a token that is not the likeliest of the distribution",
            "next_token_logits", "answer_scores", "distributions",
        )  # fmt: skip


def _tokens(served: Served, found: Found, write: Write) -> None:
    own, theirs = write(_TEXT).tokens, served.tokenized(_TEXT)
    if theirs is not None and theirs not in (own, own[-len(theirs) :]) and not _within(theirs, own):
        raise ModelError(
            f"model {served.endpoint.name}: its server writes other tokens than the tokenizer "
            f"{served.endpoint.tokenizer} ({list(theirs[:8])}... for {list(own[:8])}...); name the model that it serves"
        )


def _within(part: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))


def models_at(address: str, key_from: str = "") -> list[dict[str, Any]]:
    """The models that a server lists, each with what it says that it is, and its context window in tokens.

    ServiceError where it cannot be reached, UsageError where the variable that holds its key is not set.
    """
    with TemporaryDirectory() as folder:
        client = Client(Endpoint("of the server", address, key_from=key_from), Path(folder))
        entries = [entry for entry in _list(client.get(client.openai + "models")) if isinstance(entry, dict)]
        client.session.close()
    return [
        {
            "model": printable(str(entry.get("id")), 200),
            "server": printable(str(entry.get("owned_by") or ""), 60),
            "context_window": _window(entry),
        }
        for entry in entries
    ]


def _list(content: Any) -> list[Any]:
    data = content.get("data") if isinstance(content, dict) else None
    return data if isinstance(data, list) else []


def _entry(client: Client, entries: list[dict[str, Any]]) -> Mapping[str, Any]:
    """What the server says of the model; empty where it lists nothing. llama.cpp answers for whatever is named."""
    endpoint = client.endpoint
    ids = [str(entry.get("id")) for entry in entries]
    for entry in entries:
        if endpoint.model in (entry.get("id"), *_texts(entry.get("aliases"))):
            return entry
    if len(entries) == 1 and entries[0].get("owned_by") == "llamacpp":
        return entries[0]
    if entries:
        raise ModelError(
            f"{client.root} has no model {endpoint.model!r}; "
            f"{nearest(endpoint.model, (printable(name, 100) for name in ids))}; where the server has another name for "
            "it, say so with `served_as`"
        )
    return {}


def _texts(value: Any) -> Iterator[str]:
    yield from (item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def _words(client: Client, api: Api, entry: Mapping[str, Any]) -> dict[str, str]:
    """The server's own words on what it is."""
    words = {"id": entry.get("id"), "root": entry.get("root")}
    if api == "vllm":
        words["version"] = _about(client, "version").get("version")
    elif api == "llama.cpp":
        about = _about(client, "props")
        places = {"version": "build_info", "number format": "model_ftype", "file": "model_path"}
        words |= {name: about.get(place) for name, place in places.items()}
    named = {name: str(value) for name, value in words.items() if value}
    said = {name: text.rpartition("/")[2] if name == "file" else text for name, text in named.items()}
    if said.get("id", "").endswith(said.get("file", "/")):
        del said["id"]
    return {name: printable(text, 200) for name, text in said.items()}


def _about(client: Client, path: str) -> Mapping[str, Any]:
    said = client.get(path)
    return said if isinstance(said, dict) else {}


def _window(entry: Mapping[str, Any]) -> int | None:
    meta = entry.get("meta") if isinstance(entry.get("meta"), dict) else {}
    lengths = (entry.get("max_model_len"), (meta or {}).get("n_ctx"))
    return next((length for length in lengths if isinstance(length, int) and length > 0), None)


def _short(error: Exception) -> str:
    return printable(first_line(error), 300)


def _quoted(text: str) -> str:
    return repr(printable(text, 60))
