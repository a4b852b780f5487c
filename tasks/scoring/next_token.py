"""The plain engine: log p(a | prompt) over the whole vocabulary, for the token a that follows each prompt.

What it is not: no special token is added unless asked for, no prompt is ever cut, and nothing of one prompt's work is
kept for another. Prompts are sorted by length, padded on the left and read in batches; only the last position goes
through the output matrix. Log-softmax is taken in float32, whatever the model's dtype.
"""

import inspect
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from data.errors import ScoreError, UsageError
from tasks.models.language_model import LanguageModel


def next_token_log_probs(
    model: LanguageModel, prompts: Sequence[str], *, batch_size: int = 32, add_special_tokens: bool = False
) -> torch.Tensor:
    """The log-distributions of the next token: (n_prompts, V) in nats, float32, on the model's device.

    prompts: complete texts; a text that occurs twice is computed once. batch_size: prompts that are read at once.
    add_special_tokens: whether the tokenizer puts its own marks around a prompt.
    Raises ScoreError for a prompt without tokens, one longer than the model's window, or a NaN that the model gives.
    """
    log_probs = _log_probs(model, prompts, batch_size, add_special_tokens)
    broken = _first_broken(log_probs)
    if broken is not None:
        raise ScoreError(f"{_nothing(model)} after {shortened(prompts[broken])}")
    return log_probs


def next_token_by_query(
    model: LanguageModel, contexts: Sequence[str], queries: Sequence[str], *, batch_size: int = 32
) -> Iterator[torch.Tensor]:
    """For each query in turn, the log-distributions after every context: (n_contexts, V), as next_token_log_probs.

    A context stands before a query with nothing between them. One query's distributions are held at a time.
    """
    for query in queries:
        log_probs = _log_probs(model, [context + query for context in contexts], batch_size, False)
        broken = _first_broken(log_probs)
        if broken is not None:
            context = shortened(contexts[broken])
            raise ScoreError(f"{_nothing(model)} for the query {shortened(query)} after the context {context}")
        yield log_probs


def tokenized(model: LanguageModel, texts: Sequence[str], *, add_special_tokens: bool = False) -> list[list[int]]:
    """The token ids of every text; raises ScoreError for a text without tokens or longer than the model's window."""
    if not texts:
        return []
    ids: list[list[int]] = model.tokenizer(list(texts), add_special_tokens=add_special_tokens)["input_ids"]
    for text, tokens in zip(texts, ids, strict=True):
        check_length(model, text, len(tokens))
    return ids


def check_length(model: LanguageModel, prompt: str, tokens: int, *, room: int = 0) -> None:
    """Raises ScoreError for a prompt without tokens, or one that with `room` more tokens is longer than the window."""
    if tokens == 0:
        raise ScoreError(f"the prompt {prompt!r} has no tokens, so nothing can follow it")
    window = model.context_window
    if window is not None and tokens + room > window:
        raise ScoreError(
            f"a prompt of {tokens} tokens{f' and {room} to come' if room else ''} does not fit the window of "
            f"{model.name}, {window} tokens; prompts are never cut: {shortened(prompt)}"
        )


def shortened(text: str) -> str:
    """A text as an error message shows it."""
    return repr(text) if len(text) <= 400 else f"{text[:200]!r} ... {text[-200:]!r}"


def left_padded(tokens: Sequence[Sequence[int]], device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids padded on the left, and the mask of what is no padding: both (n, longest), int64."""
    longest = max(map(len, tokens))
    ids: NDArray[np.int64] = np.zeros((len(tokens), longest), dtype=np.int64)
    mask: NDArray[np.int64] = np.zeros((len(tokens), longest), dtype=np.int64)
    for row, one in enumerate(tokens):
        ids[row, longest - len(one) :] = one
        mask[row, longest - len(one) :] = 1
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def forward_options(model: LanguageModel, mask: torch.Tensor) -> dict[str, object]:
    """What a padded batch needs beside its ids, as far as this model's forward knows it.

    Positions count from each prompt's own first token; a model that is not told takes the padding for text.
    """
    known = inspect.signature(model.model.forward).parameters
    options: dict[str, object] = {"attention_mask": mask}
    if "position_ids" in known:
        options["position_ids"] = (mask.cumsum(dim=1) - 1).clamp(min=0)
    if "logits_to_keep" in known:
        options["logits_to_keep"] = 1
    return options


def _log_probs(model: LanguageModel, prompts: Sequence[str], batch_size: int, add_special_tokens: bool) -> torch.Tensor:
    if batch_size < 1:
        raise UsageError(f"batch_size is {batch_size}; it must be at least 1")
    texts = list(dict.fromkeys(prompts))
    tokens = tokenized(model, texts, add_special_tokens=add_special_tokens)
    order = sorted(range(len(texts)), key=lambda place: len(tokens[place]))
    rows: list[torch.Tensor] = []
    for start in range(0, len(order), batch_size):
        places = order[start : start + batch_size]
        rows.append(_read(model, [tokens[place] for place in places]))
    if not rows:
        return torch.zeros((0, int(model.model.config.get_text_config().vocab_size)), device=model.device)
    row_of = {texts[place]: row for row, place in enumerate(order)}
    return torch.cat(rows)[[row_of[prompt] for prompt in prompts]]


@torch.inference_mode()
def _read(model: LanguageModel, tokens: list[list[int]]) -> torch.Tensor:
    ids, mask = left_padded(tokens, model.device)
    logits = model.model(input_ids=ids, use_cache=False, **forward_options(model, mask)).logits[:, -1]
    return torch.log_softmax(logits.float(), dim=-1)


def _first_broken(log_probs: torch.Tensor) -> int | None:
    broken = torch.isnan(log_probs).any(dim=-1).nonzero()
    return int(broken[0, 0]) if len(broken) else None


def _nothing(model: LanguageModel) -> str:
    return f"{model.name} in {model.dtype} gives no distribution (NaN)"
