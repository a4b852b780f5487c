"""Ends of answers and of thoughts in the tokens of a reply, and the mean distribution over the tokens of an answer."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.tasks.models.capabilities import Answer, ReplyState
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.prompts.template_options import PromptForm, end_tokens
from swaymeter.tasks.models.prompts.thoughts import WINDOW, Marks, marks_of, opened_thoughts, text_of


class AnswerEnd:
    """The end of an answer: an end token or, after a prompt of the form `plain`, the end of a line.

    Args:
        model: the network.
        form: the form of the prompt.
        header: the text before every answer, such as "assistant", which is removed; "" without a header.
    """

    def __init__(self, model: Network, form: PromptForm, header: str = "") -> None:
        self._header = header
        self._end_tokens = end_tokens(model)
        self._at_newline = form == "plain"
        self._tokenizer = model.tokenizer
        self._cache: dict[int, bool] = {}

    def ends(self, tokens: tuple[int, ...]) -> bool:
        """Return True if the last of these tokens ends the answer."""
        token = tokens[-1]
        if token not in self._cache:
            breaks_line = self._at_newline and "\n" in str(self._tokenizer.decode([token]))
            self._cache[token] = token in self._end_tokens or breaks_line
        return self._cache[token]

    def answer(
        self, tokens: tuple[int, ...], log_probs: tuple[float, ...], mean_distribution: NDArray[np.float32]
    ) -> Answer:
        """Return the answer of these tokens."""
        text = self.text(tokens)
        state: ReplyState = "complete" if text else "empty"
        if not self.ends(tokens):
            state = "truncated"
        return Answer(text, tokens, log_probs, mean_distribution, state)

    def text(self, tokens: tuple[int, ...]) -> str:
        """Return the text of an answer."""
        text = str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))
        if self._header:
            text = text.lstrip().removeprefix(self._header)
        return (text.partition("\n")[0] if self._at_newline else text).strip()


@torch.inference_mode()
def mean_distribution(model: Network, prompt: Sequence[int], answer: Sequence[int]) -> NDArray[np.float32]:
    """Return the mean next-token distribution, (V,), over the tokens of a known answer, its end token included."""
    ids = torch.tensor([[*prompt, *answer[:-1]]], device=model.device)
    logits = model.model(input_ids=ids, use_cache=False, **model.last_logits(len(answer))).logits[0, -len(answer) :]
    mean: NDArray[np.float32] = torch.softmax(logits.float(), dim=-1).mean(dim=0).cpu().numpy()
    return mean


_OPENING = 40  # number of first characters of a reply in which a mark can open thoughts
_Phase = Literal["before", "within", "closed", "answer"]
"""before: the reply is too short to show a mark; within: its thoughts are open; closed: its thoughts have ended, and no
text follows; answer: text follows, or the reply has no thoughts."""


class Thoughts:
    """The thoughts of replies to prompts with the same ending; the thoughts begin in the reply or in its prompt."""

    def __init__(self, model: Network, prompt: Sequence[int]) -> None:
        self._tokenizer, self._end_tokens, self._marks = model.tokenizer, end_tokens(model), marks_of(model.tokenizer)
        self._open_marks = opened_thoughts(model.tokenizer, prompt)
        self._cache: dict[tuple[int, ...], Marks | None] = {}

    def ends(self, tokens: tuple[int, ...]) -> bool:
        """Return True if decoding stops after these tokens."""
        return tokens[-1] in self._end_tokens or self._phase(tokens) == "answer"

    def answer(
        self, tokens: tuple[int, ...], log_probs: tuple[float, ...], mean_distribution: NDArray[np.float32]
    ) -> Answer:
        """Return a reply with these tokens; `split` divides the tokens into thoughts and answer."""
        return Answer("", tokens, log_probs, mean_distribution, "complete" if self.ends(tokens) else "truncated")

    def split(self, tokens: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
        """Return the tokens of a reply's thoughts, empty without thoughts, and False if the thoughts do not end.

        If a token spans the end of the thoughts and the beginning of the answer, its first part counts as thoughts.
        """
        reply = tokens[:-1] if tokens[-1] in self._end_tokens else tokens
        if not reply or (marks := self._marks_of(reply)) is None:
            return (), self._open_marks is None
        # Skip the tokens before the closing mark, in steps of WINDOW tokens. Without the mark, all tokens are thoughts.
        first = len(reply)
        for start in range(0, len(reply), WINDOW):
            if marks.close.search(self._text(reply[max(0, start - WINDOW) : start + WINDOW])):
                first = start
                break
        for count in range(first + 1, len(reply) + 1):
            if self._phase(reply[:count]) == "answer":
                is_closed = self._phase(reply[: count - 1]) == "closed"
                return (reply[: count - 1], True) if is_closed else self._cut_last_token(reply[:count], marks)
        return reply, self._phase(reply) == "closed"

    def unfinished(self, reply: Answer, tokens: tuple[int, ...]) -> Answer:
        """Return `reply` as a reply of thoughts alone, which have these tokens."""
        empty_distribution = reply.mean_distribution[:0]
        return Answer("", (), (), empty_distribution, "unfinished_thoughts", self.text(tokens), tokens)

    def text(self, tokens: tuple[int, ...]) -> str:
        """Return the text of thoughts without the marks around it."""
        text, marks = self._text(tokens), self._marks_of(tokens)
        if marks is not None:
            closing = marks.close.search(text)
            text = text[: closing.start()] if closing else text
            opening = marks.open.search(text, 0, _OPENING)
            text = text[opening.end() :] if opening else text
        return text.strip()

    def _phase(self, tokens: tuple[int, ...]) -> _Phase:
        marks = self._marks_of(tokens)
        text = self._text(tokens[-WINDOW:])
        if marks is None:
            return "before" if len(text.strip()) < _OPENING else "answer"
        closing = marks.close.search(text)
        if closing is None:
            return "within"
        return "answer" if text[closing.end() :].strip() else "closed"

    def _cut_last_token(self, tokens: tuple[int, ...], marks: Marks) -> tuple[tuple[int, ...], bool]:
        """Return the tokens of the thoughts, and True; the last of `tokens` spans thoughts and answer.

        Tokens of single letters replace the last token. If the vocabulary lacks a letter, return all tokens and False:
        the thoughts count as open.
        """
        text, tokens_before = self._text(tokens), tokens[:-1]
        closing = marks.close.search(text)
        assert closing is not None
        letters = text[len(self._text(tokens_before)) : closing.end()]
        # The token of a letter is None if the vocabulary lacks it.
        letter_tokens = (self._tokenizer.convert_tokens_to_ids(letter) for letter in letters)
        thoughts = (*tokens_before, *(token for token in letter_tokens if isinstance(token, int)))
        return (thoughts, True) if self._text(thoughts) == text[: closing.end()] else (tokens, False)

    def _marks_of(self, tokens: tuple[int, ...]) -> Marks | None:
        """Return the marks of the thoughts that the reply or its prompt opens; None without thoughts."""
        if self._open_marks is not None:
            return self._open_marks
        start = tokens[:WINDOW]
        if start not in self._cache:
            text = self._text(start)
            self._cache[start] = next((marks for marks in self._marks if marks.open.search(text, 0, _OPENING)), None)
        return self._cache[start]

    def _text(self, tokens: Sequence[int]) -> str:
        return text_of(self._tokenizer, tokens)
