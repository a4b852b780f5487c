"""Prompts as tokens: whole ones, never cut; what stands before what, and what a message shows of them."""

from collections.abc import Sequence

from data.errors import ScoreError, UsageError
from tasks.models.language_model import LanguageModel

Tokens = Sequence[int]


def tokenized(model: LanguageModel, texts: Sequence[str], *, add_special_tokens: bool = False) -> list[list[int]]:
    """The token ids of every text; raises ScoreError for a text without tokens or longer than the model's window."""
    if not texts:
        return []
    ids: list[list[int]] = model.tokenizer(list(texts), add_special_tokens=add_special_tokens)["input_ids"]
    for text, tokens in zip(texts, ids, strict=True):
        check_length(model, text, len(tokens))
    return ids


def tokenized_prompts(
    model: LanguageModel, contexts: Sequence[str], queries: Sequence[str], *, room: int = 0
) -> list[list[list[int]]]:
    """The token ids of every context before every query: [context][query], each prompt tokenised as the whole it is.

    A token that spans the seam of context and query comes out as it does in the whole prompt. room: tokens that are to
    follow. Raises UsageError where there is no context or no query, ScoreError for a prompt that does not fit.
    """
    if not contexts or not queries:
        raise UsageError(f"prompts are made of contexts and queries; given: {len(contexts)} and {len(queries)}")
    prompts = [context + query for context in contexts for query in queries]
    ids: list[list[int]] = model.tokenizer(prompts, add_special_tokens=False)["input_ids"]
    for prompt, tokens in zip(prompts, ids, strict=True):
        check_length(model, prompt, len(tokens), room=room)
    return [ids[start : start + len(queries)] for start in range(0, len(ids), len(queries))]


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


def no_distribution(model: LanguageModel) -> str:
    """What an error says of a model whose logits are not finite."""
    return f"{model.name} in {model.dtype} gives no distribution (NaN or infinite logits)"


def common_prefix_length(prompts: Sequence[Tokens], *, left: int = 1) -> int:
    """How many tokens all prompts begin with alike; at least `left` tokens of each prompt are left over."""
    first, last = min(map(tuple, prompts)), max(map(tuple, prompts))
    shortest = min(map(len, prompts)) - left
    alike = 0
    while alike < shortest and first[alike] == last[alike]:
        alike += 1
    return alike
