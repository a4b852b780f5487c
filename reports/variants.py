"""Choice of a variant: shares with right and wrong passages, the Pareto front, and a sentence of advice."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.reports.estimates import MAX_NAMED, estimate, plural, span
from swaymeter.reports.frames import Frames, records, where
from swaymeter.reports.models import Model, models

FOLLOWS, RESISTS = "follows_right", "resists_wrong"
"""Quantities that decide the choice: shares of replies that follow right passages or resist wrong passages."""
SHOWN: Mapping[str, str] = {
    FOLLOWS: "follows right passages",
    RESISTS: "resists wrong passages",
    "correct": "right without a passage",
    "abstains": "declines where nothing supports an answer",
}
"""Quantities of the table, in words."""
_COLUMNS = dict(zip(SHOWN, ("follows right", "resists wrong", "no passage", "declines"), strict=True))
"""Column of the table for each quantity."""
MEANS, DIFFERENCES, COSTS = "models_side_by_side", "model_differences", "variants_summary"
"""Named queries: the means of variants, their paired differences, and their tokens and seconds."""


class Variant(NamedTuple):
    """A variant with its means."""

    model: Model
    means: Mapping[str, Mapping[str, Any]]
    """Row of the named query MEANS by measured quantity."""

    def share(self, quantity: str) -> float:
        """Return the mean of a measured quantity."""
        return float(self.means[quantity]["mean"])


def variants_of(frames: Frames) -> list[Variant]:
    """Return the variants with both FOLLOWS and RESISTS, by size of the model."""
    rows = frames[MEANS]
    if rows.empty:
        return []
    # Replies without a context have the group none; all other quantities of SHOWN have the group all.
    over_all = rows[rows["group"].isin(("all", "none"))]
    variants = []
    for model in models(over_all):
        model_rows = where(over_all, model=model.name, dtype=model.dtype)
        means = {row["quantity"]: row for row in records(model_rows) if row["quantity"] in SHOWN}
        if {FOLLOWS, RESISTS} <= means.keys():
            variants.append(Variant(model, means))
    return variants


def front(variants: Sequence[Variant]) -> list[Variant]:
    """Return the Pareto front of FOLLOWS and RESISTS, the largest share of FOLLOWS first.

    A variant is on the front if no other variant is at least as good in both quantities and better in one.
    """
    points = [(variant.share(FOLLOWS), variant.share(RESISTS)) for variant in variants]

    def is_beaten(point: tuple[float, float]) -> bool:
        return any(other != point and other[0] >= point[0] and other[1] >= point[1] for other in points)

    best = [variant for variant, point in zip(variants, points, strict=True) if not is_beaten(point)]
    return sorted(best, key=lambda variant: -variant.share(FOLLOWS))


def advice(frames: Frames) -> str:
    """Return sentences on the best variant in FOLLOWS and in RESISTS; empty with fewer than two variants.

    Better means significantly better in a paired test. Candidates are the variants that are better than another
    variant. The best is the candidate with the highest mean, preferably among candidates that no variant beats. The
    sentences also name the variants that are not significantly worse than the best.
    """
    variants = variants_of(frames)
    if len(variants) < 2:
        return ""
    best = {quantity: _best(quantity, variants, frames[DIFFERENCES]) for quantity in (FOLLOWS, RESISTS)}
    winners = {names[0] for names in best.values() if names}
    if not winners:
        with_right, with_wrong = (min(int(variant.means[name]["clusters"]) for variant in variants) for name in best)
        return (
            f"None of the {len(variants)} variants is shown to follow right passages, or to resist wrong ones, more "
            f"than another, on {with_right} questions with a right and {with_wrong} with a wrong passage: take what "
            "costs least, or ask more questions."
        )
    if len(winners) == 1 and all(best.values()):
        (winner,) = winners
        shares = " and ".join(_share_phrase(quantity, variants, winner) for quantity in best)
        return f"Take {winner}: it {shares}.{_equally_good(best[FOLLOWS], best[RESISTS])}"
    purposes = {FOLLOWS: "To follow right passages", RESISTS: "To resist wrong ones"}
    sentences = []
    for quantity, names in best.items():
        choice = "none is shown to be better than another"
        if names:
            choice = f"take {names[0]}, which {_share_phrase(quantity, variants, names[0])}{_others(names)}"
        sentences.append(f"{purposes[quantity]}, {choice}")
    return f"{'. '.join(sentences)}."


def has_difference(frames: Frames) -> bool:
    """Return True if a variant is significantly better than another."""
    return any(_best(quantity, variants_of(frames), frames[DIFFERENCES]) for quantity in (FOLLOWS, RESISTS))


def uneven_note(variants: Sequence[Variant]) -> str:
    """Return a warning if variants differ in their numbers of answers; empty if they do not."""
    counts = [[int(variant.means[name]["n"]) for variant in variants] for name in (FOLLOWS, RESISTS)]
    if all(len(set(numbers)) <= 1 for numbers in counts):
        return ""
    words = " and ".join(f"{span(min(numbers), max(numbers))} answers" for numbers in counts)
    return (
        f" Not all variants have the same answers ({words}): the front uses all answers of each variant, and a "
        "comparison of two uses only the answers that both have."
    )


def neither_stated(frames: Frames) -> str:
    """Return a sentence on replies with another answer or none after a wrong passage; empty without such replies."""
    rows = [row for row in records(frames[COSTS]) if row.get("neither_with_wrong", 0) > 0]
    words = [
        f"{row['neither_with_wrong']} of {row['answers_with_wrong']} replies of {Model(row['model'], row['dtype'])}"
        for row in rows[:MAX_NAMED]
    ]
    more = f"; and replies of {plural(len(rows) - MAX_NAMED, 'more variant')}" if len(rows) > MAX_NAMED else ""
    return f" With a wrong passage, another answer or no answer is stated by {'; '.join(words)}{more}." if rows else ""


def _best(quantity: str, variants: Sequence[Variant], differences: pd.DataFrame) -> list[str]:
    """Return the best variant (see `advice`), then variants that are not significantly worse; empty without a best."""
    worse_than: dict[Model, set[Model]] = {}  # by model: the models that are significantly worse
    for row in records(where(differences, quantity=quantity)):
        model, other = Model(row["model"], row["dtype"]), Model(row["against_model"], row["against_dtype"])
        if row["direction"] == "larger":
            worse_than.setdefault(model, set()).add(other)
        elif row["direction"] == "smaller":
            worse_than.setdefault(other, set()).add(model)
    if not (winners := [variant for variant in variants if variant.model in worse_than]):
        return []
    beaten = set[Model]().union(*worse_than.values())
    best = max(winners, key=lambda variant: (variant.model not in beaten, variant.share(quantity))).model
    not_worse = [
        variant.model for variant in variants if variant.model != best and variant.model not in worse_than[best]
    ]
    return [str(model) for model in (best, *not_worse)]


def _share_phrase(quantity: str, variants: Sequence[Variant], name: str) -> str:
    means = next(variant.means for variant in variants if str(variant.model) == name)
    return f"{SHOWN[quantity]} {estimate(means[quantity])}"


def _others(names: Sequence[str]) -> str:
    others = ", ".join(names[1:])
    return f" (not shown to be worse: {others})" if others else ""


def _equally_good(following: Sequence[str], resisting: Sequence[str]) -> str:
    names = [name for name in following[1:] if name in resisting]
    return f" Not shown to be worse in either: {', '.join(names)}." if names else ""


def table(frames: Frames) -> pd.DataFrame:
    """Return a row for each variant: shares, tokens and seconds; empty with a single variant.

    If a variant is significantly better than another, the Pareto front comes first.
    """
    variants = variants_of(frames)
    if len(variants) < 2:
        return pd.DataFrame()
    on_front = {variant.model for variant in front(variants)}
    if has_difference(frames):
        variants.sort(
            key=lambda variant: (variant.model not in on_front, -variant.share(FOLLOWS), -variant.share(RESISTS))
        )
    measured = [name for name in SHOWN if any(name in variant.means for variant in variants)]
    costs = {Model(str(row["model"]), str(row["dtype"])): row for row in records(frames[COSTS])}
    rows = []
    for variant in variants:
        cost = costs.get(variant.model, {})
        rows.append(
            {
                "variant": str(variant.model),
                "not beaten": "yes" if variant.model in on_front else "",
                **{_COLUMNS[name]: _share(variant.means.get(name)) for name in measured},
                "tokens": cost.get("tokens_an_answer"),
                "seconds": cost.get("seconds_a_prompt"),
            }
        )
    return pd.DataFrame(rows)


def _share(row: Mapping[str, Any] | None) -> str:
    if not row:
        return ""
    return "too few" if row["n"] < FEWEST_FOR_INTERVAL else estimate(row)
