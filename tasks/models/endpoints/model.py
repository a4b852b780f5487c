"""A model behind a server, with the protocols of tasks/models/capabilities.py that its probe confirmed.

The attribute `device` is this machine's CPU, which computes scores from the server's responses.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from swaymeter.data.digests import content_key
from swaymeter.data.errors import ModelError, ServiceError, UsageError
from swaymeter.data.randomness import generator
from swaymeter.tasks.models.capabilities import (
    DEFAULT_OPTIONS,
    Answer,
    Capability,
    Prompts,
    ReplyState,
    SampledAnswers,
    SampleOptions,
    Tokens,
)
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import REPEATED_PROMPTS, SERVED, Decoding, Endpoint, Prompt, Reply
from swaymeter.tasks.models.endpoints.messages import CodePointTokenizer, prompt_of
from swaymeter.tasks.models.endpoints.probe import ProbeResult, load_probe, note_changes, probe, save_probe
from swaymeter.tasks.models.files.identity import identify_model
from swaymeter.tasks.models.network import ModelTraits
from swaymeter.tasks.models.pretrained import once_per_arguments
from swaymeter.tasks.models.prompts.template_options import SWITCHES
from swaymeter.tasks.models.prompts.thoughts import without_thoughts
from swaymeter.tasks.models.tokenizer import load_transformers_tokenizer

if TYPE_CHECKING:
    import torch

    from swaymeter.tasks.models.capabilities import AnswerScores, NextTokenLogits, Samples
    from swaymeter.tasks.models.endpoints.servers import Server
    from swaymeter.tasks.models.next_token.distributions import Distributions

log = logging.getLogger(__name__)

_NO_DISTRIBUTION = np.zeros(0, np.float32)
MAX_THOUGHTS = 2048
"""Limit of the tokens of thoughts that a judge may write if its server cannot turn thoughts off."""


class ServedModel:
    """A model behind a server.

    Attributes:
        name: The model's name in the study.
        revision: The study's name of the server's weights.
        tokenizer: The tokenizer of transformers, or `CodePointTokenizer` if the server applies the chat template.
        probe: The result of the server's probe.
    """

    dtype, device = SERVED, "cpu"
    parameters: int | None = None

    def __init__(self, endpoint: Endpoint, revision: str, server: "Server", probe: ProbeResult, tokenizer: Any) -> None:
        self.endpoint, self.server, self.probe, self.tokenizer = endpoint, server, probe, tokenizer
        self.name, self.revision = endpoint.name, revision
        self.traits = ModelTraits()
        self._repeated = self._changed = 0  # numbers of greedy replies that were requested twice, and that differed

    @property
    def forward_passes(self) -> int:
        """Number of requests so far, each counted as a forward pass."""
        return self.server.client.requests

    @property
    def has_chat_template(self) -> bool:
        """True if the tokenizer has a chat template."""
        return bool(self.tokenizer.chat_template)

    @property
    def context_window(self) -> int | None:
        """The server's context window in tokens; None if it is unknown or counted by another tokenizer."""
        return None if isinstance(self.tokenizer, CodePointTokenizer) else self.probe.context_window

    @cached_property
    def vocabulary_size(self) -> int:
        """V: the entries of a next-token distribution."""
        return int(self.probe.description.get("vocabulary", len(self.tokenizer)))

    @property
    def placement(self) -> str:
        """The column `device` of the scores: the server decides the place of the weights."""
        return SERVED

    @property
    def hardware(self) -> str:
        """The server's description, and the form of the prompts."""
        form = "messages" if isinstance(self.tokenizer, CodePointTokenizer) else f"tokens of {self.endpoint.tokenizer}"
        words = (f"{name} {value}" for name, value in self.probe.description.items())
        return ", ".join([self.probe.api, f"prompts are sent as {form}", *words])

    @property
    def reading(self) -> str | None:
        """The column `reading` of the database: failed checks of the probe, and how many greedy replies changed."""
        notes = [f"{check}: {reason.replace(';', ',')}" for check, reason in self.probe.failed.items()]
        if self._repeated:
            notes.append(f"{self._changed} of {self._repeated} greedy answers differ when they are requested twice")
        return "; ".join(notes) or None

    def lacks(self, capability: Capability | None) -> str | None:
        """Return the reason why a capability is missing; None if the server has it."""
        if capability == "gradients":
            return "no server gives gradients"
        return None if capability is None else self.probe.missing.get(capability)

    # ---- samples

    def sample_answers(
        self, prompts: Sequence[Tokens], identities: Sequence[tuple[str, ...]], **options: Unpack[SampleOptions]
    ) -> list[SampledAnswers]:
        """Return the replies to every prompt; the server draws them by seeds that follow from the identities.

        Raises:
            UsageError: the options name a contrastive decoding, or the numbers of prompts and identities differ.
        """
        settings: SampleOptions = {**DEFAULT_OPTIONS, **options}
        if settings["decoding"] is not None:
            raise UsageError(
                f"the server of {self.name} draws replies itself, without contrastive decoding; "
                "set decoding to greedy, or run this model from its weights"
            )
        if len(prompts) != len(identities):
            raise UsageError(
                f"{len(prompts)} prompts have {len(identities)} identities; give one identity for each prompt"
            )
        sampling = settings["temperature"], settings["top_p"], settings["top_k"]
        self.server.check(Decoding(1, *sampling))
        samples, limit = settings["samples"], settings["max_new_tokens"] + (settings["max_thoughts"] or 0)
        per_request = max(samples, 1) if self.server.settings.several else 1
        starts = (-1, *range(0, samples, per_request))  # first sample of each request; -1 for the greedy reply

        def send(request: tuple[int, int]) -> list[Reply]:
            index, start = request
            prompt = self._prompt(prompts[index])
            if start < 0:
                return self.server.replies(prompt, Decoding(limit))
            draws = generator(settings["seed"], self.name, *identities[index], "served", start)
            decoding = Decoding(limit, *sampling, int(draws.integers(2**31)))
            return self.server.replies(prompt, decoding, min(per_request, samples - start))

        # The requests of an inner list are sent one after another.
        requests = [[(index, start) for start in starts] for index in self._order(prompts)]
        if not self.server.is_sequential:
            requests = [[request] for group in requests for request in group]
        responses = self.server.client.each(
            lambda group: [send(request) for request in group],
            requests,
            prompts_each=len(prompts) / max(len(requests), 1),
        )
        replies = dict(zip(chain(*requests), chain(*responses), strict=True))
        self._repeat(prompts, limit, [replies[index, -1][0].text for index in range(len(prompts))])

        def answers(index: int) -> SampledAnswers:
            greedy, *sampled = (
                self._answer(
                    reply,
                    single_line=settings["form"] == "plain",
                    header=settings["header"],
                    limit=settings["max_new_tokens"] if settings["max_thoughts"] else None,
                )
                for start in starts
                for reply in replies[index, start]
            )
            return SampledAnswers(tuple(sampled), greedy)

        return [answers(index) for index in range(len(prompts))]

    def choose(self, prompts: Sequence[Tokens], choices: Sequence[tuple[str, ...]], *, max_tokens: int) -> list[Answer]:
        """Return the greedy reply to each prompt; if the server supports it, the reply is one of the choices.

        Args:
            prompts: (n,) prompts.
            choices: (n,) the allowed replies of each prompt.
            max_tokens: Upper bound on the tokens of a reply.
        """

        def answer(index: int) -> Answer:
            decoding = Decoding(max_tokens + (MAX_THOUGHTS if self.probe.thinks else 0), choices=choices[index])
            (reply,) = self.server.replies(self._prompt(prompts[index]), decoding)
            return self._answer(reply, single_line=False, header="", limit=None)

        return self.server.client.each(answer, range(len(prompts)))

    def _repeat(self, prompts: Sequence[Tokens], limit: int, texts: Sequence[str]) -> None:
        """Request the greedy replies to up to REPEATED_PROMPTS prompts again, and count the replies that differ.

        The second request has another seed, so that both responses are cached. No greedy reply depends on the seed.
        """
        server = self.server
        # The check needs two parameters: `seed` tells both requests apart, and `temperature` makes replies greedy.
        if self._repeated or server.client.offline or {*server.settings.refused} & {"seed", "temperature"}:
            return
        # The choice depends only on the prompts' tokens, so that another order of the prompts causes no new requests.
        order = sorted(range(len(prompts)), key=lambda index: content_key({"prompt": [*map(int, prompts[index])]}))
        indices = order[:REPEATED_PROMPTS]
        decoding = Decoding(limit, seed=1)
        second_texts = server.client.each(
            lambda index: server.replies(self._prompt(prompts[index]), decoding)[0].text, indices
        )
        self._repeated = len(indices)
        self._changed = sum(texts[index] != text for index, text in zip(indices, second_texts, strict=True))

    def engine_of_answers(self, prompts: Sequence[Tokens], *, new_tokens: int) -> str:
        """Return the engine's name: the kind of server."""
        return self.probe.api

    def mean_distribution(self, prompt: Tokens, answer: Tokens) -> NDArray[np.float32]:
        """Return the mean next-token distribution over the steps of a known answer, (V,); each step is a request."""
        steps = [tuple(prompt) + tuple(answer[:step]) for step in range(len(answer))]
        distributions = [np.exp(self.server.next_token(Prompt(tokens=step)).astype(np.float64)) for step in steps]
        mean: NDArray[np.float32] = np.mean(distributions, axis=0).astype(np.float32)
        return mean

    def _prompt(self, prompt: Tokens) -> Prompt:
        return (
            prompt_of(prompt)
            if isinstance(self.tokenizer, CodePointTokenizer)
            else Prompt(tokens=tuple(map(int, prompt)))
        )

    def _order(self, prompts: Sequence[Tokens]) -> list[int]:
        """Return the indices of prompts sorted by their tokens, so that the server can cache common prefixes."""
        return sorted(range(len(prompts)), key=lambda index: tuple(prompts[index]))

    def _answer(self, reply: Reply, *, single_line: bool, header: str, limit: int | None) -> Answer:
        """Return the answer of a server's reply, without `header` at its beginning.

        `limit` is the limit of the answer's tokens if the request's limit includes thoughts; otherwise None.
        """
        if reply.finish == "content_filter":
            return _without_answer("withheld", reply, reply.thoughts)
        text = without_thoughts(reply.text)
        if text is None or reply.ends_within_thoughts:
            return _without_answer("unfinished_thoughts", reply, reply.thoughts or reply.text)
        thoughts = reply.thoughts
        if not thoughts and text != reply.text:
            thoughts = reply.text[: -len(text) or None]  # the reply up to its answer; all of it if the answer is empty
        text = text.lstrip().removeprefix(header) if header else text
        text = text.lstrip() if thoughts else text  # space between thoughts and answer belongs to neither
        is_cut = reply.finish == "length"
        tokens = _Tokens(reply, self.tokenizer)
        if thoughts and not reply.thoughts:  # the thoughts are part of the text
            tokens.begin_with(text)
        if single_line and "\n" in text:
            text, is_cut = text.partition("\n")[0], False
            tokens.end_with_line()
        if limit is not None and tokens.count > limit:
            text, is_cut = tokens.cut(limit), True
        state: ReplyState = "truncated" if is_cut else "complete" if text.strip() else "empty"
        state = "tool_call" if reply.finish == "tool_call" and state == "empty" else state
        return Answer(text.strip(), tokens.ids, tokens.log_probs, _NO_DISTRIBUTION, state, thoughts.strip())

    # ---- distributions

    def is_broken(self, prompt: Tokens) -> bool:
        """Return False, because an invalid distribution of a server is refused when it is read."""
        return False

    def in_reach(self, prompts: Sequence[Tokens]) -> bool:
        """Return True, because a server does not say how far its model's attention reaches."""
        return True

    def engine_of_next_token(self, prompts: Prompts) -> str:
        """Return the engine's name: the kind of server."""
        return self.probe.api

    def next_token_by_query(
        self, prompts: Prompts, *, memory: int | None = None
    ) -> "Iterator[tuple[int, Distributions]]":
        """Yield for each query its index and the distributions after every context, (n_contexts, V)."""
        from swaymeter.tasks.models.next_token.distributions import Distributions

        for index in range(len(prompts[0])):
            yield index, Distributions.of(self.next_token_logits([row[index] for row in prompts]))

    def next_token_logits(self, prompts: Sequence[Tokens], *, batch_size: int | None = None) -> "torch.Tensor":
        """Return the log-probabilities after prompts, (n, V) nats: logits whose log-normaliser is 0."""
        import torch

        order = self._order(prompts)
        rows = self.server.client.each(lambda index: self.server.next_token(self._prompt(prompts[index])), order)
        if len(sizes := {len(row) for row in rows}) > 1:
            raise ModelError(
                f"model {self.name}: its server sends distributions of different lengths, "
                f"{' and '.join(map(str, sorted(sizes)))} tokens; use another server"
            )
        log_probs = np.empty((len(prompts), len(rows[0])), np.float32)
        log_probs[order] = rows
        return torch.from_numpy(log_probs)

    def likeliest(self, prompts: Sequence[Tokens], count: int) -> list[Mapping[str, float]]:
        """Return the log-probabilities (nats) of the likeliest tokens by id or, for a chat API, by text."""
        return self.server.client.each(lambda prompt: self.server.likeliest(self._prompt(prompt), count), prompts)

    def greedy_lines(
        self, prompts: Prompts, queries: Sequence[str], contexts: Sequence[str], *, max_tokens: int
    ) -> tuple[list[list[str]], str]:
        """Return greedy replies of one line, [query][context], of at most `max_tokens` tokens, and the engine."""
        flat = [prompts[context][query] for query in range(len(queries)) for context in range(len(contexts))]
        replies = self.server.client.each(
            lambda prompt: self.server.replies(self._prompt(prompt), Decoding(max_tokens))[0], flat
        )
        lines = [reply.text.lstrip().partition("\n")[0].rstrip() for reply in replies]
        count = len(contexts)
        return [lines[start : start + count] for start in range(0, len(lines), count)], self.probe.api

    def complete_answers(
        self,
        contexts: Sequence[str],
        queries: Sequence[str],
        answers: Sequence[str],
        *,
        terminators: Sequence[str],
        prompts: Prompts,
        start_token: bool = True,
    ) -> "tuple[torch.Tensor, torch.Tensor, str]":
        """Return the log-probabilities of complete answers, from a distribution for each of their tokens."""
        from swaymeter.tasks.models.next_token.complete_answers import complete_answers

        model: Any = self  # the function is typed for a network
        return complete_answers(
            model,
            contexts,
            queries,
            answers,
            terminators=terminators,
            prompts=prompts,
            start_token=start_token,
            server_engine=(self.probe.api, self.next_token_logits),
        )


def _without_answer(state: ReplyState, reply: Reply, thoughts: str) -> Answer:
    text, thought_ids = ("", reply.token_ids) if state == "unfinished_thoughts" else (reply.text.strip(), ())
    return Answer(text, (), (), _NO_DISTRIBUTION, state, thoughts.strip(), thought_ids)


class _Tokens:
    """The tokens of an answer; ids and log-probabilities (nats) are empty if the server does not send them."""

    def __init__(self, reply: Reply, tokenizer: Any) -> None:
        self.ids, self.log_probs, self._tokenizer = reply.token_ids, reply.token_log_probs, tokenizer
        texts = () if self.ids else reply.token_texts
        self._texts = texts if len(texts) == len(self.log_probs) else ()
        if self.ids and len(self.log_probs) != len(self.ids):
            self.log_probs = ()

    @property
    def count(self) -> int:
        """The number of tokens; 0 if it is unknown."""
        return len(self.ids or self._texts)

    def begin_with(self, text: str) -> None:
        """Drop the tokens before the answer `text`; drop all tokens if the answer begins at none of them."""
        for index in range(self.count):
            tail = slice(index, None)
            if self._text(tail).strip() == text.strip():
                self._keep(tail)
                return
        self._keep(None)

    def end_with_line(self) -> None:
        """Drop the tokens after the first line break; the token of the line break stays."""
        line_breaks = (index for index in range(self.count) if "\n" in self._text(slice(index, index + 1)))
        last = next(line_breaks, self.count - 1)
        self._keep(slice(last + 1) if self.count else None)

    def cut(self, count: int) -> str:
        self._keep(slice(count))
        return self._text(slice(None))

    def _text(self, part: slice) -> str:
        if self.ids:
            return str(self._tokenizer.decode(list(self.ids[part]), skip_special_tokens=True))
        return "".join(self._texts[part])

    def _keep(self, part: slice | None) -> None:
        if part is None:
            self.ids, self.log_probs, self._texts = (), (), ()
        else:
            self.ids, self.log_probs, self._texts = self.ids[part], self.log_probs[part], self._texts[part]


def load_served(
    endpoint: Endpoint,
    cache: Path,
    *,
    revision: str = SERVED,
    rerun: int = 0,
    offline: bool = False,
) -> ServedModel:
    """Load the model at an endpoint; the server is probed only once in a process.

    Args:
        endpoint: The endpoint.
        cache: The folder of the server's cached responses.
        revision: The study's name of the server's weights, which is stored beside scores.
        rerun: The number of the last forced rerun; replies that were cached under a lower number are requested again.
        offline: True to use only cached responses and the last probe; the server's key is not needed.

    Raises:
        UsageError: The environment variable of the key is not set.
        ModelError: The server lacks the model, or has another tokenizer.
        ServiceError: The server cannot be reached, or refuses to answer.
    """
    return _load_served(endpoint, cache.absolute(), revision, rerun, offline)


@once_per_arguments
def _load_served(endpoint: Endpoint, cache: Path, revision: str, rerun: int, offline: bool) -> ServedModel:
    client = Client(endpoint, cache, rerun, offline)
    tokenizer: Any = None
    if endpoint.tokenizer:
        tokenizer = load_transformers_tokenizer(identify_model(endpoint.tokenizer, "language_model"))
    if offline:
        server, result = load_probe(client)
        return ServedModel(endpoint, revision, server, result, tokenizer or _code_point_tokenizer(result))

    def prompt_of_text(text: str) -> Prompt:
        return Prompt(tokens=tuple(tokenizer(text, add_special_tokens=False)["input_ids"]))

    _warn_if_unencrypted(endpoint)
    server, result = probe(client, prompt_of_text if endpoint.tokenizer else None)
    try:
        changes = note_changes(result, load_probe(client)[1])
    except ServiceError:  # the server was never probed
        changes = ""
    if changes:
        log.warning(
            "model %s: its server has changed since the last run (%s); if the model's weights are new, set its "
            "`revision`, so that no stored reply of the old weights is used",
            endpoint.name,
            changes,
        )
    save_probe(client, result)
    return ServedModel(endpoint, revision, server, result, tokenizer or _code_point_tokenizer(result))


def _code_point_tokenizer(result: ProbeResult) -> CodePointTokenizer:
    switch = (result.switch, SWITCHES[result.switch][0]) if result.switch else None
    return CodePointTokenizer(takes_any_keyword=result.settings.template_options, switch=switch, thinks=result.thinks)


def _warn_if_unencrypted(endpoint: Endpoint) -> None:
    if endpoint.is_unencrypted and endpoint.address not in _warned:
        _warned.add(endpoint.address)
        contents = "prompts, answers and the key" if endpoint.key_from else "prompts and answers"
        log.warning(
            "model %s: %s go to %s without encryption; use https if others can listen",
            endpoint.name,
            contents,
            endpoint.address,
        )


_warned = set[str]()  # addresses with a warning in this process

if TYPE_CHECKING:
    # Never called: mypy checks by this function that the class has the protocols.
    def _capabilities_of(model: ServedModel) -> tuple[NextTokenLogits, Samples, AnswerScores]:
        return model, model, model
