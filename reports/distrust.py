"""What a reader should distrust in the answer of a page, each in a sentence; nothing where there is nothing."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.reports.card import StudyCard
from swaymeter.reports.estimates import by_hand, cut_off, not_answered, plural, served, stating_neither, undecided
from swaymeter.reports.findings import of_answers
from swaymeter.reports.frames import Frames, are_own, by_entity, records, where
from swaymeter.reports.headline import Claim, widest
from swaymeter.reports.tables import of_judges

WIDE = 10
"""From half an interval of so many percentage points on, a share is said to rest on few items."""
HARDLY = 0.25
"""A model that is right without a context less often than this is said to hardly know the facts."""
DISTRUST_QUERIES = (
    "stand_ins", "unfinished_greedy_answers", "greedy_answers_of_neither", "undecided_greedy_answers",
    of_judges.QUERY, "served_models", "statistics_in_short", "statistics", "setup", "outcomes", "models_side_by_side",
    "answers_judged_by_hand", "verdicts_to_read",
)  # fmt: skip


def distrust(card: StudyCard, frames: Frames, claims: Sequence[Claim]) -> list[str]:
    """The sentences, the gravest first."""
    half = widest(claims)
    sentences = [
        f"Parts of the study are missing: {plural(len(card.not_run), 'piece')} of work, listed at the end." * bool(
            card.not_run
        ),
        _few_questions(frames["setup"]),
        f"Few items: a share above is known to ±{half:.0f} points only." * (half >= WIDE),
        _few_entities(frames),
        *_of_papers(frames),
        _stand_ins(frames),
        cut_off(frames["unfinished_greedy_answers"]),
        not_answered(frames["unfinished_greedy_answers"]),
        stating_neither(frames["greedy_answers_of_neither"]),
        undecided(frames["undecided_greedy_answers"]),
        of_judges.sentences(frames),
        *by_hand(frames["answers_judged_by_hand"], frames["verdicts_to_read"]),
        served(frames["served_models"]),
    ]
    return [sentence.strip() for sentence in sentences if sentence]


def _few_questions(setup: pd.DataFrame) -> str:
    asked = int(where(setup, quantity="questions")["total"].sum()) if len(setup) else 0
    few = 0 < asked < FEWEST_FOR_INTERVAL
    return f"Few items: {plural(asked, 'question')}: no share or mean here can be relied on." * few


def _few_entities(frames: Frames) -> str:
    short, tests = by_entity(frames["statistics_in_short"]), by_entity(frames["statistics"])
    if untestable := int(short["untestable"].sum()) if len(short) else 0:
        return (
            f"Few entities: {plural(untestable, 'test')} by entity could not become significant, whatever was measured."
        )
    fewest = int(tests[["n_a", "n_b"]].to_numpy().min()) if len(tests) else 0
    few = 0 < fewest < FEWEST_FOR_INTERVAL
    return f"Few entities: {fewest} of a group in a relation, too few for an interval." * few


def _of_papers(frames: Frames) -> list[str]:
    """What the questions of a paper cannot show: that an answer resists, that a model gives up what it never knew."""
    if are_own(frames["outcomes"]):
        return []
    known = where(frames["models_side_by_side"], quantity="correct", group="none")
    none: dict[str, Any] = {"mean": 1.0, "n": 0, "unit": ""}
    most = max(records(known), key=lambda row: float(row["mean"]), default=none)
    by_rule = frames["outcomes"]["following_stubborn"].sum() if len(frames["outcomes"]) else 0
    return [
        "Stubborn by ROUGE-L is not resistance: longer answers in the same frame are alike to it." * bool(by_rule),
        f"Without a context {'at most ' * (len(known) > 1)}{of_answers(most)} of {most['n']} answers are right: "
        "there is little memory to counter." * (most["mean"] < HARDLY),
    ]  # fmt: skip


def _stand_ins(frames: Frames) -> str:
    rows = frames["stand_ins"]
    if rows.empty:
        return ""
    words = [
        f"{', '.join(sorted({str(name).replace('_', ' ') for name in some}))} ({text})"
        for text, some in rows.groupby("stand_in")["measure"]
    ]
    return f"Not to be compared with published values: {'; '.join(words)}."
