"""The data of the page of answers: blocks of JSON. The page's script parses a block when it needs the block.

A case is a question without a context, or with one of its contexts. The case without a context comes first.

index         the columns of every question that the list and the search need, and the values of the menus
texts-K       contexts, right answers, ids and counts of questions 100*K to 100*K + 99 of the index
scores-M      greedy replies of model M and scores by which the list is filtered and sorted, in columns. A row is a
              question with replies of the model. The column `place` has the question's position in the index; a cell of
              any other column has a value for each case of the question
answers-M-K   sampled replies and all scores, case by case, of rows 100*K to 100*K + 99 of scores-M

Names of columns from a user's file are values of this JSON and never keys.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from swaymeter.data.errors import InputError
from swaymeter.data.records import CONDITIONS, CONFLICTING, SUPPORTING
from swaymeter.reports.frames import Frames, are_own, partitions, present, records
from swaymeter.reports.models import models, rows_of
from swaymeter.reports.page.shell import script_json
from swaymeter.reports.words import CONDITION_NAMES, outcome

SHARD = 100
"""Number of questions in a block texts-K or answers-M-K."""
MAX_CHOICES = 50
"""Upper bound on the values of a column with a menu."""
_LISTED = ("question_id", "question", "subject", "relation", "partition", "object", "replacement")
"""Columns of a question in the index."""
_TEXTS = (
    "accepted",
    "subject_id",
    "property_id",
    "object_id",
    "edits",
    "subject_popularity",
    "object_popularity",
)
"""Columns of a question in texts-K."""
_SCORES = (
    "semantic_entropy",
    "semantic_entropy_standard_error",
    "coherent_persuasion",
    "coherent_persuasion_standard_error",
    "verdict",
    "reason",
    "outcome",
    "decided_by",
    "decider",
    "samples_that_follow",
    "accurate",
    "persuaded_as_published",
    "stubborn_as_published",
    "context_cut",
)
"""Scores of a case in answers-M-K."""
_MISSING = {
    "unfinished_thoughts": "its thoughts did not end",
    "withheld": "the content filter of the server withheld it",
    "failed": "the application failed",
    "unrecorded": "the row has no reply",
}
"""Reason for a missing reply, by the state of the reply."""
_NUMBERS = {"entropy": "semantic_entropy", "persuasion": "coherent_persuasion"}
"""Name of the score in each numeric column of scores-M."""
OUTCOMES = ("persuaded", "agreed", "stubborn", "other")
_LETTERS = ("verdict", "reason", "outcome")
"""Scores that are words. Their columns in scores-M have the first letter of each word, and "-" for a missing score."""
_ORDER: Mapping[str, int] = {condition: number for number, condition in enumerate(CONDITIONS)}
"""Position of each condition among the contexts of a question."""
_JUDGEMENT = ("question_id", "context_id", "field", "judged", "value", "annotator", "note", "variant", "sample")
"""Columns of a file of judgements."""

Block = tuple[str, Markup]
"""A data block of the page: the id of its element, and its JSON."""
Contexts = Mapping[str, Sequence[Mapping[str, Any]]]
"""Contexts by question id, in the order of the page."""


def options(frames: Frames) -> dict[str, Any]:
    """Return the options of the page, such as its models; `own` is True for a user's own questions."""
    answers, scores = frames["answers_to_read"], frames["answers_of_questions"]
    return {
        "models": [str(model) for model in models(answers)],
        "conditions": {name: CONDITION_NAMES[name] for name in present(answers, "condition", CONDITIONS)},
        "own": are_own(answers),
        "outcomes": {name: outcome(name, own=are_own(answers)) for name in OUTCOMES},
        "judges": sorted(set(frames["judged_greedy_answers"].get("judge", ()))),
        "flipped": any(_flipped(rows_of(frames["changes_since_last_run"], model)) for model in models(answers)),
        "measured": [name for name in _SCORES if name in scores and scores[name].notna().any()],
    }


def blocks(frames: Frames) -> Iterator[Block]:
    """Yield every block. Each block is made only when it is requested.

    Raises:
        InputError: The frames lack the question of an answer.
    """
    questions = sorted(
        records(frames["questions_to_read"]), key=lambda row: (row["question"].casefold(), row["question_id"])
    )
    position = {row["question_id"]: number for number, row in enumerate(questions)}
    settings = options(frames)
    choices = {
        "partitions": partitions(frames["questions_to_read"]),
        "relations": sorted({row["relation"] for row in questions}),
    }
    contexts = defaultdict(list, _contexts_of(frames["contexts_to_read"]))
    # For the script: the conditions in which a context states the original answer, or states another answer.
    sides = {"supporting": SUPPORTING, "conflicting": {*CONFLICTING, "mixed"}}
    by_side = {side: [name for name in settings["conditions"] if name in names] for side, names in sides.items()}
    settings["judgements"] = [{name: row[name] for name in _JUDGEMENT} for row in records(frames["judgements_to_read"])]
    yield "index", script_json({**settings, **choices, **by_side, "shard": SHARD, **_listed(questions, contexts)})
    yield from _shards("texts", [_texts(row, contexts[row["question_id"]]) for row in questions])
    for number, model in enumerate(models(frames["answers_to_read"])):
        rows, scored = (rows_of(frames[name], model) for name in ("answers_to_read", "answers_of_questions"))
        judged = rows_of(frames["judged_greedy_answers"], model)
        flipped = _flipped(rows_of(frames["changes_since_last_run"], model))
        yield from _model_cases(number, rows, scored, judged, flipped, position, contexts)


def _listed(questions: Sequence[Mapping[str, Any]], contexts: Contexts) -> dict[str, Any]:
    """Return the questions in columns, and the names of a user's further columns with the choices of their menus."""
    others = [_texts_by_column(row["other_columns"]) for row in questions]
    values: dict[str, set[str]] = defaultdict(set)
    for name, value in (cell for row in others for cell in row.items()):
        values[name].add(value)
    column_numbers = {name: number for number, name in enumerate(sorted(values))}
    listed: dict[str, list[Any]] = {name: [row[name] for row in questions] for name in _LISTED}
    listed["contexts"] = [  # the condition of each context, with its id if the id is another text
        [(case["condition"], *([case["id"]] if case["id"] != case["condition"] else [])) for case in contexts[name]]
        for name in listed["question_id"]
    ]
    listed["others"] = [[(column_numbers[name], value) for name, value in row.items()] for row in others]
    choices = [sorted(values[name]) if 2 <= len(values[name]) <= MAX_CHOICES else [] for name in column_numbers]
    return {"columns": list(zip(column_numbers, choices, strict=True)), "questions": listed}


def _texts_by_column(columns: object) -> dict[str, str]:
    values = json.loads(columns) if isinstance(columns, str) else {}
    texts = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values.values())
    return dict(zip(values, texts, strict=True))


def _contexts_of(rows: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    by_question: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in records(rows):
        context = {"id": row["context_id"], "condition": row["condition"], "text": row["text"]}
        right, states = json.loads(row["right_answers"]), json.loads(row["answers"])
        by_question[row["question_id"]].append({**context, "states": states, "right": right})
    return {
        question: sorted(contexts, key=lambda context: (_ORDER[context["condition"]], context["id"]))
        for question, contexts in by_question.items()
    }


def _texts(question: Mapping[str, Any], contexts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the texts of a question for a block texts-K; the right answers are the same for all contexts."""
    shown = [{name: context[name] for name in ("text", "states")} for context in contexts]
    return {**_without_missing(question, _TEXTS), "right": contexts[0]["right"] if contexts else [], "contexts": shown}


def _model_cases(
    number: int,
    rows: pd.DataFrame,
    scored: pd.DataFrame,
    judged: pd.DataFrame,
    flipped: Mapping[tuple[str, str], tuple[str, str]],
    position: Mapping[str, int],
    contexts: Contexts,
) -> Iterator[Block]:
    """Yield the blocks scores-M and answers-M-K of a model, whose number is M.

    Args:
        rows: Replies of the model.
        scored: Scores of the model, a row for each question and context.
        judged: The model's rows of `judged_greedy_answers`, with the verdicts of the judge and of the rule.
        flipped: Reply and verdict of the previous run, by question and context id.
        position: Position in the index by question id.
    """
    replies = _replies_of(rows)
    if unknown := sorted(replies.keys() - position.keys()):
        raise InputError(
            f"the database has replies to the question {unknown[0]!r}, but not the question; run the study with "
            "--stage aggregate"
        )
    measured = [name for name in _SCORES if name in scored and scored[name].notna().any()]
    scores = {
        (row["question_id"], row["context_id"]): _without_missing(row, measured)
        for row in records(scored[["question_id", "context_id", *measured]])
    }
    for case_scores in scores.values():
        if "verdict" in case_scores and "decided_by" not in case_scores:  # neither rule nor judge nor person decided
            case_scores["verdict"] = "undecided"
    for row in records(judged):
        is_comparable = isinstance(row["rule"], str) and isinstance(row["verdict"], str)
        judge_scores = {"unjudged": row["unjudged"]}
        judge_scores |= {"judged": row["verdict"], "agree": row["verdict"] == row["rule"]} if is_comparable else {}
        case_scores = scores.setdefault((row["question_id"], row["context_id"]), {})
        case_scores.update(_without_missing(judge_scores, [*judge_scores]))
    for key, before in flipped.items():
        scores.setdefault(key, {})["before"] = before
    stand_ins: dict[str, list[str]] = defaultdict(list)
    for question, stand_in in scored[["question_id", "stand_in"]].dropna().drop_duplicates().itertuples(index=False):
        stand_ins[question].append(stand_in)
    answered = sorted(replies, key=position.__getitem__)
    ids = {question: ("none", *(context["id"] for context in contexts[question])) for question in answered}
    cases = [
        [_with_scores(replies[question].get(name), scores.get((question, name), {})) for name in ids[question]]
        for question in answered
    ]
    yield f"scores-{number}", script_json({"place": [position[question] for question in answered], **_columns(cases)})
    shown = [
        {"cases": [_without_text(case) for case in question_cases], "stand_ins": stand_ins[question]}
        for question, question_cases in zip(answered, cases, strict=True)
    ]
    yield from _shards(f"answers-{number}", shown)


def _flipped(changes: pd.DataFrame) -> dict[tuple[str, str], tuple[str, str]]:
    """Return the previous run's reply and verdict for each flipped reply, by question and context id.

    A reply is left out if the text of its question or context differs between the runs.
    """
    flips = {}
    for row in records(changes[changes["kind"] == "reply"] if len(changes) else changes):
        if not (isinstance(row["state_before"], str) and isinstance(row["state"], str)):
            continue
        before, now = json.loads(row["state_before"]), json.loads(row["state"])
        if before["texts"] == now["texts"] and before.get("verdict") and before["verdict"] != now.get("verdict"):
            question, context = row["item"].split(_BETWEEN_IDS)
            flips[question, context] = (before.get("answer", ""), before["verdict"])
    return flips


_BETWEEN_IDS = "\x1f"  # separates the question's id from the context's id in the column `item`


def _shards(name: str, rows: Sequence[object]) -> Iterator[Block]:
    for number, start in enumerate(range(0, len(rows), SHARD)):
        yield f"{name}-{number}", script_json(rows[start : start + SHARD])


def _replies_of(rows: pd.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the replies of each case, by question and context id.

    "greedy" has the greedy reply. "groups" has a `Counter` of equal sampled replies for each cluster.
    A reply is a tuple: text, log-probability, True if the text ended before the limit of tokens, thoughts, and the
    reason if the text is missing.
    """
    by_question: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in records(rows[rows["state"] != "not_asked"]):  # not_asked: a user's file of replies lacks the case
        reason = _MISSING.get(row["state"], "") if pd.isna(row["error"]) else row["error"]
        is_scored = not reason and not pd.isna(row["log_probability"])
        log_probability = round(row["log_probability"], 2) if is_scored else None
        reply = (row["text"], log_probability, row["state"] != "truncated", row["thoughts"], reason)
        new_case: dict[str, Any] = {"greedy": None, "groups": defaultdict(Counter)}
        case = by_question[row["question_id"]].setdefault(row["context_id"], new_case)
        if pd.isna(row["sample"]):
            case["greedy"] = reply
        else:
            case["groups"][None if pd.isna(row["answer_group"]) else row["answer_group"]][reply] += 1
    return by_question


def _with_scores(case: Mapping[str, Any] | None, scores: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the replies and scores of a case; the largest cluster comes first."""
    if case is None:
        return None
    ordered = sorted(case["groups"].values(), key=lambda replies: -replies.total())
    groups = [[(*reply, count) for reply, count in replies.most_common()] for replies in ordered]
    return {"greedy": case["greedy"], "groups": groups, "scores": scores}


def _without_text(case: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a case without the text of its greedy reply, because scores-M has this text."""
    return {**case, "greedy": case["greedy"] and case["greedy"][1:]} if case else None


def _columns(rows: Sequence[Sequence[Mapping[str, Any] | None]]) -> dict[str, list[Any]]:
    """Return the columns of scores-M that have a value.

    Args:
        rows: Cases of each question.
    """
    columns: dict[str, list[Any]] = {
        "greedy": [[case["greedy"][0] if case and case["greedy"] else None for case in row] for row in rows],
        "ended": ["".join(map(_ended, row)) for row in rows],
        "judged": ["".join(map(_judged, row)) for row in rows],
    }
    for name in _LETTERS:
        columns[name] = ["".join((case or _NO_CASE)["scores"].get(name, "-")[0] for case in row) for row in rows]
    for name, score in {**_NUMBERS, "by": "decider", "before": "before"}.items():
        columns[name] = [[(case or _NO_CASE)["scores"].get(score) for case in row] for row in rows]
    empty = ({"-"}, {None})
    return {name: values for name, values in columns.items() if {cell for row in values for cell in row} not in empty}


_NO_CASE: Mapping[str, Any] = {"scores": {}}


def _ended(case: Mapping[str, Any] | None) -> str:
    """Return the end of a greedy reply as a letter: f finished, u unfinished, l missing (lost), - not requested."""
    if case is None or case["greedy"] is None:
        return "-"
    _, _, finished, _, reason = case["greedy"]
    return "l" if reason else "f" if finished else "u"


def _judged(case: Mapping[str, Any] | None) -> str:
    """Return the first letter of the judge's verdict, or "-". A capital letter says that the rule's verdict differs."""
    scores = (case or _NO_CASE)["scores"]
    letter: str = scores.get("judged", "-")[0]
    return letter.upper() if scores.get("agree") is False else letter


def _without_missing(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the named values of a row as values of JSON, without missing values."""
    values = {name: _plain(row[name]) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: Any) -> str | float | bool | None:
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return round(value, 4) if isinstance(value, float) else value
