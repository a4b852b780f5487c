"""What was found, in sentences of numbers about each model, with 95% intervals in brackets. A null is a finding.

Each sentence says what its intervals are over. Tests lead with those by entity, whose rows are independent.

Three are said of every model: susceptibility, relevance, answers. Labels of entities and of contexts, what is known of
an entity, memorization, answer sets and Fisher susceptibility have one each where they were measured; a model in a
reduced precision has one on what that costs, one at a server one on what this says of itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from swaymeter.data.records import OWN_CONDITIONS
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL
from swaymeter.reports.estimates import (
    estimate,
    judged,
    limits,
    not_answered,
    percent,
    plural,
    served,
)
from swaymeter.reports.figures.against_susceptibility import ANSWER_SET, correlation, masses
from swaymeter.reports.figures.how_known import COUNTS, DEGREES, spearman
from swaymeter.reports.figures.labels import tones
from swaymeter.reports.figures.panels import query_types
from swaymeter.reports.figures.persuasion import EVERY
from swaymeter.reports.figures.reliability import cost
from swaymeter.reports.frames import (
    Frames,
    are_own,
    as_published,
    by_entity,
    in_order,
    partitions,
    records,
    where,
    with_empty,
)
from swaymeter.reports.models import RUNS, Model, by_size, models, rows_of
from swaymeter.reports.published import aliases, in_papers, significant
from swaymeter.reports.style import QUERY_HUES
from swaymeter.reports.words import CONDITION_NAMES

NOT_JUDGED = "Whose answer was given was not measured: `whose_answer: {}` under `measures` in the study measures it."
SAID = {
    "follows": "gave the passage's answer",
    "prefers_right": "gave the right answer alone",
    "prefers_wrong": "gave the wrong answer alone",
    "names_both": "gave both answers",
    "keeps": "stayed the same",
}
"""Shares of greedy answers to one's own questions in words, by the quantities of models."""
UNCHANGED = "coherent_persuasion_unchanged"


@dataclass(frozen=True)
class Finding:
    """A sentence about a model, empty where there is none, and the named queries that it reads, the measure's first."""

    queries: tuple[str, ...]
    sentence: Callable[[Model, Frames], str]


def findings(frames: Frames) -> dict[str, list[str]]:
    """Sentences by model and dtype; one says so where susceptibility, persuasion or answers were not measured."""
    known = with_empty(frames, dict.fromkeys(name for finding in FINDINGS for name in finding.queries))
    scored = by_size({model for finding in FINDINGS for model in models(known[finding.queries[0]])})
    runs, sentences_of = with_empty(frames, [RUNS])[RUNS], {}
    for model in scored:
        of_model = {name: rows_of(frame, model) for name, frame in known.items()} | {RUNS: runs}
        sentences = [finding.sentence(model, of_model) for finding in FINDINGS]
        sentences_of[str(model)] = [sentence for sentence in sentences if sentence]
    return sentences_of


def _familiarity(model: Model, frames: Frames) -> str:
    means = frames["susceptibility_in_short"]
    if means.empty:
        return "" if _is_of_questions(frames) else "Susceptibility was not measured."
    words = []
    for kind in query_types(means):
        invented, real = (where(means, query_type=kind, invented=group) for group in (True, False))
        against = f" for invented entities against {_mean(real)} for real ones ({_tests(frames, 'familiarity', kind)})"
        words.append(f"{kind} queries {_mean(real if invented.empty else invented)}{'' if invented.empty else against}")
    relations = int(frames["coverage_of_susceptibility"]["relations"].iloc[0])
    return f"Mean susceptibility over {plural(relations, 'relation')}: {'; '.join(words)}; intervals over relations."


def _is_of_questions(frames: Frames) -> bool:
    """Whether only questions were asked: then nobody expects anything of queries."""
    of_queries = frames["susceptibility_in_short"], frames["persuasion_in_short"]
    return len(frames["outcomes"]) > 0 and all(frame.empty for frame in of_queries)


def _relevance(model: Model, frames: Frames) -> str:
    means = frames["persuasion_in_short"]
    if means.empty:
        return "" if _is_of_questions(frames) else "Persuasion was not measured."
    if not means["relevant"].fillna(False).any():
        every = where(means, relevant=False)
        words = [f"{kind} queries by {_mean(where(every, query_type=kind))}" for kind in query_types(every)]
        return f"Contexts, none of which mentions a queried entity, moved {'; '.join(words)}; intervals over relations."
    words = []
    for kind in query_types(means):
        about, others = (_mean(where(means, query_type=kind, relevant=group)) for group in (True, False))
        words.append(f"{kind} queries by {about} against {others} ({_tests(frames, 'relevance', kind)})")
    moved = f"{'; '.join(words)}; intervals over relations"
    return f"Contexts that mention the entity, against those that do not, moved {moved}."


def _labels(model: Model, frames: Frames) -> str:
    """The mean susceptibility of each label, with the test where there are two."""
    means, words = frames["susceptibility_by_label"], []
    if means.empty or means["type"].notna().all():
        return ""
    means = in_order(means[means["type"].isna()], query_type=QUERY_HUES)
    for (relation, kind), rows in means.groupby(["relation", "query_type"], sort=False):
        labels = sorted(rows["label"])
        of_labels = " against ".join(f"{_mean(where(rows, label=label))} for {label}" for label in labels)
        group = {"comparison": "label", "within": "all", "relation": relation, "query_type": kind}
        tests, of_test = records(where(frames["group_comparisons"], **group)), ""
        if len(tests) == 1 and pd.isna(tests[0]["p_adjusted"]):
            of_test = f" (untestable: {tests[0]['untestable']})"
        elif len(tests) == 1:
            of_test = f" (p = {tests[0]['p_adjusted']:.3f} adjusted, d = {tests[0]['effect_size']:z.2f})"
        words.append(f"{relation}, {kind} queries {of_labels}{of_test}")
    return f"Mean susceptibility of labelled entities: {'; '.join(words)}; intervals over entities."


def _known(model: Model, frames: Frames) -> str:
    """How susceptibility goes with what is known of an entity: its degree in a graph, its counts in a corpus."""
    sentences = []
    for count, label in {**DEGREES, **COUNTS}.items():
        of_kinds = {kind: spearman(frames["correlations"], count, kind) for kind in QUERY_HUES}
        if words := "; ".join(f"{kind} queries {of_kind}" for kind, of_kind in of_kinds.items() if of_kind):
            about = {"measure_a": f"log_{count}", "measure_b": "susceptibility"}
            printed = in_papers(model.name, frames[RUNS], ("du-fig-9",), "spearman", **about)
            sentences.append(f"Susceptibility of real entities against their {label}: {words}{printed}.")
    return " ".join(sentences)


def _tones(model: Model, frames: Frames) -> str:
    """How far contexts of each label persuade, about the queried entity."""
    words = tones(frames["group_comparisons"])
    return f"Contexts about the queried entity moved {words}." if words else ""


def _answers(model: Model, frames: Frames) -> str:
    rows = frames["outcomes"]
    if rows.empty:
        return "Answers to questions were not sampled."
    unfinished = frames["unfinished_greedy_answers"]
    answers = _of_answers(model, rows, frames)
    if answers == NOT_JUDGED and not_answered(unfinished):  # which is the reason, then
        answers = ""
    return f"{answers}{limits(unfinished)}".strip()


def _of_answers(model: Model, rows: pd.DataFrame, frames: Frames) -> str:
    """What the greedy answers did with a context."""
    if are_own(rows):
        return _own_answers(frames["models_side_by_side"])
    condition = "counter_memory" if (rows["condition"] == "counter_memory").any() else "original"
    rows = where(rows, condition=condition)
    if not rows["measured"].any():
        return NOT_JUDGED
    means, words = where(frames["partition_means"], condition=condition), []
    for partition in partitions(rows):
        of = {row["quantity"]: row for row in records(where(means, partition=partition))}
        moved = f"; mean coherent persuasion {_mean(of['coherent_persuasion'])}" if "coherent_persuasion" in of else ""
        moved += f", {_mean(of[UNCHANGED])} where nothing changes" if UNCHANGED in of else ""
        count = plural(int(of["stubborn"]["n"]), f"{partition} question")
        printed = in_papers(
            model.name, frames[RUNS], ("marjanovic-table-1",), "share_persuaded", "share_stubborn",
            partition=partition, condition=condition,
        )  # fmt: skip
        printed = printed and f"{printed} by ROUGE-L"
        words.append(
            f"{of_answers(of.get('following'))} of {count} ({of_answers(of.get('persuaded'))} persuaded, "
            f"{of_answers(of['stubborn'])} stubborn{moved}{printed})"
        )
    context = "a counter-memory context" if condition == "counter_memory" else "the original context"
    shares = f"{'; '.join(words)}; intervals over subjects"
    said = f"With {context}, the greedy answer stated the context's answer in {shares}."
    return said + judged(means, frames["stand_ins"])


def _own_answers(means: pd.DataFrame) -> str:
    """What greedy answers did with each kind of context, over all groups: the shares of the table of models."""
    sentences, over = [], ""
    for quantity, said in SAID.items():
        rows = records(in_order(where(means, quantity=quantity), group=OWN_CONDITIONS))
        shares = [f"{of_answers(row)} of {plural(int(row['n']), CONDITION_NAMES[row['group']])}" for row in rows]
        sentences += [f"{said} with {' and '.join(shares)}"] if shares else []
        over = str(rows[-1]["interval_over"]) if rows else over
    return f"The greedy answer {'; it '.join(sentences)}; intervals over {over}s." if sentences else NOT_JUDGED


def _served(model: Model, frames: Frames) -> str:
    return served(frames["served_models"]).strip()


def _memorization(model: Model, frames: Frames) -> str:
    means, words = where(frames["memorization_in_short"], contexts="conflicting contexts"), []
    for kind in query_types(means):
        row = _row(means[means["memorization_ratio"].isna()], query_type=kind)
        mean = f"{row['mean']:.2f}" if row["queries"] else "undefined"
        words.append(f"{mean} over {row['queries']} of {plural(int(row['all_queries']), f'{kind} query')}")
        followed = where(frames["followed_in_short"], contexts=EVERY, query_type=kind)
        rows = (_row(followed, follows=name) for name in ("context", "original"))
        context, original = (percent(row.get("share_answers", 0.0)) for row in rows)
        if kind in query_types(frames["followed_in_short"]):
            words[-1] += f" (greedy answers after all contexts: {context} the context's, {original} the original)"
    return f"Mean memorization ratio: {'; '.join(words)}." if words else ""


def _answer_sets(model: Model, frames: Frames) -> str:
    words, mass = _of_measure(model, frames, ANSWER_SET), masses(frames["measures_in_short"])
    sets = f"Mean susceptibility over whole answers, whose sets have a mean probability of {mass}"
    return f"{sets}: {words}." if words else ""


def _fisher(model: Model, frames: Frames) -> str:
    for measure, over in (("fisher", "over the full vocabulary"), ("fisher_top_k", "over the top answers")):
        if row := _row(frames["measures_in_short"], measure=measure):
            return f"Mean Fisher susceptibility {over}, in {row['unit']}: {_of_measure(model, frames, measure)}."
    return ""


def _precision(model: Model, frames: Frames) -> str:
    if not model.reduced or all(frames[finding.queries[0]].empty for finding in FINDINGS if finding is not ANSWERS):
        return ""
    rows = frames["precision_of_queries"]
    words = cost(frames["precision_in_short"], rows, model.dtype) if len(rows) else ""
    if not words:
        return (
            f"What {model.dtype} costs against float32 was not measured: `precision: {{}}` under `measures` in the "
            "study measures it."
        )
    return f"What the precision costs: {words}."


def _of_measure(model: Model, frames: Frames, measure: str) -> str:
    """The means of a measure by query type in words, each with its correlation with susceptibility."""
    means = where(frames["measures_in_short"], measure=measure)
    known = where(frames["correlations"], measure_a=measure)
    items, words = ("liu-table-1",) if measure.startswith("fisher") else (), []
    for kind in query_types(means):
        row, both = _row(means, query_type=kind), correlation(known, "query", kind)
        printed = in_papers(model.name, frames[RUNS], items, "pearson", "spearman", query_type=kind, level="query")
        with_susceptibility = f" (with susceptibility: {both}{printed})" if both else ""
        of_fisher = f"{row['mean']:,.0f}" if row["mean"] >= 100 else f"{row['mean']:.3g}"
        words.append(f"{kind} queries {of_fisher if items else _mean(row)}{with_susceptibility}")
    return "; ".join(words)


def _row(rows: pd.DataFrame, **values: object) -> dict[str, Any]:
    """The first row with these values; empty where there is none."""
    return next(iter(records(where(rows, **values))), {})


def _mean(rows: pd.DataFrame | Mapping[str, Any]) -> str:
    """A mean with its 95% interval, where it has one, and its unit: of a row, or of the first of rows."""
    first = rows if isinstance(rows, Mapping) else next(iter(records(rows.head(1))), None)
    return f"{estimate(first)} {first['unit']}" if first else "nothing measured"


def _tests(frames: Frames, comparison: str, kind: str) -> str:
    """The test by entity; after it the published one, whose rows depend on each other."""
    tests = where(frames["statistics_in_short"], comparison=comparison, query_type=kind)
    entity, published = (_significant(_row(some)) for some in (by_entity(tests), as_published(tests)))
    if not published:
        return "not tested"
    name = str(tests["model"].iloc[0])
    printed = significant(aliases([name], frames[RUNS])[name], comparison, kind)
    in_paper = f"; in the paper: {printed[0]}" if printed else ""
    return f"by entity {entity}; as published, a row a query: {published}{in_paper}"


def _significant(row: Mapping[str, Any]) -> str:
    """In how many relations a test is significant; empty where there is no test."""
    if not row:
        return ""
    tested, untestable = int(row["tested"]), int(row["untestable"])
    if not tested:
        return f"untestable in {plural(untestable, 'relation')}: {row['reasons']}"
    mean = f", mean d {row['mean_effect_size']:z.2f}" if row["finite_effects"] else ""
    rest = f", {untestable} untestable: {row['reasons']}" if untestable else ""
    return f"significant in {row['significant'] or 'none'} of {plural(tested, 'relation')}{mean}{rest}"


def of_answers(row: Mapping[str, Any] | None) -> str:
    """A share with its interval; of fewer answers than have one their number."""
    if row is None:
        return "an unmeasured share"
    return estimate(row) if row["n"] >= FEWEST_FOR_INTERVAL else f"{row['n'] * row['mean']:.0f}"


ANSWERS = Finding(
    ("outcomes", "partition_means", "models_side_by_side", "stand_ins", "unfinished_greedy_answers"), _answers
)
FINDINGS: tuple[Finding, ...] = (
    Finding(("susceptibility_in_short", "coverage_of_susceptibility", "statistics_in_short"), _familiarity),
    Finding(("persuasion_in_short", "statistics_in_short"), _relevance),
    Finding(("susceptibility_by_label", "group_comparisons"), _labels), Finding(("group_comparisons",), _tones),
    Finding(("correlations",), _known), ANSWERS,
    Finding(("memorization_in_short", "followed_in_short"), _memorization),
    Finding(("answer_set_of_queries", "measures_in_short", "correlations"), _answer_sets),
    Finding(("fisher_of_queries", "measures_in_short", "correlations"), _fisher),
    Finding(("precision_of_queries", "precision_in_short"), _precision),
    Finding(("models_side_by_side", "served_models"), _served),
)
"""Every finding, in the order of the page."""
