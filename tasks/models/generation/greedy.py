"""Greedy replies of one line: the most probable token at every step, up to the end of the first line with text.

Transformers' `generate` is not used. Of a model's generation settings, only the end tokens count.
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
from swaymeter.tasks.models.next_token.shared import ForwardPass, SharedPrefixes
from swaymeter.tasks.models.progress import report_prompts
from swaymeter.tasks.models.prompts.template_options import end_tokens, vocabulary_texts
from swaymeter.tasks.models.prompts.tokens import no_distribution

_STEPS_BETWEEN_CHECKS = {"cpu": 1, "cuda": 4}  # a check for ended replies synchronises a GPU


def greedy_lines(
    model: Network, prompts: Prompts, queries: Sequence[str], contexts: Sequence[str], *, max_tokens: int
) -> tuple[list[list[str]], str]:
    """Return the greedy replies, [query][context], and the name of the engine that read the prompts.

    Args:
        model: the network.
        prompts: [context][query] tokens.
        queries: texts for error messages.
        contexts: texts for error messages.
        max_tokens: limit of a reply.

    Raises:
        ScoreError: a logit within a reply is not finite.
    """
    engine_name = engine(model, prompts, new_tokens=max_tokens)
    decoder = _LineDecoder(model)
    text = cache(decoder.text)
    texts = [[""] * len(contexts) for _ in queries]
    broken = np.zeros((len(queries), len(contexts)), dtype=bool)

    def decode_plainly(prompts: Sequence[Tokens]) -> tuple[torch.Tensor, torch.Tensor]:
        grown_prompts = [[*prompt] for prompt in prompts]

        def next_logits(tokens: torch.Tensor) -> torch.Tensor:
            for prompt, token in zip(grown_prompts, tokens.tolist(), strict=True):
                prompt.append(token)
            return read_plain(model, grown_prompts, new_tokens=max_tokens)

        return decoder.decode(read_plain(model, grown_prompts, new_tokens=max_tokens), next_logits, max_tokens)

    def store(query: int, context_indices: Sequence[int], tokens: torch.Tensor, is_broken: torch.Tensor) -> None:
        broken[query, context_indices] = is_broken.cpu().numpy()
        for context, answer in zip(context_indices, tokens.tolist(), strict=True):
            texts[query][context] = text(tuple(answer))

    def store_pass(forward_pass: ForwardPass) -> None:
        # A unit of a forward pass is a query. It has a single path: the tokens of its prompt after the prefix that all
        # prompts of a context share.
        logits = forward_pass.reading.logits([paths[0][-1] for paths in forward_pass.paths])
        tokens, is_broken = decoder.decode(logits, forward_pass.reading.following, max_tokens)
        for row, query in enumerate(forward_pass.units):
            store(query, forward_pass.contexts, tokens[:, row], is_broken[:, row])

    if engine_name == PLAIN:
        for query in range(len(queries)):
            tokens, is_broken = decode_plainly([prompts_of_context[query] for prompts_of_context in prompts])
            store(query, range(len(contexts)), tokens, is_broken)
            report_prompts(len(contexts))
    else:
        for _ in SharedPrefixes(model, prompts, entries=max_tokens, keep=True).read(store_pass):
            pass
    checks = [(broken, f"{no_distribution(model)} in an answer")]
    check_scores(lambda prompt: bool(decode_plainly([prompt])[1].any()), checks, prompts, queries, contexts)
    return texts, engine_name


class _LineDecoder:
    """Greedy decoding of one-line replies. `decode` may continue after the end of a reply; `text` stops at the end."""

    def __init__(self, model: Network) -> None:
        self._tokenizer, self._end_tokens = model.tokenizer, end_tokens(model)
        # A token with a part of a character counts as blank, because the character may be a blank.
        texts = [text.replace("\ufffd", "") for text in vocabulary_texts(model)]
        texts += [""] * (model.vocabulary_size - len(texts))
        # Masks over the vocabulary. `_ends_reply`: end tokens, and tokens with a line break after visible text.
        self._visible = torch.tensor([bool(text.strip()) for text in texts], device=model.device)
        self._breaks = torch.tensor(["\n" in text for text in texts], device=model.device)
        self._ends_reply = torch.tensor(
            [token in self._end_tokens or "\n" in text.lstrip() for token, text in enumerate(texts)],
            device=model.device,
        )

    @torch.inference_mode()
    def decode(
        self, logits: torch.Tensor, following: Callable[[torch.Tensor], torch.Tensor], max_tokens: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the greedy tokens of replies, (..., steps), and a mask, (...), True for a logit that is not finite.

        `logits`, (..., V), are of the first step. `following` reads the next token of each reply, (...), and
        returns the logits after this token.
        """
        steps: list[torch.Tensor] = []
        # A reply is broken if a logit before its end is not finite.
        has_ended, has_text, broken = torch.zeros((3, *logits.shape[:-1]), dtype=torch.bool, device=logits.device)
        while True:
            best, tokens = logits.max(dim=-1)
            steps.append(tokens)
            broken |= ~(has_ended | (torch.isfinite(best) & torch.isfinite(logits.amin(dim=-1))))
            has_ended |= self._ends_reply[tokens] | (has_text & self._breaks[tokens])
            has_text |= self._visible[tokens]
            is_check_due = len(steps) % _STEPS_BETWEEN_CHECKS[logits.device.type] == 0
            if len(steps) == max_tokens or (is_check_due and bool(has_ended.all())):
                return torch.stack(steps, dim=-1), broken
            logits = following(tokens)

    def text(self, answer: Sequence[int]) -> str:
        """Return the text of a reply's tokens up to its end."""
        tokens = list(takewhile(lambda token: token not in self._end_tokens, answer))
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True)).lstrip().partition("\n")[0].rstrip()
