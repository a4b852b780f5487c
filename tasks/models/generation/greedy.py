"""Greedy answers of one line: the most probable token at every step, until an end-of-sequence token or the line's end.

Blank lines do not count: an answer is the first line that is not blank.
What it is not: transformers' generate. Of a model's generation settings only its end tokens are used.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile

import torch

from swaymeter.tasks.models.capabilities import Prompts, Tokens
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.broken import check_scores
from swaymeter.tasks.models.next_token.by_query import PLAIN, engine
from swaymeter.tasks.models.next_token.plain import read_plain
from swaymeter.tasks.models.next_token.prompts import no_distribution
from swaymeter.tasks.models.next_token.shared import Pass, SharedPrefixes
from swaymeter.tasks.models.prompts.template_options import end_tokens, vocabulary_texts

# Checking whether all answers have ended synchronises a GPU.
_STEPS_BETWEEN_LOOKS = {"cpu": 1, "cuda": 4}
_NOTHING = -1


def greedy_lines(
    model: Network, prompts: Prompts, queries: Sequence[str], contexts: Sequence[str], *, most: int
) -> tuple[list[list[str]], str]:
    """The greedy answers of at most `most` tokens, [query][context], and the engine that read them.

    prompts: [context][query] tokens. Raises ScoreError where the model gives a NaN within an answer.
    """
    engine_name = engine(model, prompts, to_come=most)
    lines = _GreedyLines(model, len(queries), len(contexts), most)
    if engine_name == PLAIN:
        for place in range(len(queries)):
            lines.take_plain(place, [of_context[place] for of_context in prompts])
    else:
        for _ in SharedPrefixes(model, prompts, entries=most, keep=True).read(lines.take):
            pass
    checks = [(lines.broken.cpu().numpy(), f"{no_distribution(model)} in an answer")]
    check_scores(lines.breaks_alone, checks, prompts, queries, contexts)
    return lines.texts(), engine_name


class _GreedyLines:
    """The greedy answers to queries after contexts, of at most `most` tokens each, by `take` or by `take_plain`."""

    def __init__(self, model: Network, queries: int, contexts: int, most: int) -> None:
        self._model, self._most, self._marks = model, most, _Marks(model)
        self._tokens = torch.full((queries, contexts, most), _NOTHING, device=model.device)
        self.broken = torch.zeros((queries, contexts), dtype=torch.bool, device=model.device)

    @torch.inference_mode()
    def take(self, forward_pass: Pass) -> None:
        """Decodes the answers to the prompts of a pass of the engine, with its KV cache."""
        logits = forward_pass.reading.logits([paths[0][-1] for paths in forward_pass.paths])
        tokens, broken = self._decoded(logits, forward_pass.reading.following)
        contexts = torch.tensor(forward_pass.contexts, device=tokens.device)
        for row, query in enumerate(forward_pass.units):
            self._tokens[query, contexts, : tokens.shape[2]] = tokens[:, row]
            self.broken[query, contexts] = broken[:, row]

    def take_plain(self, query: int, prompts: Sequence[Tokens]) -> None:
        """Decodes the answers to a query's prompts, one for each context, which are read completely at every step."""
        tokens, self.broken[query] = self._decoded_plainly(prompts)
        self._tokens[query, :, : tokens.shape[1]] = tokens

    def texts(self) -> list[list[str]]:
        """The answers: [query][context]."""
        text = cache(self._marks.text)
        return [[text(tuple(tokens)) for tokens in of_query] for of_query in self._tokens.tolist()]

    def breaks_alone(self, prompt: Tokens) -> bool:
        """Whether the answer to a prompt read alone has a NaN."""
        return bool(self._decoded_plainly([prompt])[1].any())

    @torch.inference_mode()
    def _decoded_plainly(self, prompts: Sequence[Tokens]) -> tuple[torch.Tensor, torch.Tensor]:
        whole = [[*prompt] for prompt in prompts]

        def following(tokens: torch.Tensor) -> torch.Tensor:
            for prompt, token in zip(whole, tokens.tolist(), strict=True):
                prompt.append(token)
            return read_plain(self._model, whole, to_come=self._most)

        return self._decoded(read_plain(self._model, whole, to_come=self._most), following)

    def _decoded(
        self, logits: torch.Tensor, following: Callable[[torch.Tensor], torch.Tensor]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Greedy tokens from the first logits (..., V) on: (..., steps), and whether logits were not finite: (...)."""
        chosen: list[torch.Tensor] = []
        ended, begun, broken = torch.zeros((3, *logits.shape[:-1]), dtype=torch.bool, device=logits.device)
        look = _STEPS_BETWEEN_LOOKS[logits.device.type]
        while True:
            best, tokens = logits.max(dim=-1)
            chosen.append(tokens)
            broken |= ~(ended | (torch.isfinite(best) & torch.isfinite(logits.amin(dim=-1))))
            ended |= self._marks.end(tokens, begun)
            begun |= self._marks.visible[tokens]
            if len(chosen) == self._most or (len(chosen) % look == 0 and bool(ended.all())):
                return torch.stack(chosen, dim=-1), broken
            logits = following(tokens)


class _Marks:
    """The ends of answers, decided token by token; the text of an answer is decoded from all its tokens.

    A token with a part of a character does not count as visible, since it may be part of a blank: an answer that has
    ended may be continued, but an answer is never cut.
    """

    def __init__(self, model: Network) -> None:
        self._tokenizer, self._ends = model.tokenizer, end_tokens(model)
        texts = [text.replace("\ufffd", "") for text in vocabulary_texts(model)]
        texts += [""] * (int(model.model.config.get_text_config().vocab_size) - len(texts))
        # Of a single token: visible at all; a line's end in it; a line's end behind something visible.
        self.visible = torch.tensor([bool(text.strip()) for text in texts], device=model.device)
        self._breaks = torch.tensor(["\n" in text for text in texts], device=model.device)
        self._ends_alone = torch.tensor(
            [token in self._ends or "\n" in text.lstrip() for token, text in enumerate(texts)], device=model.device
        )

    def end(self, tokens: torch.Tensor, begun: torch.Tensor) -> torch.Tensor:
        """Whether tokens end their answers; begun: whether these have a visible character already."""
        return self._ends_alone[tokens] | (begun & self._breaks[tokens])

    def text(self, answer: Sequence[int]) -> str:
        """The text of an answer's tokens, up to its end."""
        tokens = list(takewhile(lambda token: token not in self._ends and token != _NOTHING, answer))
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True)).lstrip().partition("\n")[0].rstrip()
