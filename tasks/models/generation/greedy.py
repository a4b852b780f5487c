"""Greedy answers of one line, the first that is not blank: the most probable token at every step, up to the line's end.

Not transformers' generate: of a model's generation settings only its end tokens are used.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import takewhile

import numpy as np
import torch

from swaymeter.tasks.models.capabilities import Prompts, Tokens
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.broken import check_scores
from swaymeter.tasks.models.next_token.by_query import PLAIN, engine
from swaymeter.tasks.models.next_token.plain import read_plain
from swaymeter.tasks.models.next_token.shared import Pass, SharedPrefixes
from swaymeter.tasks.models.prompts.template_options import end_tokens, vocabulary_texts
from swaymeter.tasks.models.prompts.tokens import no_distribution

_STEPS_BETWEEN_LOOKS = {"cpu": 1, "cuda": 4}  # looking whether all answers have ended synchronises a GPU


def greedy_lines(
    model: Network, prompts: Prompts, queries: Sequence[str], contexts: Sequence[str], *, most: int
) -> tuple[list[list[str]], str]:
    """The greedy answers of at most `most` tokens, [query][context], and the engine that read them.

    prompts: [context][query] tokens. Raises ScoreError where the model gives a NaN within an answer.
    """
    engine_name = engine(model, prompts, to_come=most)
    marks = _Marks(model)
    text = cache(marks.text)
    texts = [[""] * len(contexts) for _ in queries]
    broken = np.zeros((len(queries), len(contexts)), dtype=bool)

    def plainly(prompts: Sequence[Tokens]) -> tuple[torch.Tensor, torch.Tensor]:
        whole = [[*prompt] for prompt in prompts]

        def following(tokens: torch.Tensor) -> torch.Tensor:
            for prompt, token in zip(whole, tokens.tolist(), strict=True):
                prompt.append(token)
            return read_plain(model, whole, to_come=most)

        return marks.decoded(read_plain(model, whole, to_come=most), following, most)

    def keep(query: int, places: Sequence[int], tokens: torch.Tensor, is_broken: torch.Tensor) -> None:
        broken[query, places] = is_broken.cpu().numpy()
        for place, answer in zip(places, tokens.tolist(), strict=True):
            texts[query][place] = text(tuple(answer))

    def take(forward_pass: Pass) -> None:
        logits = forward_pass.reading.logits([paths[0][-1] for paths in forward_pass.paths])
        tokens, is_broken = marks.decoded(logits, forward_pass.reading.following, most)
        for row, query in enumerate(forward_pass.units):
            keep(query, forward_pass.contexts, tokens[:, row], is_broken[:, row])

    if engine_name == PLAIN:
        for query in range(len(queries)):
            keep(query, range(len(contexts)), *plainly([of_context[query] for of_context in prompts]))
    else:
        for _ in SharedPrefixes(model, prompts, entries=most, keep=True).read(take):
            pass
    checks = [(broken, f"{no_distribution(model)} in an answer")]
    check_scores(lambda prompt: bool(plainly([prompt])[1].any()), checks, prompts, queries, contexts)
    return texts, engine_name


class _Marks:
    """The ends of answers, decided token by token: one that has ended may be continued, but is never cut."""

    def __init__(self, model: Network) -> None:
        self._tokenizer, self._ends = model.tokenizer, end_tokens(model)
        # A token with a part of a character does not count as visible, since it may be part of a blank.
        texts = [text.replace("\ufffd", "") for text in vocabulary_texts(model)]
        texts += [""] * (model.vocabulary_size - len(texts))
        # Of a single token: visible at all; a line's end in it; a line's end behind something visible.
        self._visible = torch.tensor([bool(text.strip()) for text in texts], device=model.device)
        self._breaks = torch.tensor(["\n" in text for text in texts], device=model.device)
        self._ends_alone = torch.tensor(
            [token in self._ends or "\n" in text.lstrip() for token, text in enumerate(texts)], device=model.device
        )

    @torch.inference_mode()
    def decoded(
        self, logits: torch.Tensor, following: Callable[[torch.Tensor], torch.Tensor], most: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Greedy tokens from the first logits (..., V) on: (..., steps), and whether logits were not finite: (...)."""
        chosen: list[torch.Tensor] = []
        ended, begun, broken = torch.zeros((3, *logits.shape[:-1]), dtype=torch.bool, device=logits.device)
        while True:
            best, tokens = logits.max(dim=-1)
            chosen.append(tokens)
            broken |= ~(ended | (torch.isfinite(best) & torch.isfinite(logits.amin(dim=-1))))
            ended |= self._ends_alone[tokens] | (begun & self._breaks[tokens])
            begun |= self._visible[tokens]
            is_time = len(chosen) % _STEPS_BETWEEN_LOOKS[logits.device.type] == 0
            if len(chosen) == most or (is_time and bool(ended.all())):
                return torch.stack(chosen, dim=-1), broken
            logits = following(tokens)

    def text(self, answer: Sequence[int]) -> str:
        """The text of an answer's tokens, up to its end."""
        tokens = list(takewhile(lambda token: token not in self._ends, answer))
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True)).lstrip().partition("\n")[0].rstrip()
