"""Probe a server before a study spends anything: a dozen requests test capabilities that a server may misstate.

The table has the name of each check and its condition. A failed check is recorded with its reason, and the capabilities
that depend on the check are missing. If the server refuses the model or has another tokenizer, ModelError is raised.

    models          the server lists the model
    parameters      the server accepts the parameters of a request; a refused parameter is left out
    prompt          the server reads exactly the tokens of the prompt
    tokens          the study's tokenizer is the server's
    thoughts        thoughts are separated from replies, and end
    several         one request gives several different replies
    sampling        at temperature 1, different seeds give different replies
    seed            the same seed gives the same reply
    greedy          a second request gives the same greedy reply
    log_probs       replies have log-probabilities with a mass of at most 1, not all 0 or -9999
    temperature     log-probabilities do not depend on the temperature
    whole           the server sends whole distributions, and their likeliest token begins the greedy reply
    likeliest       the server sends the likeliest tokens, with distinct texts or ids
    limit           a reply that is cut at its limit has as many tokens as the request allows
    moved           the server's description is the same as at the last run; otherwise, the server has moved
"""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from swaymeter.data.digests import content_key
from swaymeter.data.errors import ModelError, ServiceError, first_line, nearest, printable
from swaymeter.data.storage.notes import read_note, unseal, write_sealed
from swaymeter.tasks.models.capabilities import Capability
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Api, Decoding, Endpoint, Prompt, Reply
from swaymeter.tasks.models.endpoints.servers import (
    FEW,
    OTHER_NAMES,
    SERVERS,
    RefusedParameter,
    RequestSettings,
    Server,
)
from swaymeter.tasks.models.prompts.template_options import SWITCHES
from swaymeter.tasks.models.prompts.thoughts import has_opening_mark

Response = TypeVar("Response")
Write = Callable[[str], Prompt]
"""A function that turns a text into the prompt that is sent to the server."""

_STORY = "Write the first sentence of a story about a lighthouse, a goat and a map."
"""The prompt of all checks."""
_TOKENIZER_TEST = "The capital of Norway is Oslo, isn't it? 12,345 naïve façades — 東京."
"""A text that different tokenizers split differently."""
# Kinds of server by `owned_by` of a listed model.
_OWNERS: Mapping[str, Api] = {"llamacpp": "llama.cpp", "vllm": "vllm"}
_TOLERANCE = 2e-2
"""Tolerance of a mass of probabilities, and of log-probabilities in nats."""
_CONFIGURATION = "configuration"
"""Name of the server's configuration (system_fingerprint) in its description."""
_LENGTH = 12
"""Upper bound on the tokens of a reply. With so many tokens, two sampled replies are unlikely to be equal."""
_THOUGHTS = (256, 1024, 4096)
"""Limits of the tokens of thoughts during a probe, tried in turn."""
_LOG_PROB_CAPABILITIES: tuple[Capability, ...] = (
    "token_log_probs",
    "likeliest_tokens",
    "next_token_logits",
    "answer_scores",
)
_REQUEST_SWITCHES = ("reasoning_effort", "think")
"""Switches of thoughts that Ollama and hosted APIs read from the request itself, not as keywords of a template."""
_COMMON_SWITCH = "enable_thinking"
"""The switch that most chat templates have. No other keyword is tried at servers of an unknown kind."""


@dataclass
class ProbeResult:
    """Result of the probe of a server.

    Attributes:
        api: The kind of server.
        description: The server's description of itself and the model, by name, such as "version".
        failed: Failed checks with their reasons.
        missing: Missing capabilities with their reasons.
        context_window: The context window in tokens; None if the server does not state it.
        thinks: True if the model thinks before it replies to messages.
        switch: The option that turns thoughts off; empty without such an option.
        settings: The form of requests.
    """

    api: Api
    description: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    missing: dict[Capability, str] = field(default_factory=dict)
    context_window: int | None = None
    thinks: bool = False
    switch: str = ""
    settings: RequestSettings = field(default_factory=RequestSettings)

    def fail(self, check: str, reason: str, *capabilities: Capability) -> None:
        """Record a failed check, and the capabilities that are therefore missing."""
        self.failed[check] = reason
        for capability in capabilities:
            self.missing.setdefault(capability, f"{check}: {reason}")


def note_changes(result: ProbeResult, before: ProbeResult) -> str:
    """Record and describe the changes of a server's description since the last probe; "" without a change.

    A change of the configuration does not count.
    """
    new, old = result.description, before.description
    names = sorted(name for name in new.keys() & old.keys() if new[name] != old[name] and name != _CONFIGURATION)
    changes = ", ".join(f"{name} was {old[name]} and is {new[name]}" for name in names)
    if changes:
        result.fail("moved", changes)
    return changes


def probe(client: Client, write: Write | None) -> tuple[Server, ProbeResult]:
    """Probe a server.

    Args:
        client: Requests to the server.
        write: Writes a text as token ids; None if the server writes the prompts.

    Raises:
        ModelError: The server lacks the model, or the study's tokenizer is not the server's.
        ServiceError: The server cannot be reached, or refuses the key.
    """
    entries = _entries(client.get(client.prefix + "models"))
    entry = _entry(client.endpoint.model, entries)
    candidates = [entry] if entry else entries
    apis = {_OWNERS.get(str(candidate.get("owned_by")), "openai") for candidate in candidates}
    api = client.endpoint.api
    if api == "auto":
        api = apis.pop() if len(apis) == 1 else "openai"
    server = SERVERS[api](client)
    result = ProbeResult(api, _description(client, api, entry), settings=server.settings)
    result.context_window = _window(entry)
    if write is not None and not server.takes_tokens:
        raise ModelError(
            f"model {client.endpoint.name}: `tokenizer` is set, but its server (api: {api}) takes no tokens; leave "
            "`tokenizer` out, or correct `api`"
        )
    prompt = write(_STORY) if write else Prompt(turns=[{"role": "user", "content": _STORY}])
    reply = _first_reply(server, result, prompt, entries if not entry else [])
    _Checks(server, result, prompt, reply, listed_as=str(entry.get("id", ""))).run()
    if write is not None:
        _check_tokens(server, write)
    return server, result


class _RefusedError(Exception):
    """A server that answers other requests refuses one kind of request."""


def _unless_refused(server: Server, prompt: Prompt, request: Callable[[], Response]) -> Response:
    """Return the response to a request; after a failure, send a simple request, then the first request again.

    Raises:
        _RefusedError: The server refuses the request; or the request fails twice, although the simple one succeeds.
        ServiceError: The simple request fails, too. Such a failure says nothing about capabilities.
    """
    try:
        return request()
    except ModelError as error:
        raise _RefusedError(first_line(error)) from None
    except ServiceError:
        server.replies(prompt, Decoding(1), fresh=True)
    try:
        return request()
    except ServiceError as error:
        raise _RefusedError(first_line(error)) from None


def _first_reply(server: Server, result: ProbeResult, prompt: Prompt, others: list[Mapping[str, Any]]) -> Reply:
    """Return the first reply; parameters that the server refuses are left out one by one, and recorded in `result`.

    `others` are the models that the server lists, if this model is not among them.
    """
    reasons, endpoint, refused = dict[str, str](), server.endpoint, server.settings.refused
    while True:
        try:
            (reply,) = server.replies(prompt, Decoding(_LENGTH), fresh=True)
            break
        except RefusedParameter as error:
            if error.name in refused:
                raise
            refused.append(error.name)
            reasons[error.name] = _short(error)
            if error.name == "logprobs":
                server.settings.log_probs = False
                result.fail("log_probs", f"the server refuses log-probabilities: {_short(error)}", "token_log_probs")
        except ServiceError as error:
            if not others or type(error) is not ServiceError:
                raise
            listed = (printable(str(other.get("id")), 100) for other in others)
            raise ModelError(
                f"{server.client.root} has no model {endpoint.model!r} ({nearest(endpoint.model, listed)}); correct "
                f"the name, or set `served_as` to the server's own name for the model (error: {_short(error)})"
            ) from None
    if others:
        result.fail("models", f"the server replies to the name {endpoint.model}, which its list of models lacks")
    refused.sort()
    other_names = [other for usual, other in OTHER_NAMES.items() if usual in reasons]
    lines = []
    for name, reason in reasons.items():
        # `logprobs` is recorded above. A parameter that is refused by both of its names has one line.
        if name in ("logprobs", *other_names):
            continue
        if name in OTHER_NAMES and OTHER_NAMES[name] not in reasons:
            lines.append(f"{name} is sent as {OTHER_NAMES[name]}")
        else:
            lines.append(f"{name} is left out ({reason})")
    if "temperature" in reasons:
        lines.append("the greedy reply is drawn at the server's own temperature")
    if lines:
        result.fail("parameters", ", ".join(lines))
    return reply


class _Checks:
    """The checks of one server, all with the same prompt.

    `listed_as` is the id of the model in the server's list of models; empty if the model is not listed.
    """

    def __init__(self, server: Server, result: ProbeResult, prompt: Prompt, reply: Reply, *, listed_as: str) -> None:
        self._server, self._result, self._prompt, self._reply = server, result, prompt, reply
        self._length, self._listed_as = _LENGTH, listed_as

    def run(self) -> None:
        if self._prompt.turns and _is_thinking(self._reply):
            self._thoughts()
        self._description_of_reply()
        self._log_probs()
        self._greedy()
        self._seeds()
        self._several()
        self._likeliest()
        self._whole()

    def _replies(self, temperature: float = 0.0, seed: int = 0, count: int = 1) -> list[Reply]:
        decoding = Decoding(self._length, temperature, seed=seed)
        return self._server.replies(self._prompt, decoding, count, fresh=True)

    def _text(self, temperature: float = 0.0, seed: int = 0) -> str:
        return self._replies(temperature, seed)[0].text

    def _thoughts(self) -> None:
        """Find the switch that turns thoughts off or, without a switch, a limit of tokens within which they end."""
        result, prompt = self._result, self._prompt
        result.thinks = True
        for name, in_request in self._switches():
            if self._try_switch(name, in_request):
                result.switch, result.description["thoughts"] = name, f"{name} turns them off"
                return
        self._prompt, result.description["thoughts"] = prompt, "they cannot be turned off"
        for tokens in _THOUGHTS:
            self._length = _LENGTH + tokens
            (self._reply,) = self._replies()
            if not self._reply.ends_within_thoughts:
                return
        result.fail("thoughts", f"thoughts do not end within {_THOUGHTS[-1]:,} tokens")

    def _switches(self) -> Iterator[tuple[str, bool]]:
        """Yield the names of possible switches, each with True for a key of the request itself."""
        all_names = SWITCHES if self._server.takes_template_options else (_COMMON_SWITCH,)
        yield from ((name, False) for name in all_names)
        yield from ((name, True) for name in _REQUEST_SWITCHES)

    def _try_switch(self, name: str, in_request: bool) -> bool:
        """Return True if an option turns thoughts off, and keep this option in the settings."""
        settings, before = self._server.settings, replace(self._server.settings)
        settings.request_options = [name] if in_request else []
        settings.template_options = settings.template_options or not in_request
        self._prompt = self._prompt._replace(options={name: SWITCHES[name][0]})
        try:
            (self._reply,) = self._replies()
        except ServiceError:  # the server refuses the option
            is_off = False
        else:
            is_off = not _is_thinking(self._reply)
        if not is_off:
            settings.request_options, settings.template_options = before.request_options, before.template_options
        return is_off

    def _description_of_reply(self) -> None:
        """Describe the replying model, the server's configuration and the template; check the prompt's tokens."""
        reply, result, server = self._reply, self._result, self._server
        seen = {"", server.endpoint.model, self._listed_as, *result.description.values()}
        words = zip(("answers as", _CONFIGURATION), reply.model_and_configuration, strict=True)
        result.description |= {name: printable(word, 200) for name, word in words if word not in seen}
        message_tokens = server.tokenize(_STORY) if self._prompt.turns and reply.prompt_tokens else None
        if message_tokens:
            tokens = f"writes {reply.prompt_tokens} tokens for a message of {len(message_tokens)}"
            result.description["template"] = tokens
        sent = len(self._prompt.tokens)
        if sent and reply.prompt_tokens not in (0, sent):
            reason = f"the server reads {reply.prompt_tokens} tokens, although {sent} are sent"
            result.fail("prompt", reason, "next_token_logits", "answer_scores")

    def _log_probs(self) -> None:
        """Check the log-probabilities of the first reply and, if the reply was cut at its limit, its length."""
        reply, result, settings = self._reply, self._result, self._server.settings
        values = reply.token_log_probs
        if settings.log_probs and not values:
            result.fail("log_probs", "the server sends no log-probabilities", "token_log_probs")
        elif values and (all(value == 0 for value in values) or min(values) <= -9999):
            result.fail(
                "log_probs", "log-probabilities are 0 or -9999, which stand for missing values", "token_log_probs"
            )
        elif reply.text.isascii() and reply.token_texts and reply.text.strip() not in "".join(reply.token_texts):
            reason = "log-probabilities do not belong to the tokens of the reply"
            result.fail("log_probs", reason, "token_log_probs", "likeliest_tokens")
        if "log_probs" in result.failed:
            settings.log_probs = False
        count = len(values) if values and not reply.thoughts else reply.completion_tokens
        if reply.finish == "length" and count and count < self._length:
            result.fail("limit", f"a reply ends after {count} tokens, although {self._length} were requested")

    def _greedy(self) -> None:
        first, second = self._text(), self._text()
        if first != second:
            self._result.fail("greedy", f"the same request has the replies {_quoted(first)} and {_quoted(second)}")

    def _seeds(self) -> None:
        texts = [self._text(1.0, seed) for seed in (11, 12, 13)]
        if len(set(texts)) == 1:
            reason = "at temperature 1 three seeds give one reply; temperature or seed is ignored"
            self._result.fail("sampling", reason, "sampling")
        elif self._text(1.0, 11) != texts[0]:
            self._result.fail("seed", "the same seed gives another reply, so that replies cannot be drawn again")

    def _several(self) -> None:
        result, settings = self._result, self._server.settings
        try:
            replies = self._unless_refused(lambda: self._replies(1.0, 21, 3))
        except _RefusedError as error:
            settings.several = False
            result.fail("several", f"the server gives only one reply a request: {_short(error)}")
            return
        if len({reply.text for reply in replies}) == 1 and "sampling" not in result.failed:
            settings.several = False
            result.fail("several", "all replies to one request are equal, so each reply has a request of its own")

    def _likeliest(self) -> None:
        server, result = self._server, self._result
        refuses_temperature = "temperature" in server.settings.refused
        try:
            hot = self._unless_refused(partial(server.likeliest, self._prompt, FEW, temperature=1.0))
            lower = 1.0 if refuses_temperature else 0.5
            cold = self._unless_refused(partial(server.likeliest, self._prompt, FEW, temperature=lower))
        except _RefusedError as error:
            result.fail("likeliest", f"the server gives no likeliest tokens: {_short(error)}", "likeliest_tokens")
            return
        if self._prompt.turns:
            self._likeliest_after_text()
        mass = math.fsum(map(math.exp, hot.values()))
        if len(hot) < FEW - 1:  # one token may be missing, because parts of characters are left out
            reason = "several tokens have the same text, or the server sends no likeliest tokens"
            result.fail("likeliest", reason, "likeliest_tokens")
        elif mass > 1 + _TOLERANCE or len({round(value, 6) for value in hot.values()}) == 1:
            same_value = "all likeliest tokens have the same log-probability"
            reason = f"the likeliest tokens have a mass of {mass:.3f}" if mass > 1 else same_value
            result.fail("log_probs", reason, *_LOG_PROB_CAPABILITIES)
        elif any(abs(cold[token] - hot[token]) > _TOLERANCE for token in hot.keys() & cold.keys()):
            reason = "log-probabilities change with the temperature, but measures need log-probabilities that do not"
            result.fail("temperature", reason, "token_log_probs")
        elif server.settings.log_probs and not refuses_temperature:
            self._first_token(hot)
        if "token_log_probs" in result.missing:
            server.settings.log_probs = False

    def _first_token(self, likeliest: Mapping[str, float]) -> None:
        """Check that the greedy reply begins with the likeliest token, or with a token of the same probability."""
        (reply,) = self._server.replies(self._prompt, Decoding(self._length))
        first = f"token_id:{reply.token_ids[0]}" if reply.token_ids else next(iter(reply.token_texts), None)
        if first is None or reply.thoughts:
            return
        if likeliest.get(first, -math.inf) < max(likeliest.values()) - _TOLERANCE:
            reason = "the greedy reply begins with a token that is not the likeliest one that the server names"
            self._result.fail("log_probs", reason, "token_log_probs", "likeliest_tokens")

    def _likeliest_after_text(self) -> None:
        """Check that the server continues a text; queries are texts to continue, and some chat APIs take only turns."""
        try:
            self._unless_refused(lambda: self._server.likeliest(Prompt(text=_STORY), 5))
        except _RefusedError as error:
            self._result.fail("likeliest", f"the server continues no text: {_short(error)}", "likeliest_tokens")

    def _whole(self) -> None:
        server, result, prompt = self._server, self._result, self._prompt
        dependent: tuple[Capability, ...] = ("next_token_logits", "answer_scores", "distributions")
        if not prompt.tokens or not server.has_distributions:
            reason = f"a server with the API {result.api} sends no whole distributions"
            if server.has_distributions:
                reason = "prompts are sent as messages, not as tokens; set `tokenizer`"
            result.fail("whole", reason, *dependent)
            return
        try:
            distribution = self._unless_refused(lambda: server.next_token(prompt))
        except _RefusedError as error:
            advice = "; start the server with --max-logprobs -1" if result.api == "vllm" else ""
            result.fail("whole", f"{_short(error)}{advice}", *dependent)
            return
        result.description["vocabulary"] = str(len(distribution))
        (reply,) = server.replies(prompt, Decoding(1), fresh=True)
        token = reply.token_ids[0] if reply.token_ids else int(distribution.argmax())
        if token >= len(distribution) or distribution[token] < distribution.max() - _TOLERANCE:
            reason = "the greedy reply begins with a token that is not the likeliest of the distribution"
            result.fail("whole", reason, *dependent)

    def _unless_refused(self, request: Callable[[], Response]) -> Response:
        return _unless_refused(self._server, self._prompt, request)


def _is_thinking(reply: Reply) -> bool:
    return bool(reply.thoughts) or reply.ends_within_thoughts or has_opening_mark(reply.text)


def _check_tokens(server: Server, write: Write) -> None:
    own, theirs = write(_TOKENIZER_TEST).tokens, server.tokenize(_TOKENIZER_TEST)
    if theirs is None:
        return
    if not any(own[start : start + len(theirs)] == theirs for start in range(len(own))):
        raise ModelError(
            f"model {server.endpoint.name}: its server uses other tokens than the tokenizer "
            f"{server.endpoint.tokenizer} ({list(theirs[:8])}... instead of {list(own[:8])}...); set "
            "`tokenizer` to the tokenizer of the model that the server serves"
        )


# ---- the last probe of an endpoint, for runs without a network


def save_probe(client: Client, result: ProbeResult) -> None:
    """Store a probe beside the server's responses; WorkspaceError if the file cannot be written."""
    write_sealed(_file(client), asdict(result))


def load_probe(client: Client) -> tuple[Server, ProbeResult]:
    """Load the last probe of this endpoint; ServiceError if there was no probe."""
    try:
        content = unseal(read_note(_file(client)))
        result = ProbeResult(**{**content, "settings": RequestSettings(**content["settings"])})
        return SERVERS[result.api](client, result.settings), result
    except (OSError, ValueError, LookupError, TypeError):
        raise ServiceError(
            f"model {client.endpoint.name} ({client.root}): its server was never probed, and this run is offline; "
            "run again with a network"
        ) from None


def _file(client: Client) -> Path:
    """Return the file of an endpoint's probe; its name does not depend on settings without effect on replies."""
    settings = replace(
        client.endpoint,
        address="",
        in_flight=1,
        requests_per_minute=None,
        timeout_s=1.0,
        key_from="",
        max_requests=None,
        max_age_hours=None,
    )
    return client.folder / f"probe-{content_key(asdict(settings))[:16]}.json"


# ---- the server's list of models


def models_at(address: str, key_from: str = "") -> list[dict[str, Any]]:
    """Return the models that a server lists, each with its server and its context window in tokens.

    Raises:
        ServiceError: The server cannot be reached.
        UsageError: The environment variable of the key is not set.
    """
    with TemporaryDirectory() as folder:
        # The name completes messages such as "model of the server: its key is read from ...".
        client = Client(Endpoint("of the server", address, key_from=key_from), Path(folder))
        entries = _entries(client.get(client.prefix + "models"))
        client.session.close()
    return [
        {
            "model": printable(str(entry.get("id")), 200),
            "server": printable(str(entry.get("owned_by") or ""), 60),
            "context_window": _window(entry),
        }
        for entry in entries
    ]


def _entries(content: Any) -> list[Mapping[str, Any]]:
    data = content.get("data") if isinstance(content, dict) else None
    return [entry for entry in data if isinstance(entry, dict)] if isinstance(data, list) else []


def _entry(model: str, entries: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the entry of a model in the list, by its id, an alias or a wildcard; empty without an entry."""
    for entry in entries:
        aliases = entry.get("aliases")
        if model in (entry.get("id"), *(aliases if isinstance(aliases, list) else ())):
            return entry
    if len(entries) == 1 and entries[0].get("owned_by") == "llamacpp":  # llama.cpp answers to every name
        return entries[0]
    wildcards = (entry for entry in entries if "*" in str(entry.get("id")))
    return next((entry for entry in wildcards if fnmatchcase(model, str(entry["id"]))), {})


def _description(client: Client, api: Api, entry: Mapping[str, Any]) -> dict[str, str]:
    words = {"id": entry.get("id"), "root": entry.get("root")}
    if api == "vllm":
        words["version"] = _mapping_at(client, "version").get("version")
    elif api == "llama.cpp":
        about = _mapping_at(client, "props")
        fields = {"version": "build_info", "number format": "model_ftype", "file": "model_path"}
        words |= {name: about.get(field_name) for name, field_name in fields.items()}
    texts = {name: str(value) for name, value in words.items() if value}
    texts = {name: text.rpartition("/")[2] if name == "file" else text for name, text in texts.items()}
    # The id is left out if it only repeats the name of the file. No id ends with the default "/".
    if texts.get("id", "").endswith(texts.get("file", "/")):
        del texts["id"]
    return {name: printable(text, 200) for name, text in texts.items()}


def _mapping_at(client: Client, path: str) -> Mapping[str, Any]:
    content = client.get(path)
    return content if isinstance(content, dict) else {}


def _window(entry: Mapping[str, Any]) -> int | None:
    meta = entry.get("meta")
    lengths = (entry.get("max_model_len"), meta.get("n_ctx") if isinstance(meta, dict) else None)
    return next((length for length in lengths if isinstance(length, int) and length > 0), None)


def _short(error: Exception) -> str:
    return printable(first_line(error), 300)


def _quoted(text: str) -> str:
    return repr(printable(text, 60))
