"""Recorded replies, by the question and the texts of the passages before it."""

from collections.abc import Mapping
from operator import itemgetter

from swaymeter.data.digests import content_key
from swaymeter.data.records.questions import Question, QuestionContext

Replies = Mapping[tuple[str, tuple[str, ...]], str | None]
"""Replies by the id of the question and the texts of the passages; None for a missing reply, "" for an empty reply."""


def key_of(question: Question, context: QuestionContext) -> tuple[str, tuple[str, ...]]:
    """Return the key of the reply to a question with a context."""
    return question.question_id, tuple(passage.text for passage in context.passages)


def replies_digest(replies: Replies) -> str:
    """Return the digest (hex) of recorded replies."""
    items = sorted(replies.items(), key=itemgetter(0))
    return content_key({"replies": [[question, [*texts], reply] for (question, texts), reply in items]})
