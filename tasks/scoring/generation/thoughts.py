"""Where thoughts end in the tokens of a reply."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from swaymeter.tasks.models.language_model import LanguageModel
from swaymeter.tasks.scoring.answer_ends import end_tokens
from swaymeter.tasks.scoring.generation.answers import Answer
from swaymeter.tasks.scoring.thoughts import WINDOW, Marks, marks_of, opened_thoughts, text_of

_LONGEST = 40  # letters that a reply begins with, among which the mark is that opens thoughts
_Place = Literal["before", "within", "closed", "answer"]


class Split(NamedTuple):
    """The tokens of a reply that are thoughts, whether they end, and what their last token says behind their end."""

    tokens: tuple[int, ...]
    finished: bool
    behind: str = ""


class Thoughts:
    """The thoughts of replies to prompts that all end alike: they begin where the reply does, or within the prompt.

    As the end of what is decoded, a reply ends with the first letter behind its thoughts, or where it has none.
    """

    def __init__(self, model: LanguageModel, prompt: Sequence[int]) -> None:
        self._tokenizer, self._ends, self._marks = model.tokenizer, end_tokens(model), marks_of(model.tokenizer)
        self.opened = opened_thoughts(model.tokenizer, prompt)
        self._known: dict[tuple[int, ...], Marks | None] = {}

    def ends(self, tokens: tuple[int, ...]) -> bool:
        """Whether the last of these tokens is the last one that is decoded."""
        return tokens[-1] in self._ends or self._place(tokens) == "answer"

    def answer(
        self, tokens: tuple[int, ...], log_probs: tuple[float, ...], mean_distribution: NDArray[np.float32]
    ) -> Answer:
        """The reply of these tokens, its thoughts included."""
        return Answer("", tokens, log_probs, mean_distribution, self.ends(tokens))

    def split(self, tokens: tuple[int, ...]) -> Split:
        """The thoughts of a reply; none where it has no mark that opens them."""
        reply = tokens[:-1] if tokens[-1] in self._ends else tokens
        if not reply or (marks := self._of(reply)) is None:
            return Split((), finished=self.opened is None)
        for count in range(self._before_close(reply, marks) + 1, len(reply) + 1):
            if self._place(reply[:count]) == "answer":
                if self._place(reply[: count - 1]) == "closed":
                    return Split(reply[: count - 1], finished=True)
                text = self._text(reply[:count])  # the token that ends the thoughts begins the answer, too
                behind = text[[*marks.close.finditer(text)][-1].end() :]
                return Split(reply, False) if marks.open.search(behind) else Split(reply[:count], True, behind)
        return Split(reply, finished=self._place(reply) == "closed")

    def unfinished(self, reply: Answer, split: Split) -> Answer:
        """A reply that is nothing but thoughts."""
        nothing = reply.mean_distribution[:0]
        thoughts = self.text(split.tokens)
        return Answer("", (), (), nothing, False, thoughts, split.tokens, unfinished_thoughts=True)

    def text(self, tokens: tuple[int, ...]) -> str:
        """The words of thoughts, without the marks around them."""
        text, marks = self._text(tokens), self._of(tokens)
        if marks is not None:
            closed = marks.close.search(text)
            text = text[: closed.start()] if closed else text
            opened = marks.open.search(text, 0, _LONGEST)
            text = text[opened.end() :] if opened else text
        return text.strip()

    def _place(self, tokens: tuple[int, ...]) -> _Place:
        """Where a reply is behind these tokens."""
        marks = self._of(tokens)
        text = self._text(tokens[-WINDOW:])
        if marks is None:
            return "before" if len(text.strip()) < _LONGEST else "answer"
        closed = marks.close.search(text)
        if closed is None:
            return "within"
        return "answer" if text[closed.end() :].strip() else "closed"

    def _before_close(self, reply: tuple[int, ...], marks: Marks) -> int:
        """How many tokens of a reply stand before the window in which its thoughts end; all where they do not end."""
        starts = range(0, len(reply), WINDOW)
        parts = (self._text(reply[max(0, start - WINDOW) : start + WINDOW]) for start in starts)
        return next((start for start, part in zip(starts, parts, strict=True) if marks.close.search(part)), len(reply))

    def _of(self, tokens: tuple[int, ...]) -> Marks | None:
        """The marks of the thoughts that a reply begins with, or its prompt ends with; None where there are none."""
        if self.opened is not None:
            return self.opened
        start = tokens[:WINDOW]
        if start not in self._known:
            text = self._text(start)
            self._known[start] = next((marks for marks in self._marks if marks.open.search(text, 0, _LONGEST)), None)
        return self._known[start]

    def _text(self, tokens: Sequence[int]) -> str:
        return text_of(self._tokenizer, tokens)
