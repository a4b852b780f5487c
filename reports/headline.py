"""The headline figure, whose bars answer the question of a study, and the sentence that sums the bars up.

    own questions    shares of replies: right, wrong, both, another, declined; by kind and order of passages
    DynamicQA        shares of replies: persuaded, agreed, stubborn, other; by partition of questions
    facts            mean susceptibility: real beside invented entities by relation, or labels of entities by set

Shares of a bar add up to 1. `reports/page/bars.py` and `flows/cli/outcome.py` render the same figure.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pandas as pd

from swaymeter.data.records.findings import Bar, Claim, HeadlineFigure, Part, whole_percent
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, SHARE
from swaymeter.reports import variants
from swaymeter.reports.estimates import plural, span
from swaymeter.reports.figures.panels import query_types
from swaymeter.reports.frames import Frames, in_order, partitions, records, where
from swaymeter.reports.models import ANSWERS_PAGE, Model, models, relation_address, rows_of, short_names
from swaymeter.reports.words import THRESHOLD_NAMES

MAX_BARS = 24
"""Upper bound on bars of the figure; tables have all numbers."""
VERDICT_SHARES, PARTITIONS, RELATIONS, LABELS = (
    "verdict_shares",
    "partition_means",
    "susceptibility_of_relations",
    "susceptibility_by_label",
)
"""Named queries (SQL) with the shares and means of the bars."""
QUERIES = (
    VERDICT_SHARES,
    PARTITIONS,
    RELATIONS,
    LABELS,
    "outcomes",
    "overview",
    "silent_replies",
    "susceptibility_summary",
    variants.MEANS,
    variants.DIFFERENCES,
    variants.COSTS,
)
"""Named queries of the figure and its sentence."""
PARTS = ("right", "wrong", "both", "passage", "neither", "declined")
"""Parts of a bar on own questions: whose answer the replies state."""
OUTCOMES = ("persuaded", "agreed", "stubborn", "other")
"""Parts of a bar on DynamicQA's questions."""
PART_NAMES: Mapping[str, str] = {
    "neither": "neither, or unclear",
    "passage": "the passage's answer",
    "agreed": "agreed already",
}
"""Words for some parts; other parts are shown by their names."""
CONDITION_LABELS: Mapping[str, str] = {
    "supporting": "with a right passage",
    "conflicting": "with a wrong passage",
    "mixed": "with right and wrong passages",
    "none": "without a passage",
    "irrelevant": "with an irrelevant passage",
    "neutral": "with a neutral passage",
    "unknown": "with a passage of unknown kind",
}
MAIN_PARTS: Mapping[str, tuple[str, str]] = {
    "supporting": ("right", "follow.supporting"),
    "conflicting": ("wrong", "follow.conflicting"),
    "mixed": ("right", "prefer_right.mixed"),
    "none": ("right", "correct.none"),
    "irrelevant": ("declined", "refuse.irrelevant"),
    "neutral": ("declined", "refuse.neutral"),
    "unknown": ("passage", "follow.unknown"),
}
"""Main part of a bar, and the name of this part's number in thresholds, by kind of context."""
COUNTED_REPLIES: Mapping[str, str] = {
    "follow.conflicting": "wrong or both",
    "follow.unknown": "the passage's answer, alone or beside another",
}
"""Words for the counted replies, by the name of a number in thresholds that counts more replies than the main part."""
CONDITION_ORDER = ("supporting", "conflicting", "mixed", "none", "irrelevant", "neutral", "unknown")


def figure(frames: Frames) -> HeadlineFigure | None:
    """Return the headline figure; None if a study has no rows for it."""
    return _replies(frames) or _labels(frames) or _relations(frames) or _outcomes_of_partitions(frames)


def answer_sentence(frames: Frames, chart: HeadlineFigure | None, claims: Sequence[Claim]) -> str:
    """Return the sentence that answers the question of a study.

    Args:
        frames: Frames of `QUERIES`.
        chart: The headline figure.
        claims: Claims of the headline. In a study of facts, the first claim is the answer.
    """
    compared = variants.variants_of(frames)
    if chart and chart.parts == PARTS and len(compared) > 1:
        if variants.has_difference(frames):
            return variants.advice(frames)
        variant_words = f"{len(compared)} variants (model, prompt, decoding)"
        return _mostly_undecided(frames) + (
            _range_of_variants(chart, variant_words) or f"None of {variant_words} is shown to be better than another."
        )
    if chart and chart.parts[0] in PARTS:
        return _mostly_undecided(frames) + _sentence_on_replies(chart)
    if chart and chart.parts == OUTCOMES:
        return _sentence_on_outcomes(chart)
    line = replace(claims[0], numbers=claims[0].numbers[:1]).line.strip() if claims else ""
    return f"{line}." if line and not line.endswith(".") else line


# ---- own questions ---------------------------------------------------------------------------------------------------


def _replies(frames: Frames) -> HeadlineFigure | None:
    """Return the figure: a bar for each kind of context, evidence set, order of passages and variant."""
    rows = where(frames[VERDICT_SHARES], condition=[*CONDITION_LABELS])
    if rows.empty:
        return None
    columns = ["condition", "evidence_set", "passage_order"]
    shown_models = models(rows)
    short = short_names(map(str, shown_models))
    groups = in_order(rows[columns].drop_duplicates(), condition=CONDITION_ORDER)
    bars = []
    for group in records(groups):
        values = [_text(group[name]) for name in columns]
        group_rows = rows[(rows[columns].astype(object).fillna("") == values).all(axis=1)]
        # A number in thresholds is over all groups of a condition, so the number fits only the bar of a single group.
        is_only_group = int((groups["condition"] == group["condition"]).sum()) == 1
        for model in models(group_rows):
            name = short.names[str(model)] if len(shown_models) > 1 else ""
            label = CONDITION_LABELS[group["condition"]] + _set_and_order(group, groups)
            bar = _bar_of_replies(rows_of(group_rows, model), label, name, group["condition"], model)
            if is_only_group:
                bar = _with_threshold(bar, group["condition"], rows_of(frames[variants.MEANS], model))
            bars.append(bar)
    basis = str(shown_models[0]) if len(shown_models) == 1 else short.shared
    questions = _questions(rows, frames["overview"])
    title = "Whose answer do replies give?"
    return _chart_of_bars(title, SHARE, PARTS, bars, " · ".join(filter(None, (basis, questions))))


def _questions(rows: pd.DataFrame, overview: pd.DataFrame) -> str:
    """Return the number of questions; "40 questions, at most 30 with one kind of context" if no kind has all."""
    unit, largest = str(rows["interval_over"].iloc[0]), int(rows["clusters"].max())
    total = int(overview["questions"].iloc[0]) if len(overview) else largest
    if total <= largest:
        return plural(largest, unit)
    largest_words = str(largest) if unit == "question" else plural(largest, unit)
    return f"{plural(total, 'question')}, at most {largest_words} with one kind of context"


def _text(value: Any) -> str:
    return "" if pd.isna(value) else str(value)


def _set_and_order(group: Mapping[str, Any], groups: pd.DataFrame) -> str:
    """Return the evidence set and the order of passages in words, if they differ within the condition."""
    condition_groups = where(groups, condition=group["condition"])
    words = [
        _text(group[name]).replace("supporting", "right").replace("conflicting", "wrong").replace("_", " ")
        for name in ("evidence_set", "passage_order")
        if condition_groups[name].astype(object).fillna("").nunique() > 1
    ]
    return "".join(f", {text}" for text in words if text)


def _bar_of_replies(rows: pd.DataFrame, label: str, variant: str, condition: str, model: Model) -> Bar:
    shares = {str(row["quantity"]): row for row in records(rows)}
    parts = []
    for part in PARTS:
        if row := shares.get(part):
            address = {"model": str(model), "under": condition, "verdict": part}
            parts.append(_share_part(part, row, f"{ANSWERS_PAGE}#{urlencode(address)}"))
    return Bar(label, tuple(parts), variant, int(rows["n"].iloc[0]), MAIN_PARTS[condition][0])


def _with_threshold(bar: Bar, condition: str, means: pd.DataFrame) -> Bar:
    """Return the bar with the name of its main part in thresholds, such as follow.supporting.

    If the number with this name differs from the share of the main part, the bar gets `threshold` instead of `name`.
    """
    name, main = MAIN_PARTS[condition][1], bar.part(bar.main)
    names = means["quantity"].map(THRESHOLD_NAMES) + "." + means["group"] if len(means) else pd.Series(dtype=str)
    row = next(iter(records(means[names == name])), None)
    if row is None or main is None or math.isclose(row["mean"], main.mean):
        return replace(bar, name=name)
    return replace(bar, threshold=_share_part(name, row, ""), counted=COUNTED_REPLIES.get(name, ""))


def _share_part(name: str, row: Mapping[str, Any], address: str) -> Part:
    low, high = (None if pd.isna(row[end]) else float(row[end]) for end in ("low", "high"))
    return Part(name, float(row["mean"]), low, high, round(row["n"] * row["mean"]), address)


def _chart_of_bars(
    title: str, unit: str, parts: Sequence[str], bars: Sequence[Bar], basis: str
) -> HeadlineFigure | None:
    if not bars:
        return None
    return HeadlineFigure(title, unit, tuple(parts), tuple(bars[:MAX_BARS]), basis, max(0, len(bars) - MAX_BARS))


def _mostly_undecided(frames: Frames) -> str:
    """Return a sentence on the share of undecided replies if it is above 50%."""
    rows = frames["silent_replies"]
    undecided, replies = (int(rows[name].sum()) if len(rows) else 0 for name in ("undecided", "replies"))
    if 2 * undecided <= replies:
        return ""
    share = percent(undecided / replies)
    return f"{share} of replies are without a decision (the rule finds neither answer, or an unclear one). "


def _range_of_variants(chart: HeadlineFigure, variant_words: str) -> str:
    sentences = []
    for condition, words in (("supporting", "follow right passages"), ("conflicting", "repeat wrong ones")):
        part = MAIN_PARTS[condition][0]
        bars = [bar for bar in chart.bars if bar.label.startswith(CONDITION_LABELS[condition])]
        shares = [_pooled([bar for bar in bars if bar.variant == name], part) for name in {bar.variant for bar in bars}]
        if bars:
            sentences.append(f"{words} in {_range([share or 0.0 for share in shares])}")
    return f"{variant_words} {' and '.join(sentences)} of replies; none is shown to be better." if sentences else ""


def _range(shares: Sequence[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low[:-1]} to {high}"  # such as 20 to 35%


def _sentence_on_replies(chart: HeadlineFigure) -> str:
    right, wrong, mixed, closed_book = (
        [bar for bar in chart.bars if bar.label.startswith(CONDITION_LABELS[name])]
        for name in ("supporting", "conflicting", "mixed", "none")
    )
    largest = max((bar.n for bar in [*right, *wrong, *mixed] or chart.bars), default=0)
    if largest < FEWEST_FOR_INTERVAL:
        return f"Too few replies to tell: no kind of passage has more than {largest}."
    sentence = _comparison(chart, right, wrong, mixed, closed_book)
    if not (wrong and mixed):
        return sentence
    with_wrong = [*wrong, *mixed]
    share, replies = percent(_pooled(with_wrong, "wrong") or 0.0), sum(bar.n for bar in with_wrong)
    return f"{sentence} Of all {replies} replies to a wrong passage, alone or beside others, {share} repeat it."


def _comparison(
    chart: HeadlineFigure, right: Sequence[Bar], wrong: Sequence[Bar], mixed: Sequence[Bar], closed_book: Sequence[Bar]
) -> str:
    """Return a sentence on right and wrong passages, or else on mixed sets, or else on replies without a passage."""
    follows, repeats = _pooled(right, "right"), _pooled(wrong, "wrong")
    if follows is not None and repeats is not None:
        right_share, wrong_share = percent(follows), percent(repeats)
        sign = _sign_of_difference(right, wrong)
        if sign < 0:
            words = f"repeats wrong passages ({wrong_share}) more often than it follows right ones ({right_share})"
        elif sign > 0:
            words = f"follows right passages ({right_share}) more often than it repeats wrong ones ({wrong_share})"
        else:
            both = f"follows right passages ({right_share}) and repeats wrong ones ({wrong_share})"
            words = f"{both}; the difference is not significant"
        return f"The model {words}."
    if follows is not None:
        unknown = sum(bar.n for bar in chart.bars if bar.label.startswith(CONDITION_LABELS["unknown"]))
        unknown_words = f"; {plural(unknown, 'other reply')} had a passage that may be right or wrong" * (unknown > 0)
        return f"The model follows right passages in {percent(follows)} of replies{unknown_words}."
    if repeats is not None:
        return f"The model repeats wrong passages in {percent(repeats)} of replies."
    if mixed:
        right_share, wrong_share = (percent(_pooled(mixed, name) or 0.0) for name in ("right", "wrong"))
        return (
            f"Given right and wrong passages, the model gives the right answer in {right_share} of replies, the wrong "
            f"one in {wrong_share}."
        )
    right_share = percent(_pooled(closed_book, "right") or 0.0)
    return f"Without a passage, the model gives the right answer in {right_share} of replies."


def percent(share: float) -> str:
    """Return a share in whole percent."""
    return f"{whole_percent(share)}%"


def _pooled(bars: Sequence[Bar], name: str) -> float | None:
    """Return the share of a part among all replies of these bars; None without bars."""
    total = sum(bar.n for bar in bars)
    return sum(part.count for bar in bars if (part := bar.part(name))) / total if total else None


def _sign_of_difference(right: Sequence[Bar], wrong: Sequence[Bar]) -> int:
    """Return 1 if replies follow right passages significantly more often than they repeat wrong ones, -1 if less often.

    Return 0 if the difference is not significant, or if there are several bars of a kind.
    """
    if len(right) != 1 or len(wrong) != 1:
        return 0
    follows, repeats = right[0].part("right"), wrong[0].part("wrong")
    return int(_is_larger(follows, repeats)) - int(_is_larger(repeats, follows))


def _is_larger(first: Part | None, other: Part | None) -> bool:
    """Return True if the 95% interval of the difference of two shares, computed from their intervals, is above 0.

    Source: Newcombe 1998, Interval estimation for the difference between independent proportions, method 10.
    """
    if first is None or other is None or first.low is None or other.high is None:
        return False
    return first.mean - other.mean > math.hypot(first.mean - first.low, other.high - other.mean)


# ---- DynamicQA -------------------------------------------------------------------------------------------------------


def _outcomes_of_partitions(frames: Frames) -> HeadlineFigure | None:
    rows = frames["outcomes"]
    rows = rows[rows["measured"] > 0] if len(rows) else rows
    if rows.empty:
        return None
    condition = "counter_memory" if (rows["condition"] == "counter_memory").any() else str(rows["condition"].iloc[0])
    rows, shown_models = where(rows, condition=condition), models(rows)
    short, bars = short_names(map(str, shown_models)), []
    for partition in partitions(rows):
        for model in shown_models:
            for row in records(where(rows_of(rows, model), partition=partition)):
                means = where(rows_of(frames[PARTITIONS], model), partition=partition, condition=condition)
                variant = short.names[str(model)] if len(shown_models) > 1 else ""
                bars.append(_bar_of_outcomes(row, means, variant, model))
    title = f"What does a context with {'another' if condition == 'counter_memory' else 'the original'} answer do?"
    measured = plural(int(rows["measured"].sum()), "reply")
    basis = short.shared or (str(shown_models[0]) if len(shown_models) == 1 else "")
    return _chart_of_bars(title, SHARE, OUTCOMES, bars, " · ".join(filter(None, (basis, measured))))


def _bar_of_outcomes(row: Mapping[str, Any], means: pd.DataFrame, variant: str, model: Model) -> Bar:
    total, parts = int(row["measured"]), []
    for name in OUTCOMES:
        part_rows = where(means, quantity=name)
        # An interval over other replies than those of the bar is left out.
        ends = next((mean for mean in records(part_rows) if mean["n"] == total), {"low": None, "high": None})
        address = {
            "model": str(model),
            "partition": row["partition"],
            "under": row["condition"],
            "outcome": name,
        }
        share = {"mean": int(row[name]) / total, "n": total, "low": ends["low"], "high": ends["high"]}
        parts.append(_share_part(name, share, f"{ANSWERS_PAGE}#{urlencode(address)}"))
    return Bar(f"{row['partition']} questions", tuple(parts), variant, total, "persuaded")


def _sentence_on_outcomes(chart: HeadlineFigure) -> str:
    persuaded, stubborn = (percent(_pooled(chart.bars, name) or 0.0) for name in ("persuaded", "stubborn"))
    return f"A context persuades in {persuaded} of replies and leaves {stubborn} unchanged."


# ---- facts -----------------------------------------------------------------------------------------------------------


def _labels(frames: Frames) -> HeadlineFigure | None:
    """Return the figure of mean susceptibility by set of contexts and label of entities, over all types of a label."""
    rows = frames[LABELS]
    rows = rows[rows["type"].isna()] if len(rows) else rows
    names = sorted(rows["label"].dropna().unique()) if len(rows) else []
    if not names:
        return None
    title = "Which entities do contexts sway most?"
    return _chart_of_means(
        title, rows, "label", {name: str(name) for name in names}, list(dict.fromkeys(rows["relation"]))
    )


def _relations(frames: Frames) -> HeadlineFigure | None:
    """Return the figure of real and invented entities: mean susceptibility by relation.

    If there are several models, a bar is the mean over all relations.
    """
    rows = frames[RELATIONS]
    if rows.empty:
        return None
    if len(models(rows)) > 1:
        rows = frames["susceptibility_summary"]
        # `_mean_part` reads the size of a group from the column `entities`; a mean over all relations counts relations.
        rows = rows[rows["query_type"] != "all"].assign(relation="all relations", entities=rows["relations"])
    rows = rows.assign(invented=rows["invented"].astype(bool))
    all_names = {False: "real", True: "invented"}
    names = {invented: name for invented, name in all_names.items() if (rows["invented"] == invented).any()}
    means = where(rows, query_type=query_types(rows)[0]).groupby("relation")["mean"].mean()
    order = [str(name) for name in means.sort_values(ascending=False, kind="stable").index]
    return _chart_of_means("How far do contexts sway queries?", rows, "invented", names, order)


def _chart_of_means(
    title: str, rows: pd.DataFrame, column: str, names: Mapping[Any, str], relations: Sequence[str]
) -> HeadlineFigure | None:
    """Return a figure with a bar for each relation and variant, and a part for each value of `column`."""
    query_type, shown_models = query_types(rows)[0], models(rows)
    rows, short = where(rows, query_type=query_type), short_names(map(str, shown_models))
    bars = []
    for relation in relations:
        for model in shown_models:
            row_of_value = {row[column]: row for row in records(where(rows_of(rows, model), relation=relation))}
            address = relation_address(relation) if relation != "all relations" else ""
            values = [value for value in names if value in row_of_value]
            parts = [_mean_part(names[value], row_of_value[value], address) for value in values]
            variant = short.names[str(model)] if len(shown_models) > 1 else ""
            if parts:
                bars.append(Bar(str(relation), tuple(parts), variant, sum(part.count for part in parts), parts[0].name))
    shared = str(shown_models[0]) if len(shown_models) == 1 else short.shared
    basis = f"{shared} · {query_type} queries, mean susceptibility in nats" if shared else f"{query_type} queries, nats"
    counts = [part.count for bar in bars for part in bar.parts]
    items = "relations" if relations == ["all relations"] else "entities"
    size = f", {span(min(counts), max(counts))} {items} per group" if counts else ""
    return _chart_of_bars(title, "nats", [*names.values()], bars, basis + size)


def _mean_part(name: str, row: Mapping[str, Any], address: str) -> Part:
    low, high = (None if pd.isna(row[end]) else float(row[end]) for end in ("low", "high"))
    return Part(name, float(row["mean"]), low, high, int(row["entities"]), address)


def shown_parts(chart: HeadlineFigure) -> Iterator[str]:
    """Yield the names of the parts that at least one bar of a figure shows."""
    for name in chart.parts:
        if any((part := bar.part(name)) and (part.mean or chart.unit != SHARE) for bar in chart.bars):
            yield name
