"""Which questions a study asks: a seeded draw from each partition, without the rows that cannot be asked."""

import logging
from collections import Counter
from collections.abc import Sequence

from data.errors import InputError
from data.keys import drawn_first
from data.records import Question
from data.sources.slots import UNASKABLE

log = logging.getLogger(__name__)


def choose_questions(questions: Sequence[Question], *, count: int | None, seed: int) -> list[Question]:
    """`count` questions of one partition (all of them where None); rows that lack an answer or a slot are left out.

    InputError where fewer can be asked than are asked for.
    """
    if not questions:
        raise InputError("there are no questions to choose from")
    partition = questions[0].partition
    askable = {question.question_id: question for question in questions if not UNASKABLE.intersection(question.flags)}
    left_out = Counter(flag for question in questions for flag in question.flags if flag in UNASKABLE)
    if left_out:
        log.warning("partition %s: rows that cannot be asked: %s", partition, dict(left_out))
    if count is not None and len(askable) < count:
        raise InputError(f"partition {partition}: {count} questions are asked for, {len(askable)} can be asked")
    chosen = drawn_first(askable, len(askable) if count is None else count, seed, partition)
    return [askable[question_id] for question_id in chosen]
