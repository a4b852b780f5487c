"""Where an answer ends, where thoughts end in the tokens of a reply, and the distributions along a known answer."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray

from swaymeter.tasks.models.capabilities import Answer, ReplyState
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.prompts.template_options import PromptForm, end_tokens
from swaymeter.tasks.models.prompts.thoughts import WINDOW, Marks, marks_of, opened_thoughts, text_of


class Ends:
    """The end of an answer: an end token, in the plain form also a line's end; header: what its text is without."""

    def __init__(self, model: Network, form: PromptForm, header: str = "") -> None:
        self._header = header
        self._tokens = end_tokens(model)
        self._at_newline = form == "plain"
        self._tokenizer = model.tokenizer
        self._known: dict[int, bool] = {}

    def ends(self, tokens: tuple[int, ...]) -> bool:
        """Whether the last of these tokens is an answer's last."""
        token = tokens[-1]
        if token not in self._known:
            breaks_line = self._at_newline and "\n" in str(self._tokenizer.decode([token]))
            self._known[token] = token in self._tokens or breaks_line
        return self._known[token]

    def answer(
        self, tokens: tuple[int, ...], log_probs: tuple[float, ...], mean_distribution: NDArray[np.float32]
    ) -> Answer:
        """The answer of these tokens."""
        text = self.text(tokens)
        state: ReplyState = "truncated" if not self.ends(tokens) else "complete" if text else "empty"
        return Answer(text, tokens, log_probs, mean_distribution, state)

    def text(self, tokens: tuple[int, ...]) -> str:
        """The text of an answer."""
        text = str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))
        if self._header:
            text = text.lstrip().removeprefix(self._header)
        return (text.partition("\n")[0] if self._at_newline else text).strip()


@torch.inference_mode()
def mean_distribution(model: Network, prompt: Sequence[int], answer: Sequence[int]) -> NDArray[np.float32]:
    """The mean of the unscaled softmax over a known answer's steps, its end step included, at least one: (V,)."""
    ids = torch.tensor([[*prompt, *answer[:-1]]], device=model.device)
    logits = model.model(input_ids=ids, use_cache=False, **model.keeping(len(answer))).logits[0, -len(answer) :]
    mean: NDArray[np.float32] = torch.softmax(logits.float(), dim=-1).mean(dim=0).cpu().numpy()
    return mean


_LONGEST = 40  # letters that a reply begins with, among which the mark is that opens thoughts
_Place = Literal["before", "within", "closed", "answer"]


class Thoughts:
    """The thoughts of replies to prompts that all end alike: they begin where the reply does, or within the prompt."""

    def __init__(self, model: Network, prompt: Sequence[int]) -> None:
        self._tokenizer, self._ends, self._marks = model.tokenizer, end_tokens(model), marks_of(model.tokenizer)
        self._opened = opened_thoughts(model.tokenizer, prompt)
        self._known: dict[tuple[int, ...], Marks | None] = {}

    def ends(self, tokens: tuple[int, ...]) -> bool:
        """Whether the last of these tokens is the last one that is decoded."""
        return tokens[-1] in self._ends or self._place(tokens) == "answer"

    def answer(
        self, tokens: tuple[int, ...], log_probs: tuple[float, ...], mean_distribution: NDArray[np.float32]
    ) -> Answer:
        """The reply of these tokens, its thoughts included."""
        return Answer("", tokens, log_probs, mean_distribution, "complete" if self.ends(tokens) else "truncated")

    def split(self, tokens: tuple[int, ...]) -> tuple[tuple[int, ...], bool]:
        """The tokens of a reply that are thoughts, none where it has no mark that opens them; and whether they end.

        Where the token that ends them begins the answer, too, they end with the tokens of its first part alone.
        """
        reply = tokens[:-1] if tokens[-1] in self._ends else tokens
        if not reply or (marks := self._of(reply)) is None:
            return (), self._opened is None
        # Tokens before the window in which the thoughts end; all where they do not end.
        starts = range(0, len(reply), WINDOW)
        windows = (self._text(reply[max(0, start - WINDOW) : start + WINDOW]) for start in starts)
        before = (start for start, part in zip(starts, windows, strict=True) if marks.close.search(part))
        for count in range(next(before, len(reply)) + 1, len(reply) + 1):
            if self._place(reply[:count]) == "answer":
                is_closed = self._place(reply[: count - 1]) == "closed"
                return (reply[: count - 1], True) if is_closed else self._ended_within(reply[:count], marks)
        return reply, self._place(reply) == "closed"

    def unfinished(self, reply: Answer, tokens: tuple[int, ...]) -> Answer:
        """A reply that is nothing but thoughts, of these tokens."""
        nothing = reply.mean_distribution[:0]
        return Answer("", (), (), nothing, "unfinished_thoughts", self.text(tokens), tokens)

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

    def _ended_within(self, tokens: tuple[int, ...], marks: Marks) -> tuple[tuple[int, ...], bool]:
        """Thoughts that end within their last token; unfinished where no tokens have the letters up to there."""
        text, before = self._text(tokens), tokens[:-1]
        closed = marks.close.search(text)
        assert closed is not None
        letters = text[len(self._text(before)) : closed.end()]
        rest = (self._tokenizer.convert_tokens_to_ids(letter) for letter in letters)
        whole = (*before, *(token for token in rest if isinstance(token, int)))  # None: not in the vocabulary
        return (whole, True) if self._text(whole) == text[: closed.end()] else (tokens, False)

    def _of(self, tokens: tuple[int, ...]) -> Marks | None:
        """The marks of the thoughts that a reply begins with, or its prompt ends with; None where there are none."""
        if self._opened is not None:
            return self._opened
        start = tokens[:WINDOW]
        if start not in self._known:
            text = self._text(start)
            self._known[start] = next((marks for marks in self._marks if marks.open.search(text, 0, _LONGEST)), None)
        return self._known[start]

    def _text(self, tokens: Sequence[int]) -> str:
        return text_of(self._tokenizer, tokens)
