"""Text of numbers with intervals on pages, in captions and in the terminal, and sentences on counts of replies.

    22.5% [9.1, 43.2]    +12.5 points [3.0, 21.4]    0.0031 [0.0012, 0.0049]

A share has one decimal. Any other number shows two digits of the interval's width, and a number without an interval
three digits. Except in shares and their differences, no decimal is finer than the Monte Carlo error of the interval's
ends.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import pandas as pd

from swaymeter.data.records.statistics import ALPHA, EQUAL, FEWEST_FOR_INTERVAL, SHARE, end_error
from swaymeter.reports.frames import records, where
from swaymeter.reports.models import Model, models, rows_of

FEWEST_FOR_R = 20
"""Minimum number of points for a correlation. For 20 uncorrelated points, |r| is below 0.44 in 95% of samples."""
EQUIVALENCE = ("clusters", "semantic_entropy", "coherent_persuasion")
"""Measures that depend on equivalence, that is, on which sampled replies have one meaning."""
MAX_NAMED = 4
"""Upper bound on models that a sentence names, each with its number; more models are summed up."""
_MAX_DECIMALS = 7


def percent(share: float) -> str:
    """Return a share between 0 and 1 in percent."""
    return f"{100 * share:.1f}%"


def estimate(row: Mapping[str, Any], name: str = "mean", *, unit: str | None = None, signed: bool = False) -> str:
    """Return a number; with its interval if the row has an interval.

    Args:
        row: The number in the column `name`, with low, high and unit.
        name: Column of the number.
        unit: Unit of the number; None for the row's unit.
        signed: True for a difference, which gets a sign. A difference of shares is in percentage points.
    """
    is_share = (row["unit"] if unit is None else unit) == SHARE
    number, low, high = ((100 if is_share else 1) * _number(row, key) for key in (name, "low", "high"))
    decimals = 1 if is_share and not signed else _decimals(number, low, high, least=int(is_share))
    if not is_share and low < high:
        decimals = max(0, min(decimals, _decimals_above_error(row, high - low)))
    suffix = ""
    if is_share:
        suffix = " points" if signed else "%"
    text = f"{number:{'+' if signed else ''}z.{decimals}f}{suffix}"  # z: a number that rounds to 0 has no minus
    return text if math.isnan(low) else f"{text} [{low:z.{decimals}f}, {high:z.{decimals}f}]"


def number(value: float, unit: str) -> str:
    """Return a number without an interval."""
    return estimate({"mean": value, "unit": unit})


def distinct_numbers(first: float, other: float, unit: str) -> tuple[str, str]:
    """Return two numbers as texts, with enough digits that unequal numbers have unequal texts."""
    texts = number(first, unit), number(other, unit)
    factor, sign = (100, "%") if unit == SHARE else (1, "")
    for decimals in range(2, 16):
        if texts[0] == texts[1]:
            texts = f"{factor * first:.{decimals}f}{sign}", f"{factor * other:.{decimals}f}{sign}"
    return texts


def too_few_for_r(n: int) -> str:
    """Return the reason why a figure shows no correlation of n points; empty if n is large enough."""
    return f"n = {n}, too few for r" if n < FEWEST_FOR_R else ""


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 day", "2 days" or "2 queries"."""
    if number == 1:
        return f"{number} {noun}"
    return f"{number} {noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{number} {noun}s"


def span(low: float, high: float) -> str:
    """Return a range of counts, such as 3 to 5; a single count if both ends are equal."""
    return f"{int(low)}" if low == high else f"{int(low)} to {int(high)}"


def significant_relations(row: Mapping[str, Any], tests: pd.DataFrame) -> str:
    """Return the number of relations in which a test by entity is significant, in words.

    An example: "2 of 8 relations (author, capital), with 50 against 50 entities each; adjusted p up to 0.01".

    Args:
        row: Row of the named query `statistics_summary`, with the numbers of tested and of significant relations.
        tests: The tests that the row summarizes, from the named query `statistics`, a row for each relation.
    """
    if not row["tested"]:
        return "none: too few entities for any test"
    count = f"{row['significant'] or 'none'} of {plural(int(row['tested']), 'relation')}"
    shown = tests[tests["p_adjusted"] <= ALPHA] if len(tests) else tests
    if shown.empty:
        return count
    names = f" ({', '.join(sorted(shown['relation']))})" if len(shown) <= MAX_NAMED else ""
    sizes = (span(shown[name].min(), shown[name].max()) for name in ("n_a", "n_b"))
    all_smallest = all(map(_has_smallest_p, records(shown)))
    smallest_words = f", p = {shown['p'].max():.2g}, the smallest that so few can give" if all_smallest else ""
    return (
        f"{count}{names}, with {' against '.join(sizes)} entities each{smallest_words}; adjusted p up to "
        f"{shown['p_adjusted'].max():.2g}"
    )


def _has_smallest_p(test: Mapping[str, Any]) -> bool:
    if test["test"] == "sign flip":
        permutations = 2 ** test["n_a"]
    else:
        permutations = math.comb(test["n_a"] + test["n_b"], test["n_a"])
    extreme = 1 if test["alternative"] == "greater" else 2  # number of permutations with the most extreme statistic
    return math.isclose(test["p"], extreme / permutations, rel_tol=1e-9)


def interval_over(units: str) -> str:
    """Return the words of a caption for the interval of a mean over units, such as "entities"."""
    return f"95% interval over {units} (none of fewer than {FEWEST_FOR_INTERVAL})"


def direction(row: Mapping[str, Any]) -> str:
    """Return the direction of a difference, such as "larger" or "equal ±5 points", or the reason for a missing test."""
    if row["direction"] != EQUAL:
        return str(next((row[name] for name in ("direction", "untestable") if not pd.isna(row[name])), ""))
    unit, factor = ("points", 100) if row["unit"] == SHARE else (row["unit"], 1)
    return f"equal ±{factor * row['margin']:.2g} {unit}".rstrip()


def stand_in_words(stand_ins: pd.DataFrame, measures: Iterable[str]) -> str:
    """Return the texts on the stand-in models of these measures; empty without stand-ins."""
    if stand_ins.empty:
        return ""
    rows_of_measures = stand_ins[stand_ins["measure"].isin(list(measures))]
    return "; ".join(sorted({str(text) for text in rows_of_measures["stand_in"].dropna() if str(text)}))


def equivalence_sentence(means: pd.DataFrame, stand_ins: pd.DataFrame) -> str:
    """Return a sentence on the stand-in model that decided equivalence; empty if no mean depends on a stand-in."""
    stand_in = stand_in_words(stand_ins, EQUIVALENCE) if len(where(means, quantity="coherent_persuasion")) else ""
    return f" Coherent persuasion does not compare with published values: {stand_in}." if stand_in else ""


def server_sentences(servers: pd.DataFrame, means: pd.DataFrame | None = None) -> str:
    """Return sentences on served models; empty without served models.

    Args:
        servers: Rows of the named query `served_models`; the column `server` has what a server reports of itself.
        means: Means of all models. Beside local models, a sentence says why results of served models may differ.
    """
    words = _grouped_by_text({Model(row["model"], row["dtype"]): row["server"] for row in records(servers)})
    if not words:
        return ""
    answered = f" Answered at a server: {words}."
    if means is None or not set(models(means)) - set(models(servers)):
        return answered
    return (
        f"{answered} Results of served models also depend on the server's number format and rounding. If prompts are "
        "sent as messages, results also depend on the server's chat template, system prompt and start token."
    )


def cut_off_sentence(reply_counts: pd.DataFrame) -> str:
    """Return a sentence on the number of each model's cut-off greedy replies; empty if no reply is cut off."""
    words = _count_phrase(reply_counts, "unfinished", partial(_share_of_replies, "unfinished"))
    if not words:
        return ""
    limits = reply_counts.loc[reply_counts["unfinished"] > 0, "tokens"].unique()
    limit = f"{limits[0]} tokens" if len(limits) == 1 and pd.notna(limits[0]) else "the limit of tokens"
    return f" Cut off at {limit}: {words}. They count as they stand; many may state nothing yet."


def _share_of_replies(column: str, rows: pd.DataFrame) -> str:
    return f" ({percent(rows[column].sum() / rows['greedy_answers'].sum())})"


MISSING = {
    "unfinished_thoughts": "because the thoughts did not end",
    "withheld": "because the server's content filter withheld the text",
    "failed": "because the application failed",
    "unrecorded": "because the file has no reply",
}
"""Reasons for missing replies, by the column with the number of such replies."""


def missing_sentence(reply_counts: pd.DataFrame) -> str:
    """Return a sentence on missing greedy replies of each model with reasons; empty if no reply is missing."""
    words = "; ".join(filter(None, (_count_phrase(reply_counts, name, reason) for name, reason in MISSING.items())))
    errors = error_lines(reply_counts)
    error_words = f" Errors: {'; '.join(errors)}." if errors else ""
    return f" Not judged: {words}.{error_words}" if words else ""


def error_lines(reply_counts: pd.DataFrame) -> list[str]:
    """Return a line for each application with errors: the ten most frequent errors, each with a number of replies."""
    rows = reply_counts.dropna(subset="errors") if len(reply_counts) else reply_counts
    return [f"{Model(row['model'], row['dtype'])}: {row['errors']}" for row in records(rows)]


def undecided_sentence(replies: pd.DataFrame) -> str:
    """Return a sentence on the number of undecided greedy replies of each model; empty if no reply is undecided.

    Args:
        replies: Rows of the named query `silent_replies`.
    """
    if replies.empty:
        return ""
    existing = replies.assign(greedy_answers=replies["replies"] - replies["missing"])
    counts = existing.groupby(["model", "dtype"], sort=False, as_index=False)[["greedy_answers", "undecided"]].sum()
    words = _count_phrase(counts, "undecided", partial(_share_of_replies, "undecided"))
    return f" Without a decision (the rule finds neither answer, or an unclear one): {words}." if words else ""


def empty_sentence(reply_counts: pd.DataFrame) -> str:
    """Return a sentence on the number of empty greedy replies of each model; empty if no reply is empty."""
    words = _count_phrase(reply_counts, "empty", lambda rows: "")
    return f" Empty: {words}. An empty answer counts as a refusal." if words else ""


def _count_phrase(reply_counts: pd.DataFrame, column: str, suffix: str | Callable[[pd.DataFrame], str]) -> str:
    """Return a phrase on the greedy replies that a column counts: a count for each model, or a sum over many models.

    Args:
        suffix: Reason after each count, or a function from the counted rows to the text after their count.
    """
    suffix_of = suffix if callable(suffix) else lambda rows: f", {suffix}"
    if reply_counts.empty or (rows := reply_counts[reply_counts[column] > 0]).empty:
        return ""
    if len(rows) <= MAX_NAMED:
        parts = []
        for position, row in enumerate(records(rows)):
            parts.append(f"{row[column]} of {_greedy_phrase(row)}{suffix_of(rows.iloc[[position]])}")
        return "; ".join(parts)
    per_model = span(rows[column].min(), rows[column].max())
    total_words = f"{rows['greedy_answers'].sum()} greedy answers of {len(rows)} variants ({per_model} of each)"
    return f"{rows[column].sum()} of {total_words}{suffix_of(rows)}"


def _greedy_phrase(row: Mapping[str, Any]) -> str:
    return f"{row['greedy_answers']} greedy answers of {Model(row['model'], row['dtype'])}"


def thinking_sentence(reply_counts: pd.DataFrame) -> str:
    """Return a sentence on the thinking of each model; empty if no chat template has a switch for thoughts."""
    rows = [row for row in records(reply_counts) if not pd.isna(row["thinking"])]
    words = _grouped_by_text({Model(row["model"], row["dtype"]): row["thinking"] for row in rows}, ", ")
    return f" Thinking before answers: {words}." if words else ""


def _grouped_by_text(text_of_model: Mapping[Model, str], separator: str = ": ") -> str:
    """Return the texts, each after the names of its models, or after the number of models if there are many."""
    names_of_text: dict[str, list[str]] = {}
    for model, text in text_of_model.items():
        names_of_text.setdefault(text, []).append(str(model))
    parts = []
    for text, names in names_of_text.items():
        subject = ", ".join(names) if len(names) <= MAX_NAMED else f"{len(names)} variants"
        parts.append(f"{subject}{separator}{text}")
    return "; ".join(parts)


def incomplete_replies(reply_counts: pd.DataFrame) -> str:
    """Return sentences on empty, unfinished and missing greedy replies."""
    return empty_sentence(reply_counts) + cut_off_sentence(reply_counts) + missing_sentence(reply_counts)


def people_sentences(judged: pd.DataFrame, judgements: pd.DataFrame) -> tuple[str, ...]:
    """Return a sentence on the replies that people judged, and one on the judgements that do not count.

    Args:
        judged: Rows of the named query `answers_judged_by_people`.
        judgements: Rows of the named query `judgements_to_read`.
    """
    if judgements.empty:
        return ()
    words = [
        f"{row['judged']} of {_greedy_phrase(row)} ({percent(row['judged'] / row['greedy_answers'])}), "
        f"{row['changed']} of them with another verdict than the rule's"
        for row in records(judged)
    ]
    unused = [
        f"{row['file']}, row {row['row']}: {row['unused']}" for row in records(judgements[judgements["unused"].notna()])
    ]
    more = f"; and {len(unused) - FEW_ROWS} more" if len(unused) > FEW_ROWS else ""
    has_verdicts = (judgements["field"] == "verdict").any()
    used_words = f"Judged by people: {'; '.join(words) or 'no greedy answer'}." if has_verdicts else ""
    unused_words = f"Judgements that do not count: {'; '.join(unused[:FEW_ROWS])}{more}." if unused else ""
    return tuple(filter(None, (used_words, unused_words)))


FEW_ROWS = 5
"""Upper bound on the judgements that the sentence on unused judgements lists."""


def neither_sentences(answers: pd.DataFrame) -> str:
    """Return sentences on replies with a context that state neither the context's answer nor the original answer.

    Args:
        answers: Rows of the named query `greedy_answers_of_neither`, one for each model and reason.
    """
    counted_models = models(answers)
    if len(counted_models) > MAX_NAMED:
        counts = answers.groupby(["model", "dtype"]).agg({"answers": "sum", "greedy_answers": "first"})
        per_variant = span(counts["answers"].min(), counts["answers"].max())
        variants = f"{len(counted_models)} variants ({per_variant} of each)"
        return _neither_sentence(answers, int(counts["greedy_answers"].sum()), variants)
    by_model = ((model, rows_of(answers, model)) for model in counted_models)
    return "".join(_neither_sentence(rows, int(rows["greedy_answers"].iloc[0]), str(model)) for model, rows in by_model)


def _neither_sentence(rows: pd.DataFrame, total: int, variants: str) -> str:
    counts = rows.groupby("reason", sort=False)["answers"].sum().sort_values(ascending=False, kind="stable")
    counts = counts.rename({"yes or no of neither side": "a yes or no that is neither side's answer"})
    reasons = ", ".join(f"{reason}: {count}" for reason, count in counts.items())
    reason_words = "" if [*counts.index] == ["another answer or none"] else f" ({reasons})"
    return (
        f" With a context that states an answer, {counts.sum()} of {total} greedy answers of {variants} state another "
        f"answer or no answer{reason_words}."
    )


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    return math.nan if pd.isna(value) else float(value)


def _decimals_above_error(row: Mapping[str, Any], width: float) -> int:
    # The first of these columns with a value has the number of units that the bootstrap draws.
    counts = (row.get(name, math.nan) for name in ("clusters", "subjects", "items", "n"))
    units = next((int(count) for count in counts if not pd.isna(count)), 0)
    return math.floor(-math.log10(width * end_error(units)))


def _decimals(number: float, low: float, high: float, *, least: int) -> int:
    """Return the number of decimals for two digits of the interval's width, or for three digits without an interval."""
    size, digits = (abs(number), 3) if math.isnan(low) or low == high else (high - low, 2)
    if not size or not math.isfinite(size):
        return max(least, 2)
    return min(_MAX_DECIMALS, max(least, digits - 1 - math.floor(math.log10(size))))
