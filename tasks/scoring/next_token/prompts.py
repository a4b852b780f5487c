"""Prompts as tokens: complete ones, never cut; and their texts in messages."""

from collections.abc import Sequence

from data.errors import ScoreError, UsageError
from tasks.models.language_model import LanguageModel

Tokens = Sequence[int]


def tokenized(model: LanguageModel, texts: Sequence[str], *, reserved_tokens: int = 0) -> list[list[int]]:
    """The token ids of every text, without special tokens; errors are those of `check_length`."""
    ids: list[list[int]] = model.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    for text, tokens in zip(texts, ids, strict=True):
        check_length(model, text, len(tokens), reserved_tokens=reserved_tokens)
    return ids


def tokenized_prompts(
    model: LanguageModel, contexts: Sequence[str], queries: Sequence[str], *, reserved_tokens: int = 0
) -> list[list[list[int]]]:
    """The token ids of every context before every query: [context][query].

    Each prompt is tokenized as one text, so that a token may span the seam of context and query. UsageError where
    contexts or queries are empty; else errors are those of `check_length`.
    """
    if not contexts or not queries:
        raise UsageError(
            f"prompts need contexts and queries, not {len(contexts)} and {len(queries)}; give at least one of each"
        )
    prompts = [context + query for context in contexts for query in queries]
    ids = tokenized(model, prompts, reserved_tokens=reserved_tokens)
    return [ids[start : start + len(queries)] for start in range(0, len(ids), len(queries))]


def check_length(model: LanguageModel, prompt: str, tokens: int, *, reserved_tokens: int = 0) -> None:
    """Raises ScoreError for a prompt without tokens, or longer than the window with `reserved_tokens` more tokens."""
    if tokens == 0:
        raise ScoreError(f"the prompt {prompt!r} has no tokens, so nothing can follow it")
    window = model.context_window
    if window is not None and tokens + reserved_tokens > window:
        raise ScoreError(
            f"a prompt of {tokens} tokens{f' and {reserved_tokens} to come' if reserved_tokens else ''} does not "
            f"fit the window of {model.name}, {window} tokens; prompts are never cut: {shortened(prompt)}"
        )


def shortened(text: str) -> str:
    """A text for an error message."""
    return repr(text) if len(text) <= 400 else f"{text[:200]!r} ... {text[-200:]!r}"


def no_distribution(model: LanguageModel) -> str:
    """The message about a model whose logits are not finite."""
    return f"{model.name} in {model.dtype} gives no distribution (NaN or infinite logits)"


def common_prefix_length(prompts: Sequence[Tokens], *, left: int = 1) -> int:
    """The length of the shared prefix of all prompts; at least `left` tokens of each prompt are not part of it."""
    first, last = min(map(tuple, prompts)), max(map(tuple, prompts))
    shortest = min(map(len, prompts)) - left
    alike = 0
    while alike < shortest and first[alike] == last[alike]:
        alike += 1
    return alike
