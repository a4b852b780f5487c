"""What the page to read the answers knows, cut into blocks of JSON that its script parses when they are needed.

index         every question in few words, what the list and the search begin with
texts-K       contexts and ids of questions 100 K to 100 K + 99 of the index
scores-M      of model M, in columns: what the list shows and sorts by; a row is a question that it answered
answers-M-K   of rows 100 K to 100 K + 99 of scores-M: the answers and all scores, condition by condition
"""

import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from data.errors import InputError
from data.records import CONDITIONS
from reports.frames import CONTEXTS, models, partitions, records, rows_of

SHARD = 100
_LISTED = ("question_id", "question", "subject", "relation", "partition", "object", "replacement")
_TEXTS = (
    "original_context", "counter_memory_context", "accepted", "subject_id", "property_id", "object_id", "edits",
    "subject_popularity", "object_popularity",
)  # fmt: skip
_SCORES = (
    "semantic_entropy", "semantic_entropy_standard_error", "coherent_persuasion",
    "coherent_persuasion_standard_error", "verdict", "outcome", "samples_that_follow", "accurate",
    "persuaded_as_published", "stubborn_as_published", "context_cut",
)  # fmt: skip
_MARKUP = re.compile("[<>&\u2028\u2029]")


Block = tuple[str, Markup]
"""A data block of the page: the id of its element, and its JSON."""


class _Answer(NamedTuple):
    """An answer as it is shown: equal ones look equal."""

    text: str
    log_probability: float
    finished: bool


@dataclass
class _Answers:
    """The answers to a question under a condition; the samples in their order, each with its cluster."""

    greedy: _Answer | None
    samples: list[tuple[int | None, _Answer]]


def options(frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    """What can be chosen from on the page, and how many questions there are."""
    questions = frames["questions_to_read"]
    return {
        "models": [str(model) for model in models(frames["answers_to_read"])],
        "partitions": partitions(questions),
        "relations": sorted(set(questions["relation"].astype(str))),
        "questions": len(questions),
    }


def blocks(frames: Mapping[str, pd.DataFrame]) -> Iterator[Block]:
    """Every block, made one after another; InputError where an answer's question is not there."""
    questions = sorted(
        records(frames["questions_to_read"]), key=lambda row: (row["question"].casefold(), row["question_id"])
    )
    place = {row["question_id"]: at for at, row in enumerate(questions)}
    listed = {name: [row[name] for row in questions] for name in _LISTED}
    yield "index", sealed({"shard": SHARD, "models": options(frames)["models"], "questions": listed})
    yield from _shards("texts", [_present(row, _TEXTS) for row in questions])
    for number, model in enumerate(models(frames["answers_to_read"])):
        rows, scored = (rows_of(frames[name], model) for name in ("answers_to_read", "answers_of_questions"))
        yield from _of_model(number, rows, scored, place)


def sealed(value: object) -> Markup:
    """The value as JSON in which nothing can end a script element or be taken for markup."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(_MARKUP.sub(lambda match: f"\\u{ord(match[0]):04x}", text))


def _of_model(number: int, rows: pd.DataFrame, scored: pd.DataFrame, place: Mapping[str, int]) -> Iterator[Block]:
    answers = _answers_of(rows)
    if unknown := sorted(answers.keys() - place.keys()):
        raise InputError(
            f"answers_to_read has question {unknown[0]!r} and questions_to_read has not; make the database again "
            "from the files"
        )
    scores, stand_ins = _scores_of(scored), _stand_ins_of(scored)
    order = sorted(answers, key=place.__getitem__)
    yield f"scores-{number}", sealed(_columns(order, place, scores))
    shown = [
        {"answers": _conditions(answers[question], scores[question]), "stand_ins": stand_ins[question]}
        for question in order
    ]
    yield from _shards(f"answers-{number}", shown)


def _shards(name: str, rows: Sequence[object]) -> Iterator[Block]:
    for number, start in enumerate(range(0, len(rows), SHARD)):
        yield f"{name}-{number}", sealed(rows[start : start + SHARD])


def _answers_of(rows: pd.DataFrame) -> dict[str, dict[str, _Answers]]:
    by_question: dict[str, dict[str, _Answers]] = defaultdict(dict)
    columns = ("question_id", "condition", "sample", "answer_group", "text", "log_probability", "finished")
    for question, condition, sample, group, text, log_probability, finished in zip(
        *(rows[name].tolist() for name in columns), strict=True
    ):
        answers = by_question[question].setdefault(condition, _Answers(None, []))
        answer = _Answer(text, round(log_probability, 2), bool(finished))
        if pd.isna(sample):
            answers.greedy = answer
        else:
            answers.samples.append((None if pd.isna(group) else group, answer))
    return by_question


def _scores_of(rows: pd.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    by_question: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in records(rows):
        by_question[row["question_id"]][row["condition"]] = _present(row, _SCORES)
    return by_question


def _stand_ins_of(rows: pd.DataFrame) -> dict[str, list[str]]:
    by_question: dict[str, list[str]] = defaultdict(list)
    for question, stand_in in rows[["question_id", "stand_in"]].dropna().drop_duplicates().itertuples(index=False):
        by_question[question].append(stand_in)
    return by_question


def _columns(
    order: Sequence[str], place: Mapping[str, int], scores: Mapping[str, Mapping[str, Mapping[str, Any]]]
) -> dict[str, list[Any]]:
    def column(condition: str, name: str) -> list[Any]:
        return [scores[question].get(condition, {}).get(name) for question in order]

    return {
        "place": [place[question] for question in order],
        **{f"entropy_{condition}": column(condition, "semantic_entropy") for condition in CONDITIONS},
        **{f"persuasion_{condition}": column(condition, "coherent_persuasion") for condition in CONTEXTS},
        **{f"outcome_{condition}": column(condition, "outcome") for condition in CONTEXTS},
    }


def _conditions(answers: Mapping[str, _Answers], scores: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    return {
        condition: {
            "greedy": answers[condition].greedy,
            "groups": _groups(answers[condition].samples),
            "scores": scores.get(condition, {}),
        }
        for condition in CONDITIONS
        if condition in answers
    }


def _groups(samples: Sequence[tuple[int | None, _Answer]]) -> list[list[Any]]:
    """The groups, the largest first, each with its different answers and how often they occur."""
    groups: dict[int | None, Counter[_Answer]] = defaultdict(Counter)
    for group, answer in samples:
        groups[group][answer] += 1
    ordered = sorted(groups.values(), key=lambda answers: -answers.total())
    return [[(*answer, count) for answer, count in answers.most_common()] for answers in ordered]


def _present(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The values that are there, as JSON has them."""
    values = {name: _plain(row[name]) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: Any) -> str | float | bool | None:
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return round(value, 4) if isinstance(value, float) else value
