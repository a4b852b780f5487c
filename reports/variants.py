"""Choice of a variant: its replies to right and wrong passages, the variants that no other beats, and one sentence."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.reports.estimates import MAX_NAMED, estimate, span
from swaymeter.reports.frames import Frames, records, where
from swaymeter.reports.models import Model, models

FOLLOWS, RESISTS = "follows_right", "resists_wrong"
SHOWN: Mapping[str, str] = {
    FOLLOWS: "follows right passages",
    RESISTS: "resists wrong passages",
    "correct": "right without a passage",
    "abstains": "declines where nothing supports an answer",
}
"""The quantities that variants are chosen by, in words."""
_HEADS = dict(zip(SHOWN, ("follows right", "resists wrong", "no passage", "declines"), strict=True))
MEANS, DIFFERENCES, SPENT = "models_side_by_side", "model_differences", "variants_summary"


class Variant(NamedTuple):
    """A variant with the rows of its means, by quantity; one that was not measured is not there."""

    model: Model
    means: Mapping[str, Mapping[str, Any]]

    def share(self, quantity: str) -> float:
        """The mean of a quantity that was measured."""
        return float(self.means[quantity]["mean"])


def variants_of(frames: Frames) -> list[Variant]:
    """Every variant of which both quantities that decide were measured, in the order of the page."""
    rows = frames[MEANS]
    if rows.empty:
        return []
    over_all = rows[rows["group"].isin(("all", "none"))]
    variants = []
    for model in models(over_all):
        model_rows = where(over_all, model=model.name, dtype=model.dtype)
        means = {row["quantity"]: row for row in records(model_rows) if row["quantity"] in SHOWN}
        if {FOLLOWS, RESISTS} <= means.keys():
            variants.append(Variant(model, means))
    return variants


def front(variants: Sequence[Variant]) -> list[Variant]:
    """The variants that no other beats: none has as much of both and more of one; by how far they follow."""
    points = [(variant.share(FOLLOWS), variant.share(RESISTS)) for variant in variants]
    best = [
        variant
        for variant, point in zip(variants, points, strict=True)
        if not any(other != point and other[0] >= point[0] and other[1] >= point[1] for other in points)
    ]
    return sorted(best, key=lambda variant: -variant.share(FOLLOWS))


def advice(frames: Frames) -> str:
    """Return a sentence on the best variants; empty with fewer than two variants.

    The best variant of a quantity is better than another variant and not worse than any. Of several, the highest mean
    wins. Variants that are not shown to be worse than the best are named, too.
    """
    variants = variants_of(frames)
    if len(variants) < 2:
        return ""
    best = {quantity: _best(quantity, variants, frames[DIFFERENCES]) for quantity in (FOLLOWS, RESISTS)}
    firsts = {names[0] for names in best.values() if names}
    if not firsts:
        right, wrong = (min(int(variant.means[name]["clusters"]) for variant in variants) for name in best)
        return (
            f"None of the {len(variants)} variants is shown to follow right passages, or to resist wrong ones, more "
            f"than another, on {right} questions with a right and {wrong} with a wrong passage: take what costs least, "
            "or ask more questions."
        )
    if len(firsts) == 1 and all(best.values()):
        (first,) = firsts
        rest = " and ".join(_best_sentence(name, variants, first) for name in best)
        return f"Take {first}: it {rest}.{_also(best[FOLLOWS], best[RESISTS])}"
    to = {FOLLOWS: "To follow right passages", RESISTS: "To resist wrong ones"}
    sentences = [
        f"{to[quantity]}, take {names[0]}, which {_best_sentence(quantity, variants, names[0])}{_others(names)}"
        if names
        else f"{to[quantity]}, none is shown to be better than another"
        for quantity, names in best.items()
    ]
    return f"{'. '.join(sentences)}."


def decided(frames: Frames) -> bool:
    """Return True if a variant is shown to be better than another."""
    return any(_best(quantity, variants_of(frames), frames[DIFFERENCES]) for quantity in (FOLLOWS, RESISTS))


def uneven(variants: Sequence[Variant]) -> str:
    """A sentence where variants were not asked, or did not answer, the same; empty where they did."""
    counts = [[int(variant.means[name]["n"]) for variant in variants] for name in (FOLLOWS, RESISTS)]
    if all(len(set(numbers)) <= 1 for numbers in counts):
        return ""
    words = " and ".join(f"{span(min(numbers), max(numbers))} answers" for numbers in counts)
    return (
        f" Not all have the same answers ({words}): the front takes each share as it is, a comparison of two what both "
        "answered."
    )


def silent(frames: Frames) -> str:
    """Return a sentence on replies that resist a wrong passage by stating neither answer; empty if there are none."""
    rows = [row for row in records(frames[SPENT]) if row.get("neither_with_wrong", 0) > 0]
    words = [
        f"{row['neither_with_wrong']} of {row['answers_with_wrong']} of {Model(row['model'], row['dtype'])}"
        for row in rows[:MAX_NAMED]
    ]
    more = f" and some of {len(rows) - MAX_NAMED} more" if len(rows) > MAX_NAMED else ""
    return f" With a wrong passage neither answer is stated by {'; '.join(words)}{more}." if rows else ""


def _best(quantity: str, variants: Sequence[Variant], differences: pd.DataFrame) -> list[str]:
    """The best one by its name and those not shown to be worse; none where none is shown to beat another."""
    beats: dict[Model, set[Model]] = {}
    for row in records(where(differences, quantity=quantity)):
        pair = Model(str(row["model"]), str(row["dtype"])), Model(str(row["against_model"]), str(row["against_dtype"]))
        if order := {"larger": pair, "smaller": pair[::-1]}.get(str(row["direction"])):
            beats.setdefault(order[0], set()).add(order[1])
    if not (winners := [variant for variant in variants if variant.model in beats]):
        return []
    beaten = {model for beaten_models in beats.values() for model in beaten_models}
    first = max(winners, key=lambda variant: (variant.model not in beaten, variant.share(quantity))).model
    alike = [other.model for other in variants if other.model != first and other.model not in beats[first]]
    return [str(model) for model in (first, *alike)]


def _best_sentence(quantity: str, variants: Sequence[Variant], name: str) -> str:
    variant = next(each for each in variants if str(each.model) == name)
    return f"{SHOWN[quantity]} {estimate(variant.means[quantity])}"


def _others(names: Sequence[str]) -> str:
    others = ", ".join(names[1:])
    return f" (not shown to be worse: {others})" if others else ""


def _also(*named: Sequence[str]) -> str:
    """Return a phrase on variants that are not shown to be worse for either passage."""
    alike = [name for name in named[0][1:] if all(name in names for names in named)]
    return f" Not shown to be worse in either: {', '.join(alike)}." if alike else ""


def table(frames: Frames) -> pd.DataFrame:
    """A row for each variant: the four shares in words, tokens and seconds.

    Those that no other beats come first, where one is shown to be better than another.

    A share that no variant has is left out. A variant alone has no row.
    """
    variants = variants_of(frames)
    if len(variants) < 2:
        return pd.DataFrame()
    best = {variant.model for variant in front(variants)}
    if decided(frames):
        variants.sort(key=lambda variant: (variant.model not in best, -variant.share(FOLLOWS), -variant.share(RESISTS)))
    measured = [name for name in SHOWN if any(name in variant.means for variant in variants)]
    spent = {Model(str(row["model"]), str(row["dtype"])): row for row in records(frames[SPENT])}
    rows = []
    for variant in variants:
        took = spent.get(variant.model, {})
        rows.append(
            {
                "variant": str(variant.model),
                "not beaten": "yes" if variant.model in best else "",
                **{_HEADS[name]: _share(variant.means.get(name)) for name in measured},
                "tokens": took.get("tokens_an_answer"),
                "seconds": took.get("seconds_a_prompt"),
            }
        )
    return pd.DataFrame(rows)


def _share(row: Mapping[str, Any] | None) -> str:
    if not row:
        return ""
    return "too few" if row["n"] < FEWEST_FOR_INTERVAL else estimate(row)
