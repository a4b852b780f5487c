"""Text of a number with its interval on pages, in captions and in the terminal: one share has one text.

    22.5% [9.1, 43.2]    +12.5 points [3.0, 21.4]    0.0031 [0.0012, 0.0049]

A share has one decimal. The interval of another number has two digits of its width. It has one digit less if the Monte
Carlo error of its ends exceeds the last digit. A number alone has three digits.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pandas as pd

from swaymeter.data.records.statistics import ALPHA, EQUAL, FEWEST_FOR_INTERVAL, SHARE, end_error
from swaymeter.reports.frames import records, where
from swaymeter.reports.models import Model, models, rows_of

FEWEST_FOR_R = 20
"""The fewest points of a panel whose correlation is shown: r of 20 lies within 0.44 of 0 where there is none."""
EQUIVALENCE = ("clusters", "semantic_entropy", "coherent_persuasion")
"""The measures that rest on which sampled answers mean the same."""
MAX_NAMED = 4
"""Up to so many models are named, each with its own number; of more, a sentence tells all of them together."""
_MAX_DECIMALS = 7


def percent(share: float) -> str:
    """A share of 1 in percent."""
    return f"{100 * share:.1f}%"


def estimate(row: Mapping[str, Any], name: str = "mean", *, unit: str | None = None, signed: bool = False) -> str:
    """A number with its interval, where that has ends: `name`, low, high and unit of a row.

    signed: whether it is a difference, which has a sign and, of shares, is in points of a percentage.
    """
    is_share = (row["unit"] if unit is None else unit) == SHARE
    number, low, high = ((100 if is_share else 1) * _number(row, key) for key in (name, "low", "high"))
    decimals = 1 if is_share and not signed else _decimals(number, low, high, least=int(is_share))
    if not is_share and low < high:
        decimals = max(0, min(decimals, _certain_decimals(row, high - low)))
    sign = (" points" if signed else "%") if is_share else ""
    text = f"{number:{'+' if signed else ''}z.{decimals}f}{sign}"  # z: what rounds to 0 has no minus
    return text if math.isnan(low) else f"{text} [{low:z.{decimals}f}, {high:z.{decimals}f}]"


def number(value: float, unit: str) -> str:
    """A number alone."""
    return estimate({"mean": value, "unit": unit})


def distinct_numbers(first: float, other: float, unit: str) -> tuple[str, str]:
    """Two numbers, with more digits than alone where they would read alike."""
    texts = number(first, unit), number(other, unit)
    factor, sign = (100, "%") if unit == SHARE else (1, "")
    for decimals in range(2, 16):
        if texts[0] == texts[1]:
            texts = f"{factor * first:.{decimals}f}{sign}", f"{factor * other:.{decimals}f}{sign}"
    return texts


def too_few_for_r(n: int) -> str:
    """Return the reason why a figure shows no correlation of n points; empty if it shows one."""
    return f"n = {n}, too few for r" if n < FEWEST_FOR_R else ""


def plural(number: int, thing: str) -> str:
    """Return a number with its noun: 1 day, 2 days, 2 queries."""
    if number == 1:
        return f"{number} {thing}"
    return f"{number} {thing[:-1]}ies" if thing.endswith("y") and thing[-2] not in "aeiou" else f"{number} {thing}s"


def span(low: float, high: float) -> str:
    """Both ends of a range of counts, or the one count that they are."""
    return f"{int(low)}" if low == high else f"{int(low)} to {int(high)}"


def significant_relations(row: Mapping[str, Any], tests: pd.DataFrame) -> str:
    """Return in how many relations a test by entity is significant; its entities and p; few relations by name.

    Args:
        row: The comparison in the query statistics_summary.
        tests: The same comparison in the query statistics, a row for each relation.
    """
    if not row["tested"]:
        return "none: too few entities for any test"
    count = f"{row['significant'] or 'none'} of {plural(int(row['tested']), 'relation')}"
    shown = tests[tests["p_adjusted"] <= ALPHA] if len(tests) else tests
    if shown.empty:
        return count
    names = f" ({', '.join(sorted(shown['relation']))})" if len(shown) <= MAX_NAMED else ""
    sizes = (span(shown[name].min(), shown[name].max()) for name in ("n_a", "n_b"))
    floor = f", at p = {shown['p'].max():.2g}, the smallest possible" if all(map(_has_least_p, records(shown))) else ""
    return (
        f"{count}{names}, {' against '.join(sizes)} entities{floor}; adjusted p up to {shown['p_adjusted'].max():.2g}"
    )


def _has_least_p(test: Mapping[str, Any]) -> bool:
    """Return if p is that of one deal of entities, or one choice of signs, among all of them."""
    deals = 2 ** test["n_a"] if test["test"] == "sign flip" else math.comb(test["n_a"] + test["n_b"], test["n_a"])
    return math.isclose(test["p"], (1 if test["alternative"] == "greater" else 2) / deals, rel_tol=1e-9)


def interval_over(what: str) -> str:
    """Return the caption's name of the interval of a mean over these units."""
    return f"95% interval over {what} (none of fewer than {FEWEST_FOR_INTERVAL})"


def direction(row: Mapping[str, Any]) -> str:
    """Return the difference of two models in words, or the reason for a missing test."""
    if row["direction"] != EQUAL:
        return str(next((row[name] for name in ("direction", "untestable") if not pd.isna(row[name])), ""))
    unit, factor = ("points", 100) if row["unit"] == SHARE else (row["unit"], 1)
    return f"equal ±{factor * row['margin']:.2g} {unit}".rstrip()


def stood_in(stand_ins: pd.DataFrame, measures: Iterable[str]) -> str:
    """Return a sentence on stand-in models of these measures; empty if there are none."""
    if stand_ins.empty:
        return ""
    rows_of_measures = stand_ins[stand_ins["measure"].isin(list(measures))]
    return "; ".join(sorted({str(text) for text in rows_of_measures["stand_in"].dropna() if str(text)}))


def judged(means: pd.DataFrame, stand_ins: pd.DataFrame) -> str:
    """A sentence on what decided which sampled answers mean the same, if a stand-in did and a mean rests on it."""
    judge = stood_in(stand_ins, EQUIVALENCE) if len(where(means, quantity="coherent_persuasion")) else ""
    return f" Coherent persuasion does not compare with published values: {judge}." if judge else ""


def served(servers: pd.DataFrame) -> str:
    """Return a sentence on the models of each server and the server's own report; empty without servers."""
    words = _by_words({Model(row["model"], row["dtype"]): row["server"] for row in records(servers)})
    return f" Answered at a server: {words}." if words else ""


def served_beside(servers: pd.DataFrame, means: pd.DataFrame) -> str:
    """The same, and why such models may differ from those that are computed here, where a table has both."""
    compared = [model for model in models(means) if model not in models(servers)]
    return served(servers) + bool(len(servers) and compared) * (
        " From models that are computed here these may differ by the number format and the rounding of the server, "
        "and where prompts are sent as messages by its template, system prompt and start token: not by their weights "
        "alone."
    )


def cut_off(unfinished: pd.DataFrame) -> str:
    """Return a sentence on greedy replies of each model that reached the limit of tokens; empty if none did."""
    words = _counted(unfinished, "unfinished", _cut)
    if not words:
        return ""
    limits = unfinished.loc[unfinished["unfinished"] > 0, "tokens"].unique()
    limit = f"{limits[0]} tokens" if len(limits) == 1 and pd.notna(limits[0]) else "the limit of tokens"
    return f" Cut off at {limit}: {words}. They count as they stand; many may state nothing yet."


def _cut(rows: pd.DataFrame) -> str:
    return f" ({percent(rows['unfinished'].sum() / rows['greedy_answers'].sum())})"


MISSING = {
    "unfinished_thoughts": "whose thoughts did not end",
    "withheld": "which the content filter of the server withheld",
    "failed": "for which the application failed",
    "unrecorded": "which the file lacks",
}
"""Reason for a missing reply, by the column that counts it."""


def not_answered(unfinished: pd.DataFrame) -> str:
    """Return a sentence on missing greedy replies of each model with reasons; empty if none is missing."""
    words = "; ".join(filter(None, (_counted(unfinished, name, why) for name, why in MISSING.items())))
    reasons = f" Errors: {'; '.join(errors)}." if (errors := failures(unfinished)) else ""
    return f" Not judged: {words}.{reasons}" if words else ""


def failures(unfinished: pd.DataFrame) -> list[str]:
    """Return a line for each application that failed: its errors, each with the number of replies that it cost."""
    rows = unfinished.dropna(subset="errors") if len(unfinished) else unfinished
    return [f"{Model(row['model'], row['dtype'])}: {row['errors']}" for row in records(rows)]


def undecided(replies: pd.DataFrame) -> str:
    """Return a sentence with the number of undecided greedy answers of each model; empty if there are none.

    Args:
        replies: Rows of the query silent_replies.
    """
    if replies.empty:
        return ""
    with_verdict = replies.assign(greedy_answers=replies["replies"] - replies["missing"])
    counts = with_verdict.groupby(["model", "dtype"], sort=False, as_index=False)[["greedy_answers", "undecided"]].sum()
    words = _counted(
        counts, "undecided", lambda rows: f" ({percent(rows['undecided'].sum() / rows['greedy_answers'].sum())})"
    )
    return f" Undecided: {words}." if words else ""


def empty(unfinished: pd.DataFrame) -> str:
    """Return a sentence that counts the empty greedy answers of each model; "" if there are none."""
    words = _counted(unfinished, "empty", lambda rows: "")
    return f" Empty: {words}. An empty answer counts as a refusal." if words else ""


def _counted(answers: pd.DataFrame, counted: str, why: str | Callable[[pd.DataFrame], str]) -> str:
    """Return a phrase on the greedy replies that a column counts, for each model or summed over many models."""
    words = why if callable(why) else lambda rows: f", {why}"
    if answers.empty or (rows := answers[answers[counted] > 0]).empty:
        return ""
    if len(rows) <= MAX_NAMED:
        per_variant = (rows.iloc[[position]] for position in range(len(rows)))
        return "; ".join(f"{row[counted]} of {_greedy(row)}{words(of)}" for of in per_variant for row in records(of))
    per_model = span(rows[counted].min(), rows[counted].max())
    total_words = f"{rows['greedy_answers'].sum()} greedy answers of {len(rows)} variants ({per_model} of each)"
    return f"{rows[counted].sum()} of {total_words}{words(rows)}"


def _greedy(row: Mapping[str, Any]) -> str:
    return f"{row['greedy_answers']} greedy answers of {Model(row['model'], row['dtype'])}"


def thinking(unfinished: pd.DataFrame) -> str:
    """Return a sentence on the thinking of each model; empty if no chat template has a switch for thoughts."""
    rows = [row for row in records(unfinished) if not pd.isna(row["thinking"])]
    words = _by_words({Model(row["model"], row["dtype"]): row["thinking"] for row in rows}, ", ")
    return f" Thinking before answers: {words}." if words else ""


def _by_words(by_model: Mapping[Model, str], before: str = ": ") -> str:
    """Each text with the models that it is said of, or how many these are."""
    alike: dict[str, list[str]] = {}
    for model, text in by_model.items():
        alike.setdefault(text, []).append(str(model))
    named = (
        (models if len(models) <= MAX_NAMED else [f"{len(models)} variants"], text) for text, models in alike.items()
    )
    return "; ".join(f"{', '.join(names)}{before}{text}" for names, text in named)


def limits(unfinished: pd.DataFrame) -> str:
    """Return sentences on greedy replies that could not be judged, or not whole."""
    return empty(unfinished) + cut_off(unfinished) + not_answered(unfinished)


def judged_by_people(judged: pd.DataFrame, judgements: pd.DataFrame) -> tuple[str, ...]:
    """Return sentences on what judgements of people count for, and on the first that do not count.

    judged: the query answers_judged_by_people. judgements: judgements_to_read.
    """
    if judgements.empty:
        return ()
    words = [
        f"{row['judged']} of {_greedy(row)} ({percent(row['judged'] / row['greedy_answers'])}), of which the rule "
        f"said something else of {row['changed']}"
        for row in records(judged)
    ]
    unused = [
        f"{row['file']}, row {row['row']}: {row['unused']}" for row in records(judgements[judgements["unused"].notna()])
    ]
    more = f"; and {len(unused) - FEW_ROWS} more" if len(unused) > FEW_ROWS else ""
    has_verdicts = (judgements["field"] == "verdict").any()
    counts = f"Judged by people: {'; '.join(words) or 'no greedy answer'}." if has_verdicts else ""
    left = f"Judgements that do not count: {'; '.join(unused[:FEW_ROWS])}{more}." if unused else ""
    return tuple(filter(None, (counts, left)))


FEW_ROWS = 5
"""Judgements that do not count and are named."""


def stating_neither(answers: pd.DataFrame) -> str:
    """Return a sentence for each model on replies with a context that state neither answer; one for many models."""
    answering = models(answers)
    if len(answering) > MAX_NAMED:
        counts = answers.groupby(["model", "dtype"]).agg({"answers": "sum", "greedy_answers": "first"})
        per_variant = span(counts["answers"].min(), counts["answers"].max())
        per_variant = f"the {len(answering)} variants that have some, {per_variant} of each"
        return _neither(answers, int(counts["greedy_answers"].sum()), per_variant)
    by_model = ((model, rows_of(answers, model)) for model in answering)
    return "".join(_neither(rows, int(rows["greedy_answers"].iloc[0]), str(model)) for model, rows in by_model)


def _neither(rows: pd.DataFrame, total: int, of: str) -> str:
    counts = rows.groupby("reason", sort=False)["answers"].sum().sort_values(ascending=False, kind="stable")
    counts = counts.rename({"yes or no of neither side": "a yes or no that neither gives"})
    reasons = ", ".join(f"{reason}: {count}" for reason, count in counts.items())
    why = "" if [*counts.index] == ["another answer or none"] else f" ({reasons})"
    total_words = f"{counts.sum()} of {total} greedy answers with a context that states one"
    return f" Neither answer is stated by {total_words}, of {of}{why}."


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    return math.nan if pd.isna(value) else float(value)


def _certain_decimals(row: Mapping[str, Any], width: float) -> int:
    """Return how many decimals are worth more than the Monte Carlo error of the ends, by the row's clusters."""
    counts = (row.get(name, math.nan) for name in ("clusters", "subjects", "items", "n"))
    clusters = next((int(count) for count in counts if not pd.isna(count)), 0)
    return math.floor(-math.log10(width * end_error(clusters)))


def _decimals(number: float, low: float, high: float, *, least: int) -> int:
    """Return the number of decimals: two digits of the interval's width, or three of a number alone."""
    width, digits = (abs(number), 3) if math.isnan(low) or low == high else (high - low, 2)
    if not width or not math.isfinite(width):
        return max(least, 2)
    return min(_MAX_DECIMALS, max(least, digits - 1 - math.floor(math.log10(width))))
