"""The page to read the answers: one HTML file with every question, context and answer, that needs nothing from outside.

What it shows comes from models and from the web. It travels as JSON in which no character is markup, and the page's
script puts it on the screen as text only; the policy of the page would refuse anything else.

What the page knows is cut into blocks of JSON that its script parses when they are needed:

index         every question in few words, and what one can choose by: what list, choices and search begin with
texts-K       contexts and ids of questions 100 K to 100 K + 99 of the index
scores-M      of model M, in columns: what the list shows and sorts by; a row is a question that it answered, a cell has
              a value for each of its contexts of a kind; with a judge, whether one of its verdicts is not the rule's
answers-M-K   of rows 100 K to 100 K + 99 of scores-M: the answers and all scores, context by context

Names from a file of one's own are values here and never keys.
"""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from swaymeter.data.digests import integrity
from swaymeter.data.errors import InputError
from swaymeter.data.records import CONDITIONS, SUPPORTING
from swaymeter.reports.card import StudyCard
from swaymeter.reports.estimates import limits, thinking
from swaymeter.reports.frames import Frames, are_own, partitions, present, records
from swaymeter.reports.models import models, rows_of
from swaymeter.reports.page import linked
from swaymeter.reports.page.shell import asset, sealed, written
from swaymeter.reports.words import CONDITION_NAMES

FILE = "answers.html"
ANSWERS_QUERIES = (
    "answers_to_read", "questions_to_read", "contexts_to_read", "answers_of_questions", "unfinished_greedy_answers",
    "judged_greedy_answers",
)  # fmt: skip
SCRIPTS = (
    "element.js", "search.js", "data.js", "choices.js", "state.js", "list.js", "question.js", "answers.js",
)  # fmt: skip
FEW_CONDITIONS = 3
"""Up to so many the list is a table in a wide window; otherwise its rows are cards."""
GROUP_HUES = (
    "#2f70ca", "#c8432f", "#208149", "#9157bb", "#a0631c", "#c4398a", "#147c8d", "#727519", "#687184", "#6c63cb",
)  # fmt: skip
"""Hues of groups, as light as one another: white letters are read on them, and they on both papers."""


def write_answers(frames: Mapping[str, pd.DataFrame], folder: Path, card: StudyCard) -> str:
    """Writes the page, piece by piece, into `folder` and returns its file name; without answers nothing, and ""."""
    if frames["answers_to_read"].empty:
        return ""
    hues = "".join(f".hue-{number}{{--hue:{hue}}}" for number, hue in enumerate(GROUP_HUES))
    known = options(frames)
    cards = asset(__name__, "cards.css")
    if len(known["conditions"]) <= FEW_CONDITIONS:
        cards = f"@media (max-width:56rem){{{cards}}}"
    css = asset(__name__, "answers.css") + cards + hues
    script = "\n".join(asset(__name__, file) for file in SCRIPTS)
    written(
        __name__, "answers.html", css, {"linked": linked}, card=card, options=known,
        questions=len(frames["questions_to_read"]), blocks=blocks(frames), script=Markup(script),
        limits=thinking(frames["unfinished_greedy_answers"]) + limits(frames["unfinished_greedy_answers"]),
        script_hash=integrity(script),
    ).dump(str(folder / FILE), encoding="utf-8")  # fmt: skip
    return FILE


SHARD = 100
MOST_CHOICES = 50
"""How many different values a column may have to be chosen from."""
_LISTED = ("question_id", "question", "subject", "relation", "partition", "object", "replacement")
_TEXTS = (
    "accepted", "subject_id", "property_id", "object_id", "edits", "subject_popularity", "object_popularity",
)  # fmt: skip
_SCORES = (
    "semantic_entropy", "semantic_entropy_standard_error", "coherent_persuasion",
    "coherent_persuasion_standard_error", "verdict", "reason", "outcome",
    "samples_that_follow", "accurate", "persuaded_as_published", "stubborn_as_published", "context_cut",
)  # fmt: skip
_LOST = {
    "unfinished_thoughts": "its thoughts did not end", "withheld": "the content filter of the server withheld it",
}  # fmt: skip
"""Why there is no answer, by the column that says so."""
_SHOWN = {"entropy": "semantic_entropy", "persuasion": "coherent_persuasion", "outcome": "outcome"}
_ORDER: Mapping[str, int] = {condition: at for at, condition in enumerate(CONDITIONS)}

Block = tuple[str, Markup]
"""A data block of the page: the id of its element, and its JSON."""


def options(frames: Frames) -> dict[str, Any]:
    """What the page's own words follow from: models, kinds of context, and whether the questions are one's own."""
    answers = frames["answers_to_read"]
    return {
        "models": [str(model) for model in models(answers)],
        "conditions": {name: CONDITION_NAMES[name] for name in present(answers, "condition", CONDITIONS)},
        "own": are_own(answers),
        "judges": sorted(set(frames["judged_greedy_answers"]["judge"])),
    }


def blocks(frames: Frames) -> Iterator[Block]:
    """Every block, made one after another; InputError where an answer's question is not there."""
    questions = sorted(
        records(frames["questions_to_read"]), key=lambda row: (row["question"].casefold(), row["question_id"])
    )
    place = {row["question_id"]: at for at, row in enumerate(questions)}
    known = options(frames)
    choices = {
        "partitions": partitions(frames["questions_to_read"]),
        "relations": sorted({row["relation"] for row in questions}),
    }
    yield "index", sealed({**known, **choices, "shard": SHARD, **_listed(questions)})
    contexts = _contexts_of(frames["contexts_to_read"])
    texts = [{**_present(row, _TEXTS), "contexts": contexts.get(row["question_id"], [])} for row in questions]
    yield from _shards("texts", texts)
    for number, model in enumerate(models(frames["answers_to_read"])):
        rows, scored = (rows_of(frames[name], model) for name in ("answers_to_read", "answers_of_questions"))
        judged = rows_of(frames["judged_greedy_answers"], model)
        yield from _of_model(number, rows, scored, judged, place, list(known["conditions"]))


def _listed(questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The questions in columns, and the other columns of their file: name, and values where one can choose by them."""
    others = [_others(row["other_columns"]) for row in questions]
    values: dict[str, set[str]] = defaultdict(set)
    for name, value in (cell for row in others for cell in row.items()):
        values[name].add(value)
    number = {name: at for at, name in enumerate(sorted(values))}
    listed: dict[str, list[Any]] = {name: [row[name] for row in questions] for name in _LISTED}
    listed["others"] = [[(number[name], value) for name, value in row.items()] for row in others]
    choices = [sorted(values[name]) if 2 <= len(values[name]) <= MOST_CHOICES else [] for name in number]
    return {"columns": list(zip(number, choices, strict=True)), "questions": listed}


def _others(columns: object) -> dict[str, str]:
    """The other columns of a question's row, their values as texts."""
    values = json.loads(columns) if isinstance(columns, str) else {}
    texts = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values.values())
    return dict(zip(values, texts, strict=True))


def _contexts_of(rows: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The contexts of each question, with the answers that are to be marked in them."""
    by_question: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in records(rows):
        kind, text = "original" if row["condition"] in SUPPORTING else "replacement", row["text"].lower()
        marks = [(answer, kind) for answer in json.loads(row["answers"]) if answer.lower() in text]
        if row["condition"] == "mixed":
            marks += [(answer, "original") for answer in json.loads(row["right_answers"]) if answer.lower() in text]
        context = {"id": row["context_id"], "condition": row["condition"], "text": row["text"], "marks": marks}
        by_question[row["question_id"]].append(context)
    return {question: sorted(contexts, key=_in_order) for question, contexts in by_question.items()}


def _of_model(
    number: int, rows: pd.DataFrame, scored: pd.DataFrame, judged: pd.DataFrame, place: Mapping[str, int],
    conditions: Sequence[str],
) -> Iterator[Block]:
    answers = _answers_of(rows)
    if unknown := sorted(answers.keys() - place.keys()):
        raise InputError(
            f"answers_to_read has question {unknown[0]!r} and questions_to_read has not; make the database again "
            "from the files"
        )
    scores = {(row["question_id"], row["context_id"]): _present(row, _SCORES) for row in records(scored)}
    for row in records(judged):
        opinion = {"judged": row["verdict"], "unjudged": row["unjudged"], "agree": row["agree"]}
        scores.setdefault((row["question_id"], row["context_id"]), {}).update(_present(opinion, [*opinion]))
    stand_ins: dict[str, list[str]] = defaultdict(list)
    for question, stand_in in scored[["question_id", "stand_in"]].dropna().drop_duplicates().itertuples(index=False):
        stand_ins[question].append(stand_in)
    shown = [
        {
            "place": place[question],
            "answers": [_shown(case, scores.get((question, case["id"]), {})) for case in answers[question]],
            "stand_ins": stand_ins[question],
        }
        for question in sorted(answers, key=place.__getitem__)
    ]
    yield f"scores-{number}", sealed(_columns(shown, conditions))
    yield from _shards(f"answers-{number}", shown)


def _shards(name: str, rows: Sequence[object]) -> Iterator[Block]:
    for number, start in enumerate(range(0, len(rows), SHARD)):
        yield f"{name}-{number}", sealed(rows[start : start + SHARD])


def _answers_of(rows: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """The answers to each question, alone and with each of its contexts: the greedy one, the others by their cluster.

    An answer is its text, log-probability, whether it finished, its thoughts, and why it is none; equal ones are
    counted.
    """
    by_question: dict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in records(rows):
        lost = next((why for name, why in _LOST.items() if row[name]), "")
        is_known = not lost and not pd.isna(row["log_probability"])
        log_probability = round(row["log_probability"], 2) if is_known else None
        answer = (row["text"], log_probability, bool(row["finished"]), row["thoughts"], lost)
        case = {"id": row["context_id"], "condition": row["condition"], "greedy": None, "groups": defaultdict(Counter)}
        case = by_question[row["question_id"]].setdefault(row["context_id"], case)
        if pd.isna(row["sample"]):
            case["greedy"] = answer
        else:
            case["groups"][None if pd.isna(row["answer_group"]) else row["answer_group"]][answer] += 1
    return {question: sorted(cases.values(), key=_in_order) for question, cases in by_question.items()}


def _in_order(case: Mapping[str, Any]) -> tuple[int, str]:
    return _ORDER[case["condition"]], case["id"]


def _columns(shown: Sequence[Mapping[str, Any]], conditions: Sequence[str]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {"place": [row["place"] for row in shown]}
    agree = [[case["scores"].get("agree") for case in row["answers"]] for row in shown]
    if any(value is not None for row in agree for value in row):
        columns["differs"] = [False in row for row in agree]
    for (name, score), condition in product(_SHOWN.items(), conditions):
        if name == "entropy" or condition != "none":
            columns[f"{name}_{condition}"] = [
                [case["scores"].get(score) for case in row["answers"] if case["condition"] == condition]
                for row in shown
            ]
    return columns


def _shown(case: Mapping[str, Any], scores: Mapping[str, Any]) -> dict[str, Any]:
    """The answers of a context, the largest group first, each with its different answers and how often they occur."""
    ordered = sorted(case["groups"].values(), key=lambda answers: -answers.total())
    groups = [[(*answer, count) for answer, count in answers.most_common()] for answers in ordered]
    return {**case, "groups": groups, "scores": scores}


def _present(row: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The values that are there, as JSON has them."""
    values = {name: _plain(row[name]) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _plain(value: Any) -> str | float | bool | None:
    if value is None or value is pd.NA or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return round(value, 4) if isinstance(value, float) else value
