"""Tables about several passages: which is stated in which place, and what moves the answer."""

import pandas as pd

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.reports.estimates import estimate
from swaymeter.reports.frames import Frames, in_order, records
from swaymeter.reports.tables.table import Table

PLACES = ("alone", "first", "middle", "last")
EFFECT_WORDS = {
    "position": "a {kind} passage that stands first, against last",
    "length": "the longer of a right and a wrong passage, against the shorter",
    "date": "the newer of a right and a wrong passage, against the older",
    "beside": "a {kind} passage in the set, against alone",
}


def _places(frames: Frames) -> pd.DataFrame:
    """A row for each variant, set and kind, a column for each place."""
    rows = []
    frame = in_order(frames["passages_summary"], position=PLACES)
    for keys, group in frame.groupby(["model", "dtype", "evidence_set", "kind"], sort=False, observed=True):
        of = {row["position"]: row for row in records(group)}
        cells = {
            slot: "" if slot not in of else "too few" if of[slot]["n"] < FEWEST_FOR_INTERVAL else estimate(of[slot])
            for slot in PLACES
        }
        answers = int(group["n"].sum())
        rows.append(dict(zip(("model", "dtype", "set", "kind"), keys, strict=True)) | cells | {"answers": answers})
    return pd.DataFrame(rows)


def _effects(frames: Frames) -> pd.DataFrame:
    rows = [
        {
            "model": row["model"],
            "dtype": row["dtype"],
            "set": row["evidence_set"],
            "states": EFFECT_WORDS[row["effect"]].format(kind=row["kind"]),
            "questions": row["n"],
            "mean": row["mean_a"],
            "against": row["mean_b"],
            "difference": row["difference"],
            "low": row["low"],
            "high": row["high"],
            "unit": row["unit"],
            "p_adjusted": row["p_adjusted"],
            "direction": row["untestable"] if pd.isna(row["direction"]) else row["direction"],
        }
        for row in records(frames["passage_effects_summary"])
    ]
    return pd.DataFrame(rows)


MEANS = {
    "cites": "cites a passage",
    "cited_exist": "of those that cite: every cited passage is there",
    "citation_right": "of those that cite and state an answer: a cited passage states it",
    "names_conflict": "names the conflict of two passages",
    "passage_persuasion": "persuasion of a passage within its context",
}


def _means(frames: Frames) -> pd.DataFrame:
    """A row for each variant, quantity and group: a condition, or a kind of passage with its place."""
    frame = in_order(frames["passage_means_summary"], quantity=MEANS, position=(None, *PLACES))
    rows = [
        {
            "model": row["model"],
            "dtype": row["dtype"],
            "what": MEANS[row["quantity"]],
            "group": row["of"],
            "place": row["position"] if isinstance(row["position"], str) else "",
            **{name: row[name] for name in ("n", "clusters", "mean", "low", "high", "unit")},
        }
        for row in records(frame)
    ]
    return pd.DataFrame(rows)


CITED = Table(
    "citations-and-persuasion-of-passages",
    "What answers cite, and how far each passage moves the next token",
    "Shares of greedy answers, and means of the persuasion of a passage in nats: the divergence of the next token with "
    "all passages from that without this one, by its kind and place. With 95% intervals over questions or subjects.",
    ("passage_means_summary",),
    _means,
)
AT_PLACES = Table(
    "passages-by-place",
    "Which passage the answer states, by its place",
    "How often the greedy answer states what the right (supporting) or the wrong (conflicting) passage says, with 95% "
    "intervals over questions, by the set and the place in it. An answer that states both counts for both. Of several "
    "passages of a kind the first one's place counts. Where a question was asked in one order alone, different "
    "questions stand in each place: what it does is tested only where the same ones were asked in several orders.",
    ("passages_summary",),
    _places,
)
EFFECTS = Table(
    "what-moves-the-answer",
    "What moves the answer among several passages",
    "Differences of two means of the same questions, with 95% intervals over questions or subjects, and p by turning "
    "signs, two-sided, after Benjamini-Hochberg over all rows. Larger or smaller: p is at most 0.05, and 0 outside the "
    "interval; undecided: nothing shows that they differ, nor that they do not.",
    ("passage_effects_summary",),
    _effects,
)
