"""Caveats: sentences that limit the findings; a function returns "" if there is nothing to warn of.

The frames of `stand_ins` and `neither` must have rows.
"""

from collections.abc import Iterable

from swaymeter.data.records.findings import Claim, StudyCard
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.reports.estimates import estimate, plural
from swaymeter.reports.figures.panels import query_types
from swaymeter.reports.frames import Frames, by_entity, records, where
from swaymeter.reports.headline import LABELS, RELATIONS
from swaymeter.reports.models import models, rows_of

WIDE_INTERVAL = 10
"""Half-width of an interval, in percentage points, from which the report warns that a share rests on few items."""
FEW_ENTITIES = 10
"""Number of entities of a group and relation below which the report warns."""
LITTLE_MEMORY = 0.25
"""Share of right closed-book replies below which contexts have little memory to counter."""


def missing_work(card: StudyCard | None) -> str:
    """Return a sentence on the number of tasks without a result."""
    missing = card.not_run if card else ()
    if not missing:
        return ""
    return f"Parts of the study are missing: {plural(len(missing), 'piece')} of work, listed at the end."


def few_questions(frames: Frames) -> str:
    """Return a sentence on the number of questions if it is too small for an interval."""
    setup = frames["setup"]
    questions = int(where(setup, quantity="questions")["total"].sum()) if len(setup) else 0
    if not 0 < questions < FEWEST_FOR_INTERVAL:
        return ""
    return f"Few items: with {plural(questions, 'question')}, no share or mean here can be relied on."


def wide_intervals(claims: Iterable[Claim]) -> str:
    """Return a sentence on the widest interval of the claims' shares if its half-width is at least WIDE_INTERVAL."""
    intervals = [number.interval for claim in claims for number in claim.numbers if number.interval]
    half_width = max(((high - low) / 2 for _, low, high in intervals), default=0.0)
    if half_width < WIDE_INTERVAL:
        return ""
    return f"Few items: the widest interval of a share above is ±{half_width:.0f} points."


def few_entities(frames: Frames) -> str:
    """Return a sentence on tests that could not become significant; without such tests, on the smallest group."""
    summary, tests = by_entity(frames["statistics_summary"]), by_entity(frames["statistics"])
    if untestable := int(summary["untestable"].sum()) if len(summary) else 0:
        return (
            f"Few entities: {plural(untestable, 'test')} by entity could not become significant, whatever was measured."
        )
    sizes = [tests["n_a"], tests["n_b"]] if len(tests) else []
    sizes += [frames[name]["entities"] for name in (RELATIONS, LABELS) if len(frames[name])]
    fewest = min((int(counts.min()) for counts in sizes), default=FEW_ENTITIES)
    if fewest >= FEW_ENTITIES:
        return ""
    words = "too few for an interval" if fewest < FEWEST_FOR_INTERVAL else "and one of them can change a mean or a test"
    return f"Few entities: {fewest} per group and relation, {words}."


def baseline_of_persuasion(frames: Frames) -> str:
    """Return a sentence on a baseline: the mean persuasion of contexts that are not about the query's entity."""
    rows = frames["persuasion_summary"]
    rows = where(rows[rows["relevant"].notna()], relevant=False) if len(rows) else rows
    has_several_models = len(models(rows)) > 1
    means = "; ".join(
        f"{estimate(row)} nats ({kind} queries{f', {model}' * has_several_models})"
        for model in models(rows)
        for kind in query_types(rows_of(rows, model))
        for row in records(where(rows_of(rows, model), query_type=kind))
    )
    if not means:
        return ""
    return f"Contexts about other entities persuade by {means}: compare a mean with this baseline, not with 0."


def stubborn_is_not_resistance(frames: Frames) -> str:
    """Return a warning if replies that count as stubborn by ROUGE-L state the context's answer."""
    outcomes = frames["outcomes"]
    if outcomes.empty or not outcomes["following_stubborn"].sum():
        return ""
    return "Stubborn by ROUGE-L is not resistance: ROUGE-L counts long replies as alike even if their answers differ."


def little_memory(frames: Frames) -> str:
    """Return a sentence on the share of right closed-book replies if the share is small."""
    closed_book = where(frames["models_side_by_side"], quantity="correct", group="none")
    largest = max(records(closed_book), key=lambda row: float(row["mean"]), default=None)
    if largest is None or largest["mean"] >= LITTLE_MEMORY:
        return ""
    share = estimate(largest) if largest["n"] >= FEWEST_FOR_INTERVAL else f"{largest['n'] * largest['mean']:.0f}"
    bound = "at most " if len(closed_book) > 1 else ""
    return f"Without a context {bound}{share} of {largest['n']} answers are right: there is little memory to counter."


def stand_ins(frames: Frames) -> str:
    """Return a sentence on the measures that depend on a stand-in model."""
    words = [
        f"{', '.join(sorted({str(name).replace('_', ' ') for name in measures}))} ({stand_in})"
        for stand_in, measures in frames["stand_ins"].groupby("stand_in")["measure"]
    ]
    return f"Not to be compared with published values: {'; '.join(words)}."


def reply_count(frames: Frames, named_query: str, column: str, words: str) -> str:
    """Return a sentence on the number of replies that a column counts, such as "3 of 120 replies are empty.".

    Args:
        frames: Frames by named query; silent_replies has the number of all replies.
        named_query: Name of the query with the counts of each variant.
        column: Column of the counts.
        words: Words after the verb, such as "empty".
    """
    rows, silent = frames[named_query], frames["silent_replies"]
    total = int(silent["replies"].sum()) if len(silent) else 0
    count = int(rows[column].sum()) if len(rows) else 0
    return f"{count} of {plural(total, 'reply')} {'is' if count == 1 else 'are'} {words}." if count else ""


def cut_off(frames: Frames) -> str:
    """Return a sentence on the replies that ended at the limit of tokens."""
    tokens = frames["unfinished_greedy_answers"].query("unfinished > 0")["tokens"].dropna().unique()
    limit = f"at {tokens[0]:.0f} tokens" if len(tokens) == 1 else "at the limit of tokens"
    return reply_count(frames, "unfinished_greedy_answers", "unfinished", f"cut off {limit} (max_new_tokens)")


def neither(frames: Frames) -> str:
    """Return a sentence on the replies that state neither the context's answer nor the original answer."""
    rows = frames["greedy_answers_of_neither"]
    count, total = int(rows["answers"].sum()), int(rows["of_all_variants"].iloc[0])
    verb = "states" if count == 1 else "state"
    return f"{count} of {plural(total, 'reply')} with a context {verb} another answer or none."


def undecided(frames: Frames) -> str:
    """Return a sentence on undecided replies; without a judge, the sentence names the option for a judge."""
    remedy = "" if len(frames["judges_of_answers"]) else "; a judge decides them (audit: --judge NAME)"
    words = f"without a decision (the rule finds neither answer, or an unclear one){remedy}"
    return reply_count(frames, "silent_replies", "undecided", words)
