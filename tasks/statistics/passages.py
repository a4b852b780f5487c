"""What of several passages an answer follows: their kind and place, their length and date, and what stands beside them.

An answer *states* a passage if its verdict is that passage's answer, or both. Of a mixed context the verdict `original`
is the right passage's and `context` the wrong one's; of a context with one of the two, `context` is that one's.

    stated      share of answers that state the right or the wrong passage, by set and place: first, middle, last, or
                alone where it is the only passage. Of several passages of a kind the first one's place counts.
    cites, cited_exist, citation_right, names_conflict   shares of greedy answers, by condition: that cite a passage;
                of these, that cite passages that there are, and that cite one that states the answer; of mixed
                contexts, that name the conflict (tasks/scoring/citations.py)
    passage_persuasion   mean in nats of how far a passage moves the next token, by its kind and place

    effect      a                        b                         of
    position    it stands first          it stands last            a passage of a kind, in a set of two or more
    length      states the longer one    states the shorter one    the right and the wrong passage of a mixed context
    date        states the newer one     states the older one      likewise, where the form writes dates and both have
                                                                   one such as 2026-03-01, equally exact
    beside      in the set               alone                     a passage of a kind: how far the others dilute it

Each effect is a difference of two means of the same questions: first a question's mean over its contexts, then the mean
of the questions. A model that always states the right passage would seem to follow the longer one wherever that is the
right one; so length and date are the mean of two halves with equal weight, of the questions where the right one is
longer (newer) and of those where the wrong one is. Where one half has fewer than 5 questions there is no test.
Contexts that did not fit the model's window are left out. Intervals and tests take subjects as independent (a question
where none is named): `paired`, signs of whole clusters turned; where every question has the same difference there is no
interval. p_adjusted is over all effects of a study. What it is not: a comparison of different questions.
"""

import re
from collections.abc import Iterator
from typing import Any

from swaymeter.data.records.statistics import ALPHA, FEWEST_FOR_INTERVAL, SHARE, PassageEffect, Summary
from swaymeter.tasks.statistics.formulas.groups import adjust
from swaymeter.tasks.statistics.formulas.paired import Paired, paired_difference
from swaymeter.tasks.statistics.frames import by, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, Mean

QUERY = "answers_of_passages"
CITATIONS, PERSUASION = "citations_of_answers", "persuasion_of_passages"
KINDS = {"supporting": "right", "conflicting": "wrong"}
"""The kinds of passages that state an answer, and what they are called in columns."""
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
OF = ("evidence_set", "kind")


def stated(answers: Frame) -> Frame:
    """A row for each answer and kind of passage before it: by set, kind, position, cluster and question, the value."""
    import pandas as pd

    answers = answers.assign(cluster=answers["subject_key"].astype(str))
    verdict, mixed = answers["verdict"].astype(object), answers["condition"].astype(object) == "mixed"
    parts = []
    for kind, side in KINDS.items():
        at = answers[f"{side}_at"].astype("Float64")
        own = verdict.isin(("context", "both"))
        if side == "right":
            own = own.mask(mixed, verdict.isin(("original", "both")))
        place = at.map({1: "first"}).astype(object).fillna("middle")
        place = place.mask((at == answers["passages"]).fillna(value=False).astype(bool), "last")
        place = place.mask(answers["passages"] == 1, "alone")
        parts.append(answers.assign(kind=kind, position=place, value=own.astype(float))[at.notna()])
    columns = [*MODEL, *OF, "position", "cluster", "question_id", "context_id"]
    return sorted_by(pd.concat(parts, ignore_index=True)[[*columns, "value"]], columns)


def means(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary`: shares of answers, and the persuasion of passages, each with its interval."""
    over: dict[str, Any] = {"interval": True, "over": "question"}
    by_place = Mean("stated", (*MODEL, *OF, "position"), "answer", SHARE, column="value", **over)
    rows = by_place.rows(stated(frames[QUERY]), seed) if len(frames[QUERY]) else []
    cited, moved = (
        frames[name].assign(cluster=frames[name]["subject_key"].astype(str)) for name in (CITATIONS, PERSUASION)
    )
    for quantity in ("cites", "cited_exist", "citation_right", "names_conflict"):
        rows += Mean(quantity, (*MODEL, "condition"), "answer", SHARE, needs=(quantity,), **over).rows(cited, seed)
    rows += Mean("passage_persuasion", (*MODEL, "kind", "position"), "passage", **over).rows(moved, seed)
    return rows


def pairs(answers: Frame) -> Iterator[tuple[Row, Frame]]:
    """Each effect with the two means of every question that has both: columns cluster, a, b."""
    of_passages = stated(answers)
    for about, rows in by(of_passages, (*MODEL, *OF)):
        yield {"effect": "position", "a": "first", "b": "last", **about}, _beside(rows, "position", "first", "last")
    for about, rows in by(of_passages, (*MODEL, "kind")):
        alone = rows[rows["position"] == "alone"].assign(within="alone")
        for name, in_set in rows[rows["position"] != "alone"].groupby("evidence_set", sort=True, observed=True):
            both = _beside(_joined(in_set.assign(within="in the set"), alone), "within", "in the set", "alone")
            yield {"effect": "beside", "a": "in the set", "b": "alone", "evidence_set": str(name), **about}, both
    mixed = answers[answers["condition"].astype(object) == "mixed"]
    for about, rows in by(mixed.assign(kind="both"), (*MODEL, *OF)):
        for effect, a, b, larger in (
            ("length", "longer", "shorter", _larger(rows["right_length"], rows["wrong_length"])),
            ("date", "newer", "older", _larger(*(_dated(rows[f"{side}_date"]) for side in ("right", "wrong")))),
        ):
            yield {"effect": effect, "a": a, "b": b, **about}, _sides(rows, larger)


def _joined(*frames: Frame) -> Frame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def _beside(rows: Frame, column: str, a: str, b: str) -> Frame:
    """Each question's mean of a and of b, of those that have both."""
    means = rows.groupby(["cluster", "question_id", column], observed=True)["value"].mean().unstack(column)
    return means.reindex(columns=[a, b]).dropna().set_axis(["a", "b"], axis=1).reset_index()


def _dated(dates: Any) -> Any:
    """The dates that can be compared; None in place of others."""
    import pandas as pd

    known = [date if isinstance(date, str) and _DATE.fullmatch(date) else None for date in dates.astype(object)]
    return pd.Series(known, index=dates.index, dtype=object)


def _larger(right: Any, wrong: Any) -> Any:
    """Whether the right one is larger: True, False, or None where neither is, or one is not known."""
    import pandas as pd

    known = right.notna() & wrong.notna()

    def larger(a: Any, b: Any) -> bool | None:
        exact = not isinstance(a, str) or len(a) == len(b)  # 2026 is neither before nor after 2026-03-01
        return bool(a > b) if exact and a != b else None

    values = [larger(a, b) if ok else None for ok, a, b in zip(known, right, wrong, strict=True)]
    return pd.Series(values, index=right.index, dtype=object)


def _sides(rows: Frame, larger: Any) -> Frame:
    """Each question's share of answers that state the larger and the smaller of its two passages.

    Twice of a question with several passages of a kind, where the right one is the larger in some orders alone.
    """
    rows = rows.assign(cluster=rows["subject_key"].astype(str), larger=larger)[larger.notna()]
    verdict = rows["verdict"].astype(object)
    right, wrong = (verdict.isin((own, "both")).astype(float) for own in ("original", "context"))
    is_right = rows["larger"].astype(bool)
    rows = rows.assign(a=right.where(is_right, wrong), b=wrong.where(is_right, right), half=is_right)
    return rows.groupby(["cluster", "question_id", "half"], observed=True)[["a", "b"]].mean().reset_index()


def effects(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `PassageEffect`."""
    rows: list[Row] = []
    for about, both in pairs(frames[QUERY]):
        if len(both):
            means, paired = _compared(both, seed)
            rows.append({**about, **means, "unit": SHARE, **paired._asdict(), "p_adjusted": None, "verdict": None})
    return adjusted(rows)


def _compared(both: Frame, seed: int) -> tuple[Row, Paired]:
    """The two means and their difference, of halves with equal weight where there are any.

    Where every question has the same difference, no interval says how sure that is, and none is given.
    """
    halves = both["half"].value_counts() if "half" in both else None
    weights = both["half"].map(1 / halves) * len(both) / len(halves) if halves is not None else 1.0
    a, b = both["a"] * weights, both["b"] * weights
    means = {"mean_a": float(a.mean()), "mean_b": float(b.mean())}
    paired = paired_difference(a - b, both["cluster"], seed)
    if halves is not None and (len(halves) < 2 or halves.min() < FEWEST_FOR_INTERVAL):
        why = f"fewer than {FEWEST_FOR_INTERVAL} questions where the right one is, or the wrong one is"
        paired = paired._replace(low=None, high=None, p=None, untestable=why)
    elif (both["a"] - both["b"]).nunique() == 1:
        paired = paired._replace(low=None, high=None)
    return means, paired


def adjusted(rows: list[Row]) -> list[Row]:
    """The rows with p_adjusted over all of them, and the verdict."""
    for row in adjust(rows, ()):
        if row["p_adjusted"] is not None:
            clear = row["p_adjusted"] <= ALPHA and (row["low"] is None or not row["low"] <= 0 <= row["high"])
            row["verdict"] = ("larger" if row["difference"] > 0 else "smaller") if clear else "undecided"
    return rows


MEANS = Statistic("passage_means", 3, Summary, (QUERY, CITATIONS, PERSUASION), means)
EFFECTS = Statistic("passage_effects", 3, PassageEffect, (QUERY,), effects)
