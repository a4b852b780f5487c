"""A model behind a server, with the capabilities that a probe left it: the protocols of tasks/models/capabilities.py.

Its "device" is this machine's CPU, where what the server sends is computed on; what reads is the server.
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
    SampledAnswers,
    SampleOptions,
    Tokens,
)
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import ASKED_TWICE, SERVED, Decoding, Endpoint, Prompt, Reply
from swaymeter.tasks.models.endpoints.kept import keep, kept
from swaymeter.tasks.models.endpoints.messages import Letters, prompt_of
from swaymeter.tasks.models.endpoints.probe import Found, note_moves, probe
from swaymeter.tasks.models.files.identity import identify_model
from swaymeter.tasks.models.loading import found_once
from swaymeter.tasks.models.network import Engine
from swaymeter.tasks.models.prompts.template_options import SWITCHES
from swaymeter.tasks.models.prompts.thoughts import without_thoughts
from swaymeter.tasks.models.tokenizer import load_transformers_tokenizer

if TYPE_CHECKING:
    import torch

    from swaymeter.tasks.models.capabilities import AnswerScores, NextTokenLogits, Samples
    from swaymeter.tasks.models.endpoints.apis import Served
    from swaymeter.tasks.models.next_token.distributions import Distributions

log = logging.getLogger(__name__)

_NOTHING = np.zeros(0, np.float32)
MOST_THOUGHTS = 2048
"""Tokens of thoughts that a judge may write, if its server cannot turn them off."""


class ServedModel:
    """A model behind a server.

    name, revision: as the study has them; tokenizer: of transformers, or of letters where the server writes prompts.
    forward_passes: requests that were sent.
    """

    dtype, device = SERVED, "cpu"
    parameters: int | None = None

    def __init__(self, endpoint: Endpoint, revision: str, served: "Served", found: Found, tokenizer: Any) -> None:
        self.endpoint, self.served, self.found, self.tokenizer = endpoint, served, found, tokenizer
        self.name, self.revision = endpoint.name, revision
        self.engine = Engine()
        self._asked_twice = self._differ = 0

    @property
    def forward_passes(self) -> int:
        """Requests so far."""
        return self.served.client.requests

    @property
    def has_chat_template(self) -> bool:
        """Whether the tokenizer knows how a conversation with this model is written."""
        return bool(self.tokenizer.chat_template)

    @property
    def context_window(self) -> int | None:
        """As the server says; None where it does not, or counts otherwise than the tokenizer here."""
        return None if isinstance(self.tokenizer, Letters) else self.found.context_window

    @cached_property
    def vocabulary_size(self) -> int:
        """V: the entries of a next-token distribution."""
        return int(self.found.words.get("vocabulary", len(self.tokenizer)))

    @property
    def placement(self) -> str:
        """Where it lies, as the database keeps it."""
        return SERVED

    @property
    def hardware(self) -> str:
        """What the server says of itself, and what it is sent."""
        sent = "messages" if isinstance(self.tokenizer, Letters) else f"tokens of {self.endpoint.tokenizer}"
        words = (f"{name} {value}" for name, value in self.found.words.items())
        return ", ".join([self.found.api, f"prompts are sent as {sent}", *words])

    @property
    def reading(self) -> str | None:
        """What the probe found wrong, and how many greedy answers changed, semicolons between; None for nothing."""
        said = [f"{check}: {reason.replace(';', ',')}" for check, reason in self.found.failed.items()]
        if self._asked_twice:
            said.append(f"{self._differ} of {self._asked_twice} greedy answers differ when they are asked for twice")
        return "; ".join(said) or None

    def lacks(self, capability: Capability | None) -> str | None:
        """Why it cannot give this; None where it can."""
        if capability == "gradients":
            return "no server gives gradients"
        return None if capability is None else self.found.taken.get(capability)

    # ---- samples

    def sample_answers(
        self, prompts: Sequence[Tokens], identities: Sequence[tuple[str, ...]], **options: Unpack[SampleOptions]
    ) -> list[SampledAnswers]:
        """The answers to every prompt; draws are the server's own, by a seed from the identity of what is drawn.

        UsageError for a decoding: a server draws its answers itself, from the model's own distribution.
        """
        asked_for: SampleOptions = {**DEFAULT_OPTIONS, **options}
        if asked_for["decoding"] is not None:
            raise UsageError(
                f"the answers of {self.name} cannot be decoded otherwise, as its server draws them itself; "
                "ask for the decoding greedy, or read this model from its weights"
            )
        samples = asked_for["samples"]
        if len(prompts) != len(identities):
            raise UsageError(f"{len(prompts)} prompts have {len(identities)} identities; give one for each prompt")
        self.served.check(Decoding(1, asked_for["temperature"], asked_for["top_p"], asked_for["top_k"]))
        most = asked_for["max_new_tokens"] + (asked_for["max_thoughts"] or 0)
        most_of_answer = asked_for["max_new_tokens"] if asked_for["max_thoughts"] else None
        at_newline = asked_for["form"] == "plain"
        several = max(samples, 1) if self.served.several else 1

        def request(of: tuple[int, int]) -> list[Reply]:
            """The answers of one request: `several` samples from a number on, or the greedy answer at -1."""
            place, first = of
            prompt = self._sent(prompts[place])
            if first < 0:
                return self.served.answers(prompt, Decoding(most))
            drawn = generator(asked_for["seed"], self.name, *identities[place], "served", first)
            parameters = asked_for["temperature"], asked_for["top_p"], asked_for["top_k"]
            decoding = Decoding(most, *parameters, int(drawn.integers(2**31)))
            return self.served.answers(prompt, decoding, min(several, samples - first))

        asked = [[(place, first) for first in (-1, *range(0, samples, several))] for place in self._together(prompts)]
        if not self.served.in_turn:
            asked = [[one] for of_prompt in asked for one in of_prompt]
        answered = self.served.client.each(lambda requests: [request(one) for one in requests], asked)
        replies = dict(zip(chain(*asked), chain(*answered), strict=True))
        self._ask_twice(prompts, most, [replies[place, -1][0].text for place in range(len(prompts))])

        def answers(place: int) -> SampledAnswers:
            of_prompt = [
                self._answer(reply, at_newline, asked_for["header"], most_of_answer)
                for first in (-1, *range(0, samples, several))
                for reply in replies[place, first]
            ]
            return SampledAnswers(tuple(of_prompt[1:]), of_prompt[0])

        return [answers(place) for place in range(len(prompts))]

    def choose(self, prompts: Sequence[Tokens], choices: Sequence[tuple[str, ...]], *, most: int) -> list[Answer]:
        """Return the greedy reply to each prompt, constrained to its choices if the server can.

        Args:
            prompts: (n,) prompts.
            choices: (n,) the allowed replies of each prompt.
            most: Upper bound on the tokens of a reply.
        """

        def ask(place: int) -> Answer:
            decoding = Decoding(most + (MOST_THOUGHTS if self.found.thinks else 0), choices=choices[place])
            return self._answer(self.served.answers(self._sent(prompts[place]), decoding)[0], False, "", None)

        return self.served.client.each(ask, range(len(prompts)))

    def _ask_twice(self, prompts: Sequence[Tokens], most: int, texts: Sequence[str]) -> None:
        """Asks for some greedy answers again, of the first prompts of a run, and counts those that differ.

        The second request has another seed, which no greedy answer depends on: so it is stored beside the first one.
        """
        served = self.served
        if self._asked_twice or served.client.offline or served.refused & {"seed", "temperature"}:
            return
        # By what is sent, so that other kinds or ids of the same passages ask nothing.
        order = sorted(range(len(prompts)), key=lambda place: content_key({"prompt": [*map(int, prompts[place])]}))
        places = order[:ASKED_TWICE]
        decoding = Decoding(most, seed=1)
        again = served.client.each(lambda place: served.answers(self._sent(prompts[place]), decoding)[0].text, places)
        self._asked_twice = len(places)
        self._differ = sum(texts[place] != text for place, text in zip(places, again, strict=True))

    def engine_of_answers(self, prompts: Sequence[Tokens], *, to_come: int) -> str:
        """What reads: the kind of server."""
        return self.found.api

    def mean_distribution(self, prompt: Tokens, answer: Tokens) -> NDArray[np.float32]:
        """The mean of the unscaled softmax over a known answer's steps: (V,); a request for each."""
        steps = [tuple(prompt) + tuple(answer[:step]) for step in range(len(answer))]
        whole: NDArray[np.float32] = np.mean(
            [np.exp(self.served.next_token(Prompt(tokens=step)).astype(np.float64)) for step in steps], axis=0
        ).astype(np.float32)
        return whole

    def _sent(self, prompt: Tokens) -> Prompt:
        return prompt_of(prompt) if isinstance(self.tokenizer, Letters) else Prompt(tokens=tuple(map(int, prompt)))

    def _together(self, prompts: Sequence[Tokens]) -> list[int]:
        """The places of prompts, those that begin alike one after the other, for the cache of a server."""
        return sorted(range(len(prompts)), key=lambda place: tuple(prompts[place]))

    def _answer(self, reply: Reply, at_newline: bool, header: str, most: int | None) -> Answer:
        """What a reply says; most: tokens of the answer, of one that may have thoughts before it."""
        if reply.finish == "content_filter":
            return Answer(reply.text.strip(), (), (), _NOTHING, False, reply.thoughts.strip(), withheld=True)
        text = without_thoughts(reply.text)
        thoughts = reply.thoughts or ("" if text is None or text == reply.text else reply.text[: -len(text) or None])
        if text is None or (reply.thoughts and reply.finish == "length" and not text.strip()):
            of_thoughts = reply.thoughts or reply.text
            return Answer("", (), (), _NOTHING, False, of_thoughts, reply.token_ids, unfinished_thoughts=True)
        text = text.lstrip().removeprefix(header) if header else text
        text = text.lstrip() if thoughts else text  # what is between thoughts and answer is none of it
        finished = reply.finish != "length"
        tokens = _Tokens(reply, self.tokenizer)
        if thoughts and not reply.thoughts:  # they stand in the text, before the answer
            tokens.begin_with(text)
        if at_newline and "\n" in text:
            text, finished = text.partition("\n")[0], True
            tokens.end_with_line()
        if most is not None and tokens.count > most:
            text, finished = tokens.cut(most), False
        return Answer(text.strip(), tokens.ids, tokens.log_probs, _NOTHING, finished, thoughts.strip())

    # ---- distributions

    def is_broken(self, prompt: Tokens) -> bool:
        """False: what is not a distribution is refused where it is read."""
        return False

    def in_reach(self, prompts: Sequence[Tokens]) -> bool:
        """True: nothing is known of the server's attention, and contexts that move nothing are an error."""
        return True

    def engine_of_next_token(self, prompts: Prompts) -> str:
        """What reads: the kind of server."""
        return self.found.api

    def next_token_by_query(
        self, prompts: Prompts, *, memory: int | None = None
    ) -> "Iterator[tuple[int, Distributions]]":
        """For each query its place and the distributions after every context, (n_contexts, V)."""
        from swaymeter.tasks.models.next_token.distributions import Distributions

        for place in range(len(prompts[0])):
            yield place, Distributions.of(self.next_token_logits([of_context[place] for of_context in prompts]))

    def next_token_logits(self, prompts: Sequence[Tokens], *, batch_size: int | None = None) -> "torch.Tensor":
        """The log-probabilities after prompts, (n, V) nats: logits whose normaliser is 0."""
        import torch

        order = self._together(prompts)
        read = self.served.client.each(lambda place: self.served.next_token(self._sent(prompts[place])), order)
        if len(sizes := {len(each) for each in read}) > 1:
            raise ModelError(f"model {self.name}: its server sends distributions over {sorted(sizes)} tokens")
        whole = np.empty((len(prompts), len(read[0])), np.float32)
        for place, each in zip(order, read, strict=True):
            whole[place] = each
        return torch.from_numpy(whole)

    def likeliest(self, prompts: Sequence[Tokens], count: int) -> list[Mapping[str, float]]:
        """After each prompt, the log-probabilities (nats) of the likeliest tokens, by id or, of a chat API, by text."""
        return self.served.client.each(lambda prompt: self.served.likeliest(self._sent(prompt), count), prompts)

    def greedy_lines(
        self, prompts: Prompts, queries: Sequence[str], contexts: Sequence[str], *, most: int
    ) -> tuple[list[list[str]], str]:
        """The greedy answers of one line, [query][context], of at most so many tokens; and what read them."""
        places = [(query, context) for query in range(len(queries)) for context in range(len(contexts))]
        sent = {(query, context): self._sent(prompts[context][query]) for query, context in places}
        replies = self.served.client.each(lambda place: self.served.answers(sent[place], Decoding(most))[0], places)
        texts = [[""] * len(contexts) for _ in queries]
        for (query, context), reply in zip(places, replies, strict=True):
            texts[query][context] = reply.text.lstrip().partition("\n")[0].rstrip()
        return texts, self.found.api

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
        """As `complete_answers` of a model on this machine, from whole distributions along the answers."""
        from swaymeter.tasks.models.next_token.complete_answers import complete_answers

        own: Any = self
        return complete_answers(
            own, contexts, queries, answers, terminators=terminators, prompts=prompts, start_token=start_token,
            by=(self.found.api, self.next_token_logits),
        )  # fmt: skip


class _Tokens:
    """The tokens of an answer, as far as a server says them; a part whose log-probabilities are not known has none.

    count: how many there are, 0 where nobody knows.
    """

    def __init__(self, reply: Reply, tokenizer: Any) -> None:
        self.ids, self.log_probs, self._tokenizer = reply.token_ids, reply.token_log_probs, tokenizer
        texts = () if self.ids else reply.token_texts
        self._texts = texts if len(texts) == len(self.log_probs) else ()
        if self.ids and len(self.log_probs) != len(self.ids):
            self.log_probs = ()

    @property
    def count(self) -> int:
        return len(self.ids or self._texts)

    def begin_with(self, text: str) -> None:
        """Leaves out what is before an answer."""
        tails = (self._text(slice(place, None)).strip() for place in range(self.count))
        self._keep(next((slice(place, None) for place, tail in enumerate(tails) if tail == text.strip()), None))

    def end_with_line(self) -> None:
        """Leaves out what is behind the first end of a line, which stays."""
        ends = (place for place in range(self.count) if "\n" in self._text(slice(place, place + 1)))
        self._keep(slice(next(ends, self.count - 1) + 1) if self.count else None)

    def cut(self, most: int) -> str:
        """Keeps so many tokens; gives their text."""
        self._keep(slice(most))
        return self._text(slice(None))

    def _text(self, part: slice) -> str:
        if self.ids:
            return str(self._tokenizer.decode(list(self.ids[part]), skip_special_tokens=True))
        return "".join(self._texts[part])

    def _keep(self, part: slice | None) -> None:
        """Keeps a part of the tokens; None for one that nobody knows, whose log-probabilities are not known either."""
        if part is None:
            self.ids, self.log_probs, self._texts = (), (), ()
        else:
            self.ids, self.log_probs, self._texts = self.ids[part], self.log_probs[part], self._texts[part]


def load_served(
    endpoint: Endpoint, cache: Path, *, revision: str = SERVED, reruns: frozenset[str] = frozenset(),
    offline: bool = False,
) -> ServedModel:  # fmt: skip
    """The model at this endpoint, probed once a process.

    Args:
        endpoint: Where it is, and how it is asked.
        cache: The folder where the server's answers are kept, so that none is asked for twice.
        revision: What its scores call the weights.
        reruns: The names of requests to ask anew.
        offline: Whether only what is stored counts: answers, and what the last probe found. No key is needed.

    Raises:
        UsageError: a key that is not in the environment.
        ModelError: a model that the server lacks, or another tokenizer than the server's.
        ServiceError: a server that cannot be reached, or refuses to answer.
    """
    return _served(endpoint, cache.absolute(), revision, reruns, offline)


@found_once
def _served(
    endpoint: Endpoint, cache: Path, revision: str, reruns: frozenset[str], offline: bool
) -> ServedModel:  # fmt: skip
    client = Client(endpoint, cache, reruns, offline)
    tokenizer: Any = None
    if endpoint.tokenizer:
        tokenizer = load_transformers_tokenizer(identify_model(endpoint.tokenizer, "language_model"))
    if offline:
        served, found = kept(client)
        return ServedModel(endpoint, revision, served, found, tokenizer or _letters(served, found))

    def write(text: str) -> Prompt:
        return Prompt(tokens=tuple(tokenizer(text, add_special_tokens=False)["input_ids"]))

    _say_if_readable(endpoint)
    served, found = probe(client, write if endpoint.tokenizer else None)
    try:
        moved = note_moves(found, kept(client)[1])
    except ServiceError:  # it was never asked
        moved = ""
    if moved:
        log.warning(
            "model %s: its server is another than at the last run (%s); say with `revision` which weights it has",
            endpoint.name, moved,
        )  # fmt: skip
    keep(client, served, found)
    return ServedModel(endpoint, revision, served, found, tokenizer or _letters(served, found))


def _letters(served: "Served", found: Found) -> Letters:
    switch = (found.switch, SWITCHES[found.switch][0]) if found.switch else None
    return Letters(takes_any_keyword=served.takes_options, switch=switch, thinks=found.thinks)


def _say_if_readable(endpoint: Endpoint) -> None:
    """Warns of what others can read on its way, once a process for each address."""
    if endpoint.is_readable_on_its_way and endpoint.address not in _said:
        _said.add(endpoint.address)
        what = "prompts, answers and the key" if endpoint.key_from else "prompts and answers"
        log.warning(
            "model %s: %s go to %s without encryption; use https where others can listen",
            endpoint.name, what, endpoint.address,
        )  # fmt: skip


_said = set[str]()

if TYPE_CHECKING:

    def _capabilities_of(model: ServedModel) -> tuple[NextTokenLogits, Samples, AnswerScores]:
        return model, model, model
