"""Which of the questions that are there a study asks, by relation, and why it does not ask the others."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from data.errors import InputError, SwaymeterError
from data.records import Partition, Question, Rejected, of_row
from flows.live_works import LiveWorks
from flows.question_files import QuestionFiles
from tasks.contexts.annotation.judging import decide, read_annotations
from tasks.contexts.questions import choose_questions


@dataclass(frozen=True)
class QuestionChoice:
    """The questions by relation; the partitions that cannot be asked, and why; the questions that are left out.

    Left out are those that break a rule without which nobody can be asked, and those that annotators did not accept.
    """

    by_relation: dict[str, list[Question]] = field(default_factory=dict)
    refused: dict[Partition, SwaymeterError] = field(default_factory=dict)
    left_out: dict[Partition, list[Rejected]] = field(default_factory=dict)


def choose(files: QuestionFiles, partitions: Sequence[Partition]) -> QuestionChoice:
    """What a study asks of each partition; a partition that cannot be asked stops no other."""
    wanted, choice = files.wanted, QuestionChoice()
    for partition in partitions:
        left_out: list[Rejected] = []
        try:
            candidates = files.candidates(partition)
            if wanted.annotated:
                decided = decide(candidates, read_annotations(files.workspace))
                candidates = list(decided.accepted)
                left_out += decided.rejected
            if not candidates:
                raise InputError(_nothing_to_ask(files, partition, left_out))
            chosen = choose_questions(candidates, count=wanted.per_partition, seed=files.study.seed)
        except SwaymeterError as error:
            choice.refused[partition] = error
        else:
            left_out += chosen.left_out
            for question in chosen.questions:
                choice.by_relation.setdefault(question.relation, []).append(question)
        choice.left_out[partition] = left_out
    for questions in choice.by_relation.values():
        questions.sort(key=lambda question: question.question_id)  # a fact that became temporal keeps its place
    return choice


def _nothing_to_ask(files: QuestionFiles, partition: Partition, left_out: Sequence[Rejected]) -> str:
    rows = list(left_out)
    for stored in LiveWorks(files.live).dropped() if files.live else ():
        rows += [of_row(Rejected, row) for row in stored.read().to_pylist()]
    reasons = Counter(row.reason for row in rows if row.partition in (partition, None))
    said = ", ".join(f"{count} {reason}" for reason, count in reasons.most_common(5)) or "nothing was looked at"
    return (
        f"partition {partition}: nothing became a question ({said}); "
        "leave the partition out, or look at more facts or pages under `questions`"
    )
