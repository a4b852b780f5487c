"""Effects of the kind, position, length, date and company of passages on the answer that a reply states.

A reply *states* a passage if its verdict is that passage's answer, or both. With a mixed context, the verdict
`original` is the right passage's and `context` the wrong passage's. With a context that has one of the two, `context`
is that passage's verdict.

    stated      share of replies that state the right or the wrong passage, by set and position: first, middle, last, or
                alone for the only passage. The first passage of a kind has the position of the kind.
    cites, cited_exist, citation_right, names_conflict   shares of greedy replies, by condition: replies that cite a
                passage; of these, replies whose cited passages exist, and that cite a passage with the stated answer;
                of mixed contexts, replies that name the conflict (tasks/scoring/citations.py)
    passage_persuasion   mean persuasion of the next token by a passage, in nats, by its kind and position

    effect      a                        b                         of
    position    it is first              it is last                a passage of a kind, in a set of two or more
    length      states the longer one    states the shorter one    the right and the wrong passage of a mixed context
    date        states the newer one     states the older one      likewise, if the form writes dates and both passages
                                                                   have one such as 2026-03-01, equally exact
    beside      in the set               alone                     a passage of a kind: its dilution by other passages

Each effect is a difference of two means over the same questions, each with its mean over its contexts. A model that
always states the right passage would seem to follow the longer passage if the right one is longer. So length and date
are the mean of two halves with equal weight: questions whose right passage is longer (newer), and questions whose wrong
passage is. A half with fewer than 5 questions has no test. Contexts that exceed the model's window are left out.

Intervals and tests take subjects as independent (questions if no subject is named); `paired` flips the signs of whole
clusters. Questions with one common difference have no interval. p_adjusted is over all effects of a study. What it is
not: a comparison of different questions.
"""

import re
from collections.abc import Iterator
from typing import Any

from swaymeter.data.records.statistics import ALPHA, FEWEST_FOR_INTERVAL, SHARE, PassageEffect, Summary
from swaymeter.tasks.statistics.formulas.groups import adjust
from swaymeter.tasks.statistics.formulas.paired import PairedDifference, paired_difference
from swaymeter.tasks.statistics.frames import iter_groups, sort_frame
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, Mean

QUERY = "answers_of_passages"
CITATIONS, PERSUASION = "citations_of_answers", "persuasion_of_passages"
KINDS = {"supporting": "right", "conflicting": "wrong"}
"""Kinds of passages that state an answer, and their names in columns."""
_DATE = re.compile(r"\d{4}(-\d\d(-\d\d)?)?")
OF = ("evidence_set", "kind")


def stated_passages(answers: Frame) -> Frame:
    """Return a row for each reply and kind of passage: set, kind, position, cluster, question, and the value 1 or 0."""
    import pandas as pd

    answers = answers.assign(cluster=answers["subject_key"].astype(str))
    verdict, mixed = answers["verdict"].astype(object), answers["condition"].astype(object) == "mixed"
    parts = []
    for kind, side in KINDS.items():
        number = answers[f"{side}_at"].astype("Float64")  # of the first passage of this kind; missing without one
        is_stated = verdict.isin(("context", "both"))
        if side == "right":
            is_stated = is_stated.mask(mixed, verdict.isin(("original", "both")))
        position = number.map({1: "first"}).astype(object).fillna("middle")
        position = position.mask((number == answers["passages"]).fillna(value=False).astype(bool), "last")
        position = position.mask(answers["passages"] == 1, "alone")
        parts.append(answers.assign(kind=kind, position=position, value=is_stated.astype(float))[number.notna()])
    columns = [*MODEL, *OF, "position", "cluster", "question_id", "context_id"]
    return sort_frame(pd.concat(parts, ignore_index=True)[[*columns, "value"]], columns)


def means(frames: Frames, seed: int) -> list[Row]:
    """Return rows of `Summary`: shares of replies, and the persuasion of passages, each with its interval."""
    interval: dict[str, Any] = {"interval": True, "interval_over": "question"}
    stated_means = Mean("stated", (*MODEL, *OF, "position"), "answer", SHARE, column="value", **interval)
    rows = stated_means.rows(stated_passages(frames[QUERY]), seed) if len(frames[QUERY]) else []
    citation_rows, passage_scores = (
        frames[name].assign(cluster=frames[name]["subject_key"].astype(str)) for name in (CITATIONS, PERSUASION)
    )
    for quantity in ("cites", "cited_exist", "citation_right", "names_conflict"):
        rows += Mean(quantity, (*MODEL, "condition"), "answer", SHARE, required=(quantity,), **interval).rows(
            citation_rows, seed
        )
    rows += Mean("passage_persuasion", (*MODEL, "kind", "position"), "passage", **interval).rows(passage_scores, seed)
    return rows


def pairs(answers: Frame) -> Iterator[tuple[Row, Frame]]:
    """Yield each effect with the two means of every question that has both: columns cluster, a, b."""
    replies = stated_passages(answers)
    for about, rows in iter_groups(replies, (*MODEL, *OF)):
        yield (
            {"effect": "position", "a": "first", "b": "last", **about},
            _means_of_both(rows, "position", "first", "last"),
        )
    for about, rows in iter_groups(replies, (*MODEL, "kind")):
        alone = rows[rows["position"] == "alone"].assign(within="alone")
        for name, in_set in rows[rows["position"] != "alone"].groupby("evidence_set", sort=True, observed=True):
            both = _means_of_both(_concat(in_set.assign(within="in the set"), alone), "within", "in the set", "alone")
            yield {"effect": "beside", "a": "in the set", "b": "alone", "evidence_set": str(name), **about}, both
    mixed = answers[answers["condition"].astype(object) == "mixed"]
    for about, rows in iter_groups(mixed.assign(kind="both"), (*MODEL, *OF)):
        is_longer = _larger(rows["right_length"], rows["wrong_length"])
        yield {"effect": "length", "a": "longer", "b": "shorter", **about}, _shares_by_size(rows, is_longer)
        is_newer = _larger(_comparable_dates(rows["right_date"]), _comparable_dates(rows["wrong_date"]))
        yield {"effect": "date", "a": "newer", "b": "older", **about}, _shares_by_size(rows, is_newer)


def _concat(*frames: Frame) -> Frame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def _means_of_both(rows: Frame, column: str, a: str, b: str) -> Frame:
    """Return each question's mean of a and of b, for questions with both."""
    means = rows.groupby(["cluster", "question_id", column], observed=True)["value"].mean().unstack(column)
    return means.reindex(columns=[a, b]).dropna().set_axis(["a", "b"], axis=1).reset_index()


def _comparable_dates(dates: Any) -> Any:
    """Return the dates in a comparable form; None for other values."""
    import pandas as pd

    comparable = [date if isinstance(date, str) and _DATE.fullmatch(date) else None for date in dates.astype(object)]
    return pd.Series(comparable, index=dates.index, dtype=object)


def _larger(right: Any, wrong: Any) -> Any:
    """Return True if the right value is larger, False if the wrong one is, None if they cannot be ordered."""
    import pandas as pd

    complete = right.notna() & wrong.notna()

    def larger(a: Any, b: Any) -> bool | None:
        equally_exact = not isinstance(a, str) or len(a) == len(b)  # 2026 is neither before nor after 2026-03-01
        return bool(a > b) if equally_exact and a != b else None

    values = [larger(a, b) if both else None for both, a, b in zip(complete, right, wrong, strict=True)]
    return pd.Series(values, index=right.index, dtype=object)


def _shares_by_size(rows: Frame, larger: Any) -> Frame:
    """Return each question's share of replies that state the larger and the smaller of its two passages.

    A question with several passages of a kind has two rows if the right passage is larger only in some orders.
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
            means, paired = _compare_means(both, seed)
            rows.append({**about, **means, "unit": SHARE, **paired._asdict(), "p_adjusted": None, "direction": None})
    return adjust_rows(rows)


def _compare_means(both: Frame, seed: int) -> tuple[Row, PairedDifference]:
    """Return the two means and their difference; halves have equal weight.

    If every question has the same difference, no interval measures its uncertainty, and the row has none.
    """
    halves = both["half"].value_counts() if "half" in both else None
    weights = both["half"].map(1 / halves) * len(both) / len(halves) if halves is not None else 1.0
    a, b = both["a"] * weights, both["b"] * weights
    means = {"mean_a": float(a.mean()), "mean_b": float(b.mean())}
    paired = paired_difference(a - b, both["cluster"], seed)
    if halves is not None and (len(halves) < 2 or halves.min() < FEWEST_FOR_INTERVAL):
        reason = f"fewer than {FEWEST_FOR_INTERVAL} questions where the right one is, or the wrong one is"
        paired = paired._replace(low=None, high=None, p=None, untestable=reason)
    elif (both["a"] - both["b"]).nunique() == 1:
        paired = paired._replace(low=None, high=None)
    return means, paired


def adjust_rows(rows: list[Row]) -> list[Row]:
    """Return the rows with p_adjusted over all rows, and the direction."""
    for row in adjust(rows, ()):
        if row["p_adjusted"] is None:
            continue
        interval_has_zero = row["low"] is not None and row["low"] <= 0 <= row["high"]
        if row["p_adjusted"] > ALPHA or interval_has_zero:
            row["direction"] = "undecided"
        else:
            row["direction"] = "larger" if row["difference"] > 0 else "smaller"
    return rows


MEANS = Statistic("passage_means", 3, Summary, (QUERY, CITATIONS, PERSUASION), means)
EFFECTS = Statistic("passage_effects", 4, PassageEffect, (QUERY,), effects)
