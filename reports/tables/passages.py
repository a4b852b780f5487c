"""Tables about several passages in a context: answers by the place of a passage, effects on answers, and citations."""

import pandas as pd

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.reports.estimates import estimate
from swaymeter.reports.frames import Frames, in_order, records
from swaymeter.reports.tables.table import Table

PLACES = ("alone", "first", "middle", "last")
"""Places of a passage in its context."""
EFFECT_WORDS = {
    "position": "a {kind} passage that stands first, against last",
    "length": "the longer of a right and a wrong passage, against the shorter",
    "date": "the newer of a right and a wrong passage, against the older",
    "beside": "a {kind} passage in the set, against alone",
}
"""Effects in words, with a gap for the kind of passage."""


def _places(frames: Frames) -> pd.DataFrame:
    """Return a row for each variant, evidence set and kind of passage, with a column for each place."""
    rows = []
    frame = in_order(frames["passages_summary"], position=PLACES)
    for keys, group in frame.groupby(["model", "dtype", "evidence_set", "kind"], sort=False, observed=True):
        cells = dict.fromkeys(PLACES, "")
        for row in records(group):
            cells[row["position"]] = estimate(row) if row["n"] >= FEWEST_FOR_INTERVAL else "too few"
        answers = int(group["n"].sum())
        rows.append(dict(zip(("model", "dtype", "set", "kind"), keys, strict=True)) | cells | {"answers": answers})
    return pd.DataFrame(rows)


def _effects(frames: Frames) -> pd.DataFrame:
    rows = [
        {
            "model": row["model"],
            "dtype": row["dtype"],
            "set": row["evidence_set"],
            "effect": EFFECT_WORDS[row["effect"]].format(kind=row["kind"]),
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
    "cited_exist": "cites only passages that exist (of replies that cite)",
    "citation_right": "cites a passage that states the answer (of replies that cite and state an answer)",
    "names_conflict": "names the conflict of two passages",
    "passage_persuasion": "persuasion of a passage within its context",
}
"""Quantities of the table of citations and persuasion, in words."""


def _means(frames: Frames) -> pd.DataFrame:
    """Return a row for each variant, quantity, group (a condition or a kind of passage) and place."""
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
    "Shares of greedy answers, and the mean persuasion of passages by kind and place. The persuasion of a passage is "
    "the divergence in nats of the next-token distribution with all passages from the distribution without this "
    "passage. The 95% intervals are over questions or subjects.",
    ("passage_means_summary",),
    _means,
)
AT_PLACES = Table(
    "passages-by-place",
    "Which passage the answer states, by its place",
    "How often the greedy answer states what the right (supporting) or the wrong (conflicting) passage says, with 95% "
    "intervals over questions, by the set and the place in it. An answer that states both counts for both. If a set "
    "has several passages of a kind, the place of the first counts. If every question was asked in one order only, the "
    "shares at two places are over different questions. The effect of the place is tested on questions that were asked "
    "in several orders.",
    ("passages_summary",),
    _places,
)
EFFECTS = Table(
    "what-moves-the-answer",
    "What moves the answer among several passages",
    "Differences of two means of the same questions, with 95% intervals over questions or subjects. p is of a "
    "two-sided sign-flip permutation test, adjusted by Benjamini-Hochberg over all rows. Larger or smaller: p is at "
    "most 0.05, and the interval excludes 0. Undecided: neither a difference nor equality is demonstrated.",
    ("passage_effects_summary",),
    _effects,
)
