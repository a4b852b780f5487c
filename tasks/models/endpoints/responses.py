"""Read replies, distributions and errors from the JSON that servers send.

Nothing that a server sends is trusted. A value of an unexpected type raises a LookupError, TypeError, ValueError or
AttributeError, which the caller turns into a ServiceError.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from swaymeter.data.errors import ServiceError, shown
from swaymeter.data.sources.http.response import TransientError
from swaymeter.tasks.models.endpoints.endpoint import Finish, LogProbs, Reply

LARGEST_VOCABULARY = 1_000_000
"""Upper bound on token ids, and on counts of tokens."""
# Finish reasons of replies that ended by themselves, of filtered replies, and of calls of tools.
_STOPS = ("stop", "eos", "eos_token", "stop_sequence", "word", "end_turn")
_FILTERS = ("content_filter", "safety", "refusal")
_TOOL_CALLS = ("tool_calls", "tool_use", "function_call")
_BROKEN = ("error", "abort", "insufficient_system_resource")
"""Finish reasons of replies that the server did not complete; the request is sent again."""
_TRANSIENT_CODES = (408, 429, 500, 502, 503, 529)
_REQUIRED_KEYS = frozenset({"model", "messages", "prompt"})
"""Keys of a request that cannot be left out."""
_MARKUP = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)


# ---- replies


def chat_reply(choice: Mapping[str, Any], content: Mapping[str, Any], limit: int) -> Reply:
    """Read a choice (one reply) of /chat/completions; `limit` is the request's limit of tokens."""
    message = choice.get("message") or {}
    usage = _mapping(content.get("usage"))
    text, thoughts_in_content = _text_and_thoughts(message.get("content"))
    text = text or _text(message.get("refusal") or "")
    hidden_count = _mapping(usage.get("completion_tokens_details")).get("reasoning_tokens")
    hidden_thoughts = (
        f"{_number(hidden_count)} tokens of thoughts that the server does not show" if hidden_count else ""
    )
    thoughts = _text(
        message.get("reasoning_content") or message.get("reasoning") or thoughts_in_content or hidden_thoughts
    )
    entries = _mapping(choice.get("logprobs")).get("content") or ()
    tokens = tuple(str(entry["token"]) for entry in entries)
    log_probs = _log_probs(entry["logprob"] for entry in entries)
    if thoughts and tokens:  # some servers send the tokens of the thoughts, too
        start = _text_start(tokens, text)
        if start is None:
            tokens, log_probs = (), ()
        else:
            tokens, log_probs = tokens[start:], log_probs[start:]
    finish = _finish(choice.get("finish_reason"), usage.get("completion_tokens"), limit)
    if finish == "stop" and not text and (message.get("tool_calls") or message.get("function_call")):
        finish = "tool_call"
    return Reply(
        text=text,
        finish="stop" if finish == "tool_call" and text else finish,
        token_log_probs=log_probs,
        token_texts=tokens,
        thoughts=thoughts,
        prompt_tokens=_number(usage.get("prompt_tokens") or 0),
        completion_tokens=_optional_count(usage.get("completion_tokens")),
        model_and_configuration=(str(content.get("model") or ""), str(content.get("system_fingerprint") or "")),
    )


def text_reply(choice: Mapping[str, Any], content: Mapping[str, Any], limit: int) -> Reply:
    """Read a choice (one reply) of /completions; `limit` is the request's limit of tokens."""
    usage, log_probs = _mapping(content.get("usage")), _mapping(choice.get("logprobs"))
    ids = tuple(map(_number, choice.get("token_ids") or ()))
    return Reply(
        text=_text(choice["text"]),
        finish=_finish(choice.get("finish_reason"), usage.get("completion_tokens"), limit),
        token_ids=ids,
        token_log_probs=_log_probs(log_probs.get("token_logprobs") or ()),
        token_texts=() if ids else tuple(map(str, log_probs.get("tokens") or ())),
        prompt_tokens=_number(usage.get("prompt_tokens") or 0),
        completion_tokens=_optional_count(usage.get("completion_tokens")),
        model_and_configuration=(str(content.get("model") or ""), str(content.get("system_fingerprint") or "")),
    )


def llama_reply(content: Mapping[str, Any]) -> Reply:
    """Read a reply of llama.cpp's /completion.

    llama.cpp sends no log-probability for a token that ends within a character; the whole reply then has none.
    """
    entries = content.get("completion_probabilities") or ()
    ids, entry_ids = tuple(map(_number, content["tokens"])), tuple(_number(entry["id"]) for entry in entries)
    # The end token may be in the entries and not in `tokens`.
    has_all_entries = entry_ids in (ids, (*ids, *entry_ids[-1:]))
    return Reply(
        text=_text(content["content"]),
        finish="length" if content["stop_type"] == "limit" else "stop",
        token_ids=entry_ids if has_all_entries else ids,
        token_log_probs=_log_probs(entry["logprob"] for entry in entries) if has_all_entries else (),
        prompt_tokens=_number(content.get("tokens_evaluated") or 0),
        completion_tokens=_optional_count(content.get("tokens_predicted")),
    )


def _text_and_thoughts(content: Any) -> tuple[str, str]:
    """Return the text and the thoughts of a message's content, which is a text or a list of parts."""
    if not isinstance(content, list):
        return _text(content or ""), ""
    texts = "".join(_text(part["text"]) for part in content if part.get("type") == "text")
    thoughts = (part.get("thinking") for part in content if part.get("type") == "thinking")
    texts_of_thoughts = (part if isinstance(part, str) else _text_and_thoughts(part)[0] for part in thoughts)
    return texts, "".join(texts_of_thoughts)


def _text_start(tokens: Sequence[str], text: str) -> int | None:
    """Return the index of a text's first token; other tokens may precede the text, and an end token may follow."""
    for index in range(len(tokens)):
        if text.strip() in ("".join(tokens[index:]).strip(), "".join(tokens[index:-1]).strip()):
            return index
    return None


def _finish(reason: Any, completion_tokens: Any, limit: int) -> Finish:
    """Read a finish reason; an unknown reason, or `limit` tokens without a reason, count as "length"."""
    word = str(reason).lower()
    if any(word.startswith(name) for name in _FILTERS):
        return "content_filter"
    if word in _TOOL_CALLS:
        return "tool_call"
    if reason is None:
        return "length" if type(completion_tokens) is int and completion_tokens >= limit else "stop"
    return "stop" if word in _STOPS else "length"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _number(value: Any) -> int:
    number = int(value)
    if not 0 <= number < LARGEST_VOCABULARY:
        raise ValueError(f"{value!r} is not a token id or token count from 0 to {LARGEST_VOCABULARY - 1:,}")
    return number


def _optional_count(value: Any) -> int | None:
    return None if value is None else _number(value)


def log_prob(value: Any) -> float:
    """Read a log-probability; ValueError if its probability is above 1 by more than rounding."""
    number = float(value)
    if not number <= 1e-3:
        raise ValueError(f"{value!r} is not a log-probability")
    return min(number, 0.0)


def _log_probs(values: Any) -> tuple[float, ...]:
    listed = list(values)
    return () if any(value is None for value in listed) else tuple(map(log_prob, listed))


# ---- distributions


def whole_distribution(ids: Sequence[int], log_probs: Sequence[float]) -> LogProbs:
    """Return a distribution over all tokens, (V,); ValueError if tokens are missing or the mass is not 1."""
    indices = np.asarray(ids, np.int64)
    values = np.asarray(log_probs, np.float64)
    if not len(indices) or indices.min() < 0 or indices.max() >= LARGEST_VOCABULARY:
        raise ValueError("the distribution has no token ids")
    whole = np.full(indices.max() + 1, np.nan)
    whole[indices] = values
    mass = float(np.exp(values).sum())
    if np.isnan(whole).any() or len(np.unique(indices)) < len(indices) or not abs(mass - 1.0) < 1e-2:
        raise ValueError(f"{len(indices):,} tokens of total probability {mass:.4f} are not the whole distribution")
    return cast("LogProbs", whole.astype(np.float32))


def distinct_tokens(tokens: Sequence[tuple[str, Any]]) -> Mapping[str, float]:
    """Return log-probabilities by token text; texts that several tokens share, and parts of characters, are omitted."""
    count = Counter(text for text, _ in tokens)
    return {_text(text): log_prob(value) for text, value in tokens if count[text] == 1 and "\ufffd" not in text}


# ---- errors


def find_error(content: Any) -> ServiceError | TransientError | None:
    """Return the error in a response of any status, or an error for a reply that broke off; None without an error.

    Servers send errors as an object, a list of objects (Gemini), a string, or a page of HTML.
    """
    if isinstance(content, str):
        return ServiceError(" ".join(_MARKUP.sub(" ", content).split()) or "the request is refused without a reason")
    if isinstance(content, list):
        errors = [find_error(part) for part in content[:10] if isinstance(part, dict | str)]
        return next((error for error in errors if error), None)
    if not isinstance(content, dict):
        return None
    choices = content.get("choices")
    for part in (content, *(choices if isinstance(choices, list) else ())):
        if not isinstance(part, dict):
            continue
        reason, error = part.get("finish_reason"), part.get("error") or part.get("errors") or part.get("detail")
        if error or reason in _BROKEN:
            error = error or f"a reply broke off: {reason}"
            code, message = None, error
            if isinstance(error, dict):
                code, message = error.get("code"), error.get("message") or error
            text = shown(message, 300)
            return TransientError(text) if reason in _BROKEN or code in _TRANSIENT_CODES else ServiceError(text)
    is_reply = content.keys() & {"choices", "content", "tokens"}
    return ServiceError(shown(content["message"], 300)) if "message" in content and not is_reply else None


def is_filtered(content: Any) -> bool:
    """Return True for the error of a content filter."""
    error = content.get("error") if isinstance(content, dict) else None
    return isinstance(error, dict) and error.get("code") in ("content_filter", "content_policy_violation")


def refused_parameter(content: Any, sent: Collection[str]) -> str:
    """Return the parameter in `sent` that an error of any format names; "" if the error names no parameter."""
    names = set(sent) - _REQUIRED_KEYS
    texts = [re.sub(r"input_value=.*", "", text) for text in _strings(content)]  # where pydantic repeats the request
    if whole_texts := [text for text in texts if text in names]:
        return whole_texts[0]
    # The parameter `n` counts only in quotes, because other texts may have the letter alone, too.
    words = [word for text in texts for word in re.findall(r"\w+", text) if word in names and word != "n"]
    words += ["n"] if "n" in names and any(re.search("[\"'`]n[\"'`]", text) for text in texts) else []
    # An error that names temperature and another parameter is about the other parameter.
    return next((word for word in words if word != "temperature"), words[0] if words else "")


def _strings(content: Any, depth: int = 0) -> Iterator[str]:
    """Yield the strings of an error, without fields that repeat the request."""
    if isinstance(content, str):
        yield content
    elif depth < 20 and isinstance(content, dict | list):
        parts = content.items() if isinstance(content, dict) else enumerate(content)
        for name, part in parts:
            if name not in ("input", "ctx", "url"):
                yield from _strings(part, depth + 1)
