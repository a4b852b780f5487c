"""Prompts as tokens, never cut, and error messages about prompts."""

from collections.abc import Sequence

from swaymeter.data.errors import ModelError, ScoreError, UsageError
from swaymeter.tasks.models.capabilities import Model, Tokens


def start_tokens(model: Model) -> tuple[int, ...]:
    """Return the tokens that the tokenizer puts before a text: one for Llama and Gemma, none for GPT-2 and Pythia.

    Raises:
        ModelError: the tokens of a text change if special tokens are put around it.
    """
    if model.traits.start_tokens is None:
        alone, whole = (model.tokenizer("a", add_special_tokens=special)["input_ids"] for special in (False, True))
        starts = [start for start in range(len(whole) + 1) if whole[start : start + len(alone)] == alone]
        if not starts:
            raise ModelError(
                f"the tokenizer of {model.name} does not show which tokens it puts before a text; "
                "set prompt.start_token to never"
            )
        model.traits.start_tokens = tuple(whole[: starts[0]])
    return model.traits.start_tokens


def tokenize(
    model: Model, texts: Sequence[str], *, start_token: bool = True, reserved_tokens: int = 0
) -> list[list[int]]:
    """Return the token ids of every text, after the tokenizer's start tokens; raises like `check_length`.

    Args:
        model: the model.
        texts: the texts.
        start_token: False for texts that follow another text.
        reserved_tokens: tokens of the window that are reserved for the reply.
    """
    start = start_tokens(model) if start_token else ()
    ids_of_texts: list[list[int]] = model.tokenizer(list(texts), add_special_tokens=False)["input_ids"]
    ids = [[*start, *tokens] for tokens in ids_of_texts]
    for text, tokens in zip(texts, ids, strict=True):
        check_length(model, text, len(tokens), reserved_tokens=reserved_tokens)
    return ids


def tokenize_prompts(
    model: Model, contexts: Sequence[str], queries: Sequence[str], *, start_token: bool = True, reserved_tokens: int = 0
) -> list[list[list[int]]]:
    """Return the token ids of every context followed by every query, [context][query]; both are tokenized as one text.

    Raises:
        UsageError: there are no contexts or no queries.
        ScoreError: a prompt is empty or too long.
    """
    if not contexts or not queries:
        raise UsageError(
            f"prompts need at least one context and one query; there are {len(contexts)} contexts and {len(queries)} "
            "queries"
        )
    prompts = [context + query for context in contexts for query in queries]
    ids = tokenize(model, prompts, start_token=start_token, reserved_tokens=reserved_tokens)
    return [ids[start : start + len(queries)] for start in range(0, len(ids), len(queries))]


def check_length(model: Model, prompt: str, length: int, *, reserved_tokens: int = 0) -> None:
    """Raise ScoreError for a prompt without tokens, or longer than the window less `reserved_tokens`."""
    if length == 0:
        raise ScoreError(
            f"the prompt {prompt!r} has no tokens; use a prompt with a text, or a model with a start token"
        )
    window = model.context_window
    if window is not None and length + reserved_tokens > window:
        raise does_not_fit(model, "prompts", prompt, f"{length} tokens", reserved_tokens)


def does_not_fit(model: Model, kind: str, text: str, length: str, reserved_tokens: int) -> ScoreError:
    """Return the error of a prompt that exceeds the context window.

    Args:
        model: the model.
        kind: the kind of the text, such as "questions"; such texts are never cut.
        text: the text.
        length: the length of the prompt as a text, such as "900 tokens".
        reserved_tokens: tokens of the window that are reserved for the reply.
    """
    end = f" and a reply of up to {reserved_tokens} do" if reserved_tokens else " does"
    return ScoreError(
        f"a prompt of {length}{end} not fit the window of {model.name}, {model.context_window} tokens; shorten the "
        f"prompt, because {kind} are never cut: {shorten(text)}"
    )


def shorten(text: str) -> str:
    """Return a text in quotes for an error message, without the middle of a long text."""
    return repr(text) if len(text) <= 400 else f"{text[:200]!r} ... {text[-200:]!r}"


def no_distribution(model: Model) -> str:
    """Return the message about a model whose logits are not finite."""
    return f"{model.name} in {model.dtype} gives no distribution (NaN or infinite logits; try another dtype)"


def common_prefix_length(prompts: Sequence[Tokens], *, remaining: int = 1) -> int:
    """Return the length of the prefix that all prompts share; `remaining` tokens of each prompt stay outside of it."""
    # In sorted order, all prompts begin with what the first and the last prompt have in common.
    first, last = min(map(tuple, prompts)), max(map(tuple, prompts))
    limit = min(map(len, prompts)) - remaining
    length = 0
    while length < limit and first[length] == last[length]:
        length += 1
    return length
