"""Prompts as tokens: complete ones, never cut; and their texts in messages."""

from collections.abc import Sequence

from swaymeter.data.errors import ModelError, ScoreError, UsageError
from swaymeter.tasks.models.capabilities import Model, Tokens


def start_tokens(model: Model) -> tuple[int, ...]:
    """The tokens that the tokenizer itself puts before a text: of Llama and Gemma one, of GPT-2 and Pythia none.

    What it appends is no part of a prompt. ModelError where a text has other tokens beside special ones than alone.
    """
    if model.engine.start_tokens is None:
        alone, whole = (model.tokenizer("a", add_special_tokens=special)["input_ids"] for special in (False, True))
        starts = [start for start in range(len(whole) + 1) if whole[start : start + len(alone)] == alone]
        if not starts:
            raise ModelError(
                f"the tokenizer of {model.name} does not show which tokens it puts before a text; "
                "set prompt.start_token to never"
            )
        model.engine.start_tokens = tuple(whole[: starts[0]])
    return model.engine.start_tokens


def tokenized(
    model: Model, texts: Sequence[str], *, start_token: bool = True, reserved_tokens: int = 0
) -> list[list[int]]:
    """The token ids of every text behind the tokenizer's start token, unless it stands behind another text.

    Errors are those of `start_tokens` and `check_length`.
    """
    start = start_tokens(model) if start_token else ()
    of_texts: list[list[int]] = model.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    ids = [[*start, *tokens] for tokens in of_texts]
    for text, tokens in zip(texts, ids, strict=True):
        check_length(model, text, len(tokens), reserved_tokens=reserved_tokens)
    return ids


def tokenized_prompts(
    model: Model, contexts: Sequence[str], queries: Sequence[str], *, start_token: bool = True, reserved_tokens: int = 0
) -> list[list[list[int]]]:
    """The token ids of every context before every query, [context][query], each tokenized as one text.

    UsageError where contexts or queries are empty; else as `tokenized`.
    """
    if not contexts or not queries:
        raise UsageError(
            f"prompts need contexts and queries, not {len(contexts)} and {len(queries)}; give at least one of each"
        )
    prompts = [context + query for context in contexts for query in queries]
    ids = tokenized(model, prompts, start_token=start_token, reserved_tokens=reserved_tokens)
    return [ids[start : start + len(queries)] for start in range(0, len(ids), len(queries))]


def check_length(model: Model, prompt: str, tokens: int, *, reserved_tokens: int = 0) -> None:
    """Raises ScoreError for a prompt without tokens, or longer than the window with `reserved_tokens` more tokens."""
    if tokens == 0:
        raise ScoreError(f"the prompt {prompt!r} has no tokens, so nothing can follow it")
    window = model.context_window
    if window is not None and tokens + reserved_tokens > window:
        raise does_not_fit(model, "prompts", prompt, f"{tokens} tokens", reserved_tokens)


def does_not_fit(model: Model, what: str, text: str, tokens: str, reserved_tokens: int) -> ScoreError:
    """The error of a text that is longer than the window with so many tokens to come; what: is never cut."""
    return ScoreError(
        f"a prompt of {tokens}{f' and {reserved_tokens} to come' if reserved_tokens else ''} does not fit the window "
        f"of {model.name}, {model.context_window} tokens; {what} are never cut: {shortened(text)}"
    )


def shortened(text: str) -> str:
    """A text for an error message."""
    return repr(text) if len(text) <= 400 else f"{text[:200]!r} ... {text[-200:]!r}"


def no_distribution(model: Model) -> str:
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
