"""Effects of a passage's kind, position, length, date and neighbours on the answers that replies state.

A reply *states* a passage if it states the passage's answer. A right passage has the right answer, and a wrong passage
has a wrong answer. With a mixed context, the verdict `original` means the right answer, and `context` the wrong answer.
If a context has passages of only one of the two kinds, `context` means the answer of these passages. With the verdict
`both`, the reply states every right and every wrong passage of its context.

    stated          share of replies that state the right or the wrong passage, by set and position: first, middle,
                    last, or alone for the only passage. Of several passages of a kind, the first gives the position
    cites           share of greedy replies that cite a passage, by condition
    cited_exist     of the citing replies, the share whose cited numbers all belong to a passage
    citation_right  of the citing replies that state an answer, the share that cite a passage with this answer
    names_conflict  of the greedy replies to mixed contexts, the share that name the conflict
    passage_persuasion   mean persuasion of the next token by a passage, in nats, by its kind and position

`tasks/scoring/citations.py` has the rules for citations and conflicts.

An effect is the difference a - b of two shares of replies that state a passage:

    effect      a                        b                          the compared passages
    position    the passage is first     the passage is last        a right or a wrong passage in a set of two or more
    length      the longer passage       the shorter passage        the right and the wrong passage of a mixed context
    date        the newer passage        the older passage          the right and the wrong passage of a mixed context,
                                                                    if the prompt has dates that are equally exact, such
                                                                    as two months: 2026-03 and 2025-11
    beside      the passage is in a set  the passage is alone       a right or a wrong passage

Both shares are means over the same questions; the value of a question is a mean over its contexts. A model that always
states the right passage would seem to follow the longer passage if right passages are longer. So the effect of length
is the mean of two halves with equal weight: questions whose right passage is longer, and questions whose wrong passage
is longer. The effect of date has such halves, too: the right or the wrong passage is newer. An effect has no test if
one of its halves has fewer than 5 questions. Contexts that exceed the model's window are left out.

Intervals and tests take subjects as independent, or questions if no subject is named; the column `cluster` has the
subject or the question. Tests flip the signs of all differences of a cluster together (`formulas.paired`). If all
questions have the same difference, there is no interval. p_adjusted is over all effects of a study.
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
PASSAGE_COLUMNS = ("evidence_set", "kind")


def stated_passages(answers: Frame) -> Frame:
    """Return a row for each reply and each kind of passage in its context; `value` is 1 for a stated kind, else 0."""
    import pandas as pd

    answers = answers.assign(cluster=answers["subject_key"].astype(str))
    verdict, mixed = answers["verdict"].astype(object), answers["condition"].astype(object) == "mixed"
    parts = []
    for kind, side in KINDS.items():
        # The number of the first passage of this kind, or missing.
        number = answers[f"{side}_at"].astype("Float64")
        is_stated = verdict.isin(("context", "both"))
        if side == "right":
            is_stated = is_stated.mask(mixed, verdict.isin(("original", "both")))
        position = number.map({1: "first"}).astype(object).fillna("middle")
        position = position.mask((number == answers["passages"]).fillna(value=False).astype(bool), "last")
        position = position.mask(answers["passages"] == 1, "alone")
        parts.append(answers.assign(kind=kind, position=position, value=is_stated.astype(float))[number.notna()])
    columns = [*MODEL, *PASSAGE_COLUMNS, "position", "cluster", "question_id", "context_id"]
    return sort_frame(pd.concat(parts, ignore_index=True)[[*columns, "value"]], columns)


def means(frames: Frames, seed: int) -> list[Row]:
    """Return rows of `Summary`: shares of replies, and the persuasion of passages, each with its interval."""
    interval: dict[str, Any] = {"interval": True, "interval_over": "question"}
    stated_means = Mean("stated", (*MODEL, *PASSAGE_COLUMNS, "position"), "answer", SHARE, column="value", **interval)
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


def paired_shares(answers: Frame) -> Iterator[tuple[Row, Frame]]:
    """Yield each effect with a frame of the questions that have both shares: columns cluster, question_id, a and b.

    The frames of length and date also have the column `half`: True if the right passage is longer or newer.
    """
    replies = stated_passages(answers)
    for about, rows in iter_groups(replies, (*MODEL, *PASSAGE_COLUMNS)):
        yield (
            {"effect": "position", "a": "first", "b": "last", **about},
            _means_of_both(rows, "position", "first", "last"),
        )
    for about, rows in iter_groups(replies, (*MODEL, "kind")):
        alone = rows[rows["position"] == "alone"].assign(within="alone")
        for name, in_set in rows[rows["position"] != "alone"].groupby("evidence_set", sort=True, observed=True):
            questions = _means_of_both(
                _concat(in_set.assign(within="in the set"), alone), "within", "in the set", "alone"
            )
            yield {"effect": "beside", "a": "in the set", "b": "alone", "evidence_set": str(name), **about}, questions
    mixed = answers[answers["condition"].astype(object) == "mixed"]
    for about, rows in iter_groups(mixed.assign(kind="both"), (*MODEL, *PASSAGE_COLUMNS)):
        is_longer = _larger(rows["right_length"], rows["wrong_length"])
        yield {"effect": "length", "a": "longer", "b": "shorter", **about}, _shares_by_size(rows, is_longer)
        is_newer = _larger(_comparable_dates(rows["right_date"]), _comparable_dates(rows["wrong_date"]))
        yield {"effect": "date", "a": "newer", "b": "older", **about}, _shares_by_size(rows, is_newer)


def _concat(*frames: Frame) -> Frame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True)


def _means_of_both(rows: Frame, column: str, a: str, b: str) -> Frame:
    """Return each question's mean of `value` over rows with a in a column, and over rows with b.

    A question without rows of both kinds is left out.
    """
    question_means = rows.groupby(["cluster", "question_id", column], observed=True)["value"].mean().unstack(column)
    return question_means.reindex(columns=[a, b]).dropna().set_axis(["a", "b"], axis=1).reset_index()


def _comparable_dates(dates: Any) -> Any:
    import pandas as pd

    comparable = [date if isinstance(date, str) and _DATE.fullmatch(date) else None for date in dates.astype(object)]
    return pd.Series(comparable, index=dates.index, dtype=object)


def _larger(right: Any, wrong: Any) -> Any:
    """Return for each row True if the right passage's value is larger, False if the wrong passage's is, else None."""
    import pandas as pd

    complete = right.notna() & wrong.notna()

    def larger(a: Any, b: Any) -> bool | None:
        equally_exact = not isinstance(a, str) or len(a) == len(b)  # 2026 is neither before nor after 2026-03-01
        return bool(a > b) if equally_exact and a != b else None

    values = [larger(a, b) if is_complete else None for is_complete, a, b in zip(complete, right, wrong, strict=True)]
    return pd.Series(values, index=right.index, dtype=object)


def _shares_by_size(rows: Frame, larger: Any) -> Frame:
    """Return each question's shares of replies that state the larger (longer or newer) and the smaller passage.

    Of several passages of a kind, the first is compared. If the right passage is larger in only some orders of the
    passages, the question has two rows, one for each half.
    """
    rows = rows.assign(cluster=rows["subject_key"].astype(str), larger=larger)[larger.notna()]
    verdict = rows["verdict"].astype(object)
    right, wrong = (verdict.isin((stated, "both")).astype(float) for stated in ("original", "context"))
    is_right = rows["larger"].astype(bool)
    rows = rows.assign(a=right.where(is_right, wrong), b=wrong.where(is_right, right), half=is_right)
    return rows.groupby(["cluster", "question_id", "half"], observed=True)[["a", "b"]].mean().reset_index()


def effects(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `PassageEffect`."""
    rows: list[Row] = []
    for about, questions in paired_shares(frames[QUERY]):
        if len(questions):
            both, paired = _compare_means(questions, seed)
            rows.append({**about, **both, "unit": SHARE, **paired._asdict(), "p_adjusted": None, "direction": None})
    return adjust_rows(rows)


def _compare_means(questions: Frame, seed: int) -> tuple[Row, PairedDifference]:
    """Return the two means and their difference; the two halves of length and date have equal weight."""
    halves = questions["half"].value_counts() if "half" in questions else None
    # Both halves have the same sum of weights, and the mean weight is 1.
    weights = questions["half"].map(1 / halves) * len(questions) / len(halves) if halves is not None else 1.0
    a, b = questions["a"] * weights, questions["b"] * weights
    both = {"mean_a": float(a.mean()), "mean_b": float(b.mean())}
    paired = paired_difference(a - b, questions["cluster"], seed)
    if halves is not None and (len(halves) < 2 or halves.min() < FEWEST_FOR_INTERVAL):
        reason = (
            f"fewer than {FEWEST_FOR_INTERVAL} questions in which the right passage is longer (or newer), "
            "or in which the wrong passage is"
        )
        paired = paired._replace(low=None, high=None, p=None, untestable=reason)
    elif (questions["a"] - questions["b"]).nunique() == 1:
        paired = paired._replace(low=None, high=None)
    return both, paired


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
EFFECTS = Statistic("passage_effects", 5, PassageEffect, (QUERY,), effects)
