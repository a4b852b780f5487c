"""Findings: the sentences of a report, each with its named queries (SQL) and its condition.

The page, the terminal, findings.json and Prefect's artifact render the same findings. A finding belongs to a section:

    variants, queries, questions   the headline: at most five findings, with which a report opens
    details                        measures beside the headline
    caveats                        limits of the headline

A sentence ends in numbers, one for each variant or group, with their 95% intervals in brackets. Findings on own
questions speak of right and wrong passages, and findings on the questions of a paper have the paper's words.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import pandas as pd

from swaymeter.data.records.findings import Claim, Findings, Number, StudyCard
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, SHARE
from swaymeter.reports import caveats, variants
from swaymeter.reports.estimates import (
    FEWEST_FOR_R,
    MAX_NAMED,
    MISSING,
    estimate,
    people_sentences,
    plural,
    server_sentences,
    significant_relations,
)
from swaymeter.reports.figures.against_susceptibility import ANSWER_SET, masses
from swaymeter.reports.figures.labels import tested_means
from swaymeter.reports.figures.panels import query_types
from swaymeter.reports.figures.reliability import cost
from swaymeter.reports.frames import Frames, are_own, by_entity, in_order, partitions, records, where, with_empty
from swaymeter.reports.headline import LABELS, QUERIES, RELATIONS, answer_sentence, figure
from swaymeter.reports.models import Model, models, rows_of
from swaymeter.reports.tables import agreement
from swaymeter.reports.tables.passages import EFFECT_WORDS

MAX_HEADLINE = 5
"""Upper bound on findings of the headline."""

Section = Literal["variants", "queries", "questions", "details", "caveats"]


class Evidence(NamedTuple):
    """Inputs of a finding: frames by named query, the study's card, and, for caveats only, the headline."""

    frames: Frames
    card: StudyCard | None = None
    headline: Sequence[Claim] = ()


@dataclass(frozen=True)
class Finding:
    """Declaration of a sentence of the report, with its condition.

    Attributes:
        section: Part of the report that shows the finding.
        queries: Named queries (SQL) that the finding reads.
        sentence: Function that returns the claim, or a text without numbers; None or "" if nothing was measured.
        condition: Function that returns True if the finding applies to a study. Without a condition, it applies if its
            first named query has rows.
    """

    section: Section
    queries: tuple[str, ...]
    sentence: Callable[[Evidence], Claim | str | None]
    condition: Callable[[Evidence], bool] | None = None

    def claim(self, evidence: Evidence) -> Claim | None:
        """Return the claim if the condition holds and something was measured."""
        applies = self.condition or (lambda evidence: len(evidence.frames[self.queries[0]]) > 0)
        claim = self.sentence(evidence) if applies(evidence) else None
        return Claim(claim.strip()) if isinstance(claim, str) and claim.strip() else claim or None  # type: ignore[return-value]


def findings(frames: Frames, card: StudyCard | None = None) -> Findings:
    """Return the findings of a study.

    Args:
        frames: Frames of the named queries of `FINDINGS`; a missing frame counts as empty.
        card: The study's card; None leaves out caveats about missing work.
    """
    names = [name for finding in FINDINGS for name in finding.queries]
    evidence = Evidence(with_empty(frames, [*names, *QUERIES]), card)
    claims: dict[Section, dict[str, Claim]] = {}
    for finding in FINDINGS:
        if finding.section != "caveats" and (claim := finding.claim(evidence)):
            # Two measures may share a sentence, such as both forms of Fisher susceptibility; the first claim counts.
            claims.setdefault(finding.section, {}).setdefault(claim.sentence, claim)
    advice, on_queries, on_questions = (
        [*claims.get(name, {}).values()] for name in ("variants", "queries", "questions")
    )
    # At least two places are left for claims on queries.
    room = MAX_HEADLINE - len(advice)
    max_on_queries = room - min(len(on_questions), room - 2) if on_questions else room
    headline = [*advice, *on_queries[:max_on_queries], *on_questions][:MAX_HEADLINE]
    chart = figure(evidence.frames)
    answer = answer_sentence(evidence.frames, chart, headline)
    # The page does not list a pictured claim again, because the figure or the answer states it.
    headline = [
        replace(claim, pictured=claim.pictured or claim in advice or claim.sentence in answer) for claim in headline
    ]
    # The answer states only the first number of a claim; the details show all its numbers. `rest` has this claim, too:
    # `claim not in headline` is true, because `pictured` differs.
    rest = [claim for claim in (*on_queries, *on_questions) if claim not in headline]
    with_headline = evidence._replace(headline=headline)
    warnings = [
        claim.sentence for item in FINDINGS if item.section == "caveats" and (claim := item.claim(with_headline))
    ]
    details, gate = [*rest, *claims.get("details", {}).values()], [*card.gate] if card else []
    return Findings(answer, chart, headline, details, warnings, gate)


@dataclass(frozen=True)
class Quantity:
    """A quantity of a summary, with the words of the claim on this quantity.

    Attributes:
        query: Named query with the quantity.
        where: Values of columns that select the rows of the quantity.
        sentence: The sentence up to the number.
        things: Plural noun of the counted items.
        beside: A second quantity, and a text with gaps that follows the first number. {0} is the second number, and
            {1} the first number minus the second. {2} is the number of replies that are stubborn by ROUGE-L but state
            the context's answer, and {3} is the number of all replies that are stubborn by ROUGE-L.
    """

    query: str
    where: Mapping[str, str]
    sentence: str
    things: str = "answers"
    beside: tuple[str, str] = ("", "")


UNCHANGED = "coherent_persuasion_unchanged"
"""The quantity that controls for chance: coherent persuasion between two halves of the closed-book sampled replies."""
_MEANS, _PARTITIONS, _PASSAGES = "models_side_by_side", "partition_means", "passages_summary"
_BESIDE_CONTROL = UNCHANGED, "; {0} between halves of the answers without a context, so the context adds about {1:+.1g}"
"""`Quantity.beside` of coherent persuasion."""
OWN = (
    Quantity(
        _MEANS,
        {"quantity": "follows", "group": "supporting"},
        "With a right passage, the model gave the passage's answer in",
        "right passages",
    ),
    Quantity(
        _MEANS,
        {"quantity": "follows", "group": "conflicting"},
        "With a wrong passage, the model gave the passage's answer in",
        "wrong passages",
    ),
    Quantity(
        _MEANS,
        {"quantity": "prefers_right", "group": "mixed"},
        "With right and wrong passages together, the model gave only the right answer in",
        "sets of passages",
    ),
    Quantity(
        _MEANS,
        {"quantity": "prefers_wrong", "group": "mixed"},
        "With right and wrong passages together, the model gave only the wrong answer in",
        "sets of passages",
    ),
    Quantity(
        _MEANS,
        {"quantity": "names_both", "group": "mixed"},
        "With right and wrong passages together, the model gave both answers in",
        "sets of passages",
    ),
    Quantity(_MEANS, {"quantity": "correct", "group": "none"}, "Without a passage, the model gave the right answer in"),
    Quantity(
        _MEANS,
        {"quantity": "coherent_persuasion", "group": "conflicting"},
        "With a wrong passage, sampled answers moved (coherent persuasion) by",
        "wrong passages",
        _BESIDE_CONTROL,
    ),
    Quantity(
        _MEANS,
        {"quantity": "abstains", "group": "all"},
        "If no passage supports an answer, the model declined in",
        "such passages",
    ),
    Quantity(
        _MEANS,
        {"quantity": "keeps", "group": "irrelevant"},
        "With an irrelevant passage, the model gave the same answer as without one in",
        "such passages",
    ),
    Quantity(
        _MEANS,
        {"quantity": "follows", "group": "unknown"},
        "With a passage of unknown kind, the model gave the passage's answer in",
        "such passages",
    ),
)
"""Quantities of own questions with a claim each."""
_PICTURED = ("follows", "prefers_right", "prefers_wrong", "names_both", "correct", "abstains")
"""Columns `quantity` of OWN that the headline figure shows."""
_FOLLOWING = Quantity(
    _PARTITIONS,
    {"quantity": "following"},
    "the greedy answer stated the context's answer in",
    "questions",
    ("stubborn", ", and stayed unchanged in {0}"),
)
_BY_RULE = Quantity(
    _PARTITIONS,
    {"quantity": "persuaded_as_published"},
    "By the paper's rule (ROUGE-L)",
    "questions",
    ("stubborn_as_published", " are persuaded, {0} stubborn; {2} of these {3} state the context's answer"),
)
_SAMPLED = Quantity(
    _PARTITIONS,
    {"quantity": "coherent_persuasion"},
    "sampled answers moved (coherent persuasion) by",
    "questions",
    _BESIDE_CONTROL,
)
_SIGN = "(below 0: what is known better is harder to sway)"
_FISHER = (
    "Rank correlation of susceptibility with Fisher susceptibility, which needs no context (1: both order the queries "
    "alike):"
)
REQUESTED_CORRELATES = (
    (
        "log_entity_count",
        "entity",
        f"Rank correlation of how easily entities are swayed with how often the corpus names them {_SIGN}:",
    ),
    (
        "log_pair_count",
        "entity",
        f"Rank correlation of how easily entities are swayed with how often they stand near their answer {_SIGN}:",
    ),
    ("fisher", "query", _FISHER),
    ("fisher_top_k", "query", _FISHER),
)
"""Correlates of susceptibility that a study requests: measure, unit of analysis, and sentence up to the number."""
GRAPH_CORRELATE = (
    "log_degree",
    "entity",
    f"Rank correlation of how easily entities are swayed with how much the graph says of them {_SIGN}:",
)
"""Correlate of susceptibility in every study of a graph's facts, in the form of REQUESTED_CORRELATES."""
_UNCERTAINTY = ("semantic_entropy_without", "semantic_entropy_length_normalised_without")
_TESTS = ("statistics_summary", "statistics")


def basis(frames: Frames) -> str:
    """Return the amounts that the headline rests on, such as "40 queries, 600 contexts; 25 questions, 50 contexts."."""
    setup, outcomes, answers = (frames[name] for name in ("setup", "outcomes", "unfinished_greedy_answers"))
    counts = setup.groupby("quantity")["total"].sum() if len(setup) else pd.Series(dtype=int)
    on_queries = [
        plural(int(counts[name]), noun)
        for name, noun in (("queries", "query"), ("contexts", "context"))
        if counts.get(name)
    ]
    on_questions = []
    if counts.get("questions"):
        on_questions.append(plural(int(counts["questions"]), "question"))
        contexts = int(rows_of(outcomes, models(outcomes)[0])["instances"].sum()) if len(outcomes) else 0
        if contexts:
            noun = "passage" if are_own(outcomes) and frames[_PASSAGES].empty else "context"
            on_questions.append(plural(contexts, noun))
        if len(answers):
            on_questions.append(plural(int(answers["greedy_answers"].sum()), "greedy answer"))
    parts = [", ".join(amounts) for amounts in (on_queries, on_questions) if amounts]
    return f"{'; '.join(parts)}." if parts else ""


def _claim_on_quantity(frames: Frames, quantity: Quantity) -> Claim | None:
    rows = _pooled(where(frames[quantity.query], **quantity.where))
    shown_models, (second_quantity, words) = models(rows), quantity.beside
    second_rows = _pooled(where(frames[quantity.query], **{**quantity.where, "quantity": second_quantity}))
    counts = where(frames["outcomes"], condition=quantity.where.get("condition", ""))  # for the gaps {2} and {3}
    numbers = []
    for model in shown_models:
        number = _number(_first(rows_of(rows, model)), quantity.things, _label(model, rows))
        if second := _first(rows_of(second_rows, model)):
            difference = _first(rows_of(rows, model))["mean"] - second["mean"]
            stubborn = rows_of(counts, model)[["following_stubborn", "stubborn_by_rule"]].sum()
            number = replace(number, text=number.text + words.format(_count_or_share(second), difference, *stubborn))
        numbers.append(number)
    pictured = quantity in OWN and quantity.where["quantity"] in _PICTURED
    return Claim(quantity.sentence, _few(numbers), pictured) if numbers else None


def _claim_on_paper(frames: Frames, quantity: Quantity) -> Claim | None:
    """Return the claim on replies with counter-memory contexts; without such contexts, with original contexts."""
    condition = _context_type(frames["outcomes"])
    sentence = quantity.sentence
    if not sentence.startswith("By"):
        sentence = f"With {'a counter-memory' if condition == 'counter_memory' else 'the original'} context {sentence}"
    where_condition = {**quantity.where, "condition": condition}
    return _claim_on_quantity(frames, replace(quantity, where=where_condition, sentence=sentence))


def _context_type(outcomes: pd.DataFrame) -> str:
    return "counter_memory" if (outcomes["condition"] == "counter_memory").any() else "original"


def _first(rows: pd.DataFrame) -> dict[str, Any]:
    return next(iter(records(rows.head(1))), {})


def _label(model: Model, rows: pd.DataFrame) -> str:
    return str(model) if len(models(rows)) > 1 else ""


def _count_or_share(row: Mapping[str, Any]) -> str:
    return estimate(row) if row["n"] >= FEWEST_FOR_INTERVAL else f"{row['n'] * row['mean']:.0f}"


def _pooled(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows over all partitions together; if there is a single partition, return its rows."""
    names = [name for name in partitions(rows) if name != "all"] if "partition" in rows else []
    return where(rows, partition="all" if len(names) > 1 else names[0]) if names else rows


def _by_kind(frames: Frames) -> Claim | None:
    """Return the claim on replies that state the context's answer, by kind of fact; None for several models."""
    following = where(frames[_PARTITIONS], quantity="following", condition=_context_type(frames["outcomes"]))
    names = [name for name in partitions(following) if name != "all"]
    if len(names) < 2 or len(models(following)) > 1:
        return None
    kinds = records(in_order(where(following, partition=names), partition=names))
    kind_words = ", ".join(f"{_count_or_share(row)} of {row['n']} {row['partition']}" for row in kinds)
    easier = [
        f"{item['partition']} is easier to sway than {other['partition']}"
        for item in kinds
        for other in kinds
        if _is_larger(item, other)
    ]
    order = "no kind is demonstrated to be easier to sway than another"
    if easier:
        order = f"{', '.join(easier)} (by the 95% interval of each difference, not adjusted)"
    sentence = "By kind of fact, the greedy answer stated the context's answer in"
    return Claim(sentence, (Number(f"{kind_words} questions; {order}"),))


def _is_larger(first: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return True if the 95% interval of the difference of two independent shares is above 0.

    Source: Newcombe 1998, Interval estimation for the difference between independent proportions, method 10.
    """
    below, above = first["mean"] - first["low"], other["high"] - other["mean"]
    return bool(first["mean"] - other["mean"] > math.hypot(below, above))


def _entropy_correlation(frames: Frames) -> Claim | None:
    """Return the claim on the correlation of closed-book entropy with persuasion; None for several models."""
    rows = _pooled(where(frames["instance_correlations"], measure_b="coherent_persuasion", condition="all"))
    if len(models(rows)) != 1:
        return None
    rows = rows[(rows["n"] >= FEWEST_FOR_R) & rows["pearson"].notna()]
    entropy, per_token = (next(iter(records(where(rows, measure_a=name))), {}) for name in _UNCERTAINTY)
    if not entropy:
        return None
    per_token_words = f"; {_r_words(per_token)} by entropy normalised by length" if per_token else ""
    sentence = "Semantic entropy without a context against how far contexts move answers: r ="
    return Claim(
        sentence, (Number(f"{_r_words(entropy)}, over {plural(int(entropy['n']), 'context')}{per_token_words}"),)
    )


def _r_words(row: Mapping[str, Any]) -> str:
    low, high = row["subject_low"], row["subject_high"]
    conclusion = "no interval" if pd.isna(low) else "demonstrated" if low > 0 or high < 0 else "not demonstrated"
    return f"{estimate({**row, 'low': low, 'high': high}, 'pearson', unit='')} ({conclusion})"


def _few(numbers: Sequence[Number]) -> tuple[Number, ...]:
    """Shorten numbers of more than MAX_NAMED models to the lowest and the highest, or to a number that all share."""
    if len(numbers) <= MAX_NAMED:
        return tuple(numbers)
    ordered = sorted(numbers, key=lambda number: number.value)
    if len({number.text for number in numbers}) == 1:
        return (replace(ordered[0], label=f"each of {len(numbers)}"),)
    ends = (ordered[0], "lowest"), (ordered[-1], "highest")
    return tuple(replace(number, label=_at_end(number, end, numbers)) for number, end in ends)


def _at_end(number: Number, end: str, numbers: Sequence[Number]) -> str:
    """Return the label of the number at an end, "lowest" or "highest", with the count of models that have it."""
    alike = sum(other.text == number.text for other in numbers)
    if alike == 1:
        return f"{number.label}, the {end} of {len(numbers)}"
    return f"{alike} of {len(numbers)} have the {end}, such as {number.label}"


def _number(row: Mapping[str, Any], things: str, label: str) -> Number:
    """Return the number of a row with its sample size, such as "22.5% [9.1, 43.2] of 40 answers".

    The interval is over clusters, such as subjects. The sample size counts items and clusters: "40 answers, about 20
    subjects". If each cluster has one item, the sample size is "40 answers", or "40 questions" over questions.
    """
    n, clusters = int(row["n"]), int(row["clusters"] if "clusters" in row else row["subjects"])
    over = str(row.get("interval_over", "subject"))
    if n == clusters:
        counted = plural(n, over if over == "question" else things.removesuffix("s"))
    else:
        counted = f"{n} {things}, {'of' if over == 'question' else 'about'} {plural(clusters, over)}"
    mean = float(row["mean"])
    if row["unit"] != SHARE:
        return Number(f"{estimate(row)} {row['unit']}, over {counted}", label, value=mean)
    if n < FEWEST_FOR_INTERVAL:
        return Number(f"{n * mean:.0f} of {counted}", label, value=mean)
    low, high = float(row["low"]), float(row["high"])
    interval = None if math.isnan(low) else (100 * mean, 100 * low, 100 * high)
    return Number(f"{estimate(row)} of {counted}", label, interval, mean)


def _rank_correlation(frames: Frames, measure: str, level: str, sentence: str) -> Claim | None:
    rows = where(frames["correlations"], measure_a=measure, measure_b="susceptibility", level=level, relation="all")
    rows = where(rows, query_type="all")
    rows = rows[rows["spearman"].notna()] if len(rows) else rows
    numbers = [
        Number(
            f"{estimate(_with_interval(row), 'spearman', unit='')} over {plural(int(row['n']), level)}",
            _label(model, rows),
            value=float(row["spearman"]),
        )
        for model in models(rows)
        for row in records(rows_of(rows, model))
    ]
    return Claim(sentence, _few(numbers)) if numbers else None


def _with_interval(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "low": row["spearman_low"], "high": row["spearman_high"]}


def _runtime_ratio(frames: Frames) -> Claim | None:
    rows = frames["runtime_of_susceptibilities"] if len(frames["correlations"]) else pd.DataFrame()
    several = len(models(rows)) > 1
    numbers = [
        Number(f"{row['times_as_long']:.3g} times as long", str(model) if several else "", value=row["times_as_long"])
        for model in models(rows)
        for row in records(rows_of(rows, model))
    ]
    sentence = "Susceptibility over contexts took, against Fisher susceptibility,"
    return Claim(sentence, _few(numbers)) if numbers else None


def _means_of_labels(frames: Frames) -> Claim | None:
    """Return the claim on the means by label of entities and set of contexts, for the first query type.

    In a user's file of names or pairs, a label names a group of entities, such as friends.
    """
    rows = frames["susceptibility_by_label"]
    if rows.empty or not rows["type"].isna().any():
        return None
    rows = where(rows[rows["type"].isna()], query_type=query_types(rows)[0])  # the rows over all types of a label
    query_type, several, numbers = query_types(rows)[0], len(models(rows)) > 1, []
    sets = rows["relation"].nunique() > 1
    tests = where(frames["group_comparisons"], comparison="label", within="all", query_type=query_type)
    for (name, dtype, relation), set_rows in rows.groupby(["model", "dtype", "relation"], sort=False):
        model = Model(str(name), str(dtype))
        label_rows = records(set_rows.sort_values("label"))
        means = " against ".join(f"{estimate(row)} nats ({row['label']})" for row in label_rows)
        # Two labels have a single test, whose p is given. More labels have several tests, and no p: [:False] is empty.
        tested = "".join(map(_p_words, records(where(rows_of(tests, model), relation=relation))[: len(set_rows) == 2]))
        about = (f"{model}" * several, f"contexts of the set {relation}" * sets)
        numbers.append(Number(f"{means}{tested}", ", ".join(filter(None, about))))
    return Claim(f"Contexts moved {query_type} queries by", tuple(numbers[:MAX_HEADLINE]))


def _p_words(test: Mapping[str, Any]) -> str:
    return ", not tested" if pd.isna(test["p_adjusted"]) else f", adjusted p = {test['p_adjusted']:.3f}"


def _means_of_pairs(frames: Frames, comparison: str, sentence: str) -> Claim | None:
    """Return the claim on the means of groups that are tested in pairs; None for several models."""
    tests = frames["group_comparisons"]
    means = tested_means(tests, comparison)
    numbers = [Number(words, label) for label, words in means.items()] * (len(models(tests)) == 1)
    return Claim(sentence, tuple(numbers[:MAX_HEADLINE])) if numbers else None


def _means_of_two_groups(frames: Frames, named_query: str, column: str, comparison: str, sentence: str) -> Claim | None:
    """Return the claim on the means of two groups, such as of invented and real entities, by query type.

    For several models, the claim is on the first query type only. The `column` of the named query is True for the first
    group. The claim begins with `sentence` if both groups have means.
    """
    # The sentence if a single group has means; empty if the claim on labels says nearly the same.
    single_group_sentence = "" if _means_of_labels(frames) else "Contexts moved queries by"
    rows, numbers = frames[named_query], []
    if len(rows):
        rows = rows[rows["query_type"] != "all"]
    shown_models, both = models(rows), len(rows) > 0 and rows[column].nunique() == 2
    for model in shown_models:
        model_rows = rows_of(rows, model)
        for query_type in query_types(model_rows)[: 1 if len(shown_models) > 1 else None]:
            type_rows = where(model_rows, query_type=query_type)
            means = [next(iter(records(where(type_rows, **{column: group}))), None) for group in (True, False)]
            mean_words = f"{' against '.join(estimate(mean) for mean in means if mean)} nats"
            selection = {"comparison": comparison, "query_type": query_type}
            summaries, tests = (by_entity(where(rows_of(frames[name], model), **selection)) for name in _TESTS)
            tested = next(
                (significant_relations(row, tests) for row in records(summaries)),
                "no relation, because none was tested",
            )
            label = f"{model}, {query_type} queries" if len(shown_models) > 1 else f"{query_type} queries"
            text = f"{tested}; over all {mean_words}" if both else mean_words
            numbers.append(Number(text, label, value=float(next(filter(None, means))["mean"])))
    opening = sentence if both else single_group_sentence
    return Claim(opening, _few(numbers)) if numbers and opening else None


MOVES = {"position": "the place", "length": "the length", "date": "the date", "beside": "the neighbourhood"}
"""Word of each effect in the sentence "Nothing shows that the place of a passage moves the answer"."""


def _passage_effects(frames: Frames) -> Claim | None:
    """Return the claim on significant effects among several passages, or the claim that nothing shows an effect."""
    effects = frames["passage_effects_summary"]
    tested = records(effects[effects["p_adjusted"].notna()])
    significant = [row for row in tested if row["direction"] in ("larger", "smaller")]
    several = len(models(effects)) > 1
    numbers = []
    for row in significant:
        effect, variant = EFFECT_WORDS[row["effect"]].format(kind=row["kind"]), Model(row["model"], row["dtype"])
        label = f"{effect}, {variant}" if several else effect
        numbers.append(Number(estimate(row, "difference", signed=True), label))
    if numbers:
        return Claim("Among several passages the answer is moved by", tuple(numbers[:MAX_HEADLINE]))
    if not tested:
        return None
    named = ", ".join(MOVES[effect] for effect in dict.fromkeys(row["effect"] for row in tested))
    return Claim(f"Nothing shows that {named} of a passage moves the answer ({plural(len(tested), 'test')})")


def _untested_places(frames: Frames) -> str:
    untested = not (frames["passage_effects_summary"]["effect"] == "position").any()
    return "The place of passages was not tested: --order right_first --order wrong_first tests it." * untested


# ---- details ---------------------------------------------------------------------------------------------------------


def _memorization(frames: Frames) -> Claim | None:
    """Return the claim on the mean memorization ratio over conflicting contexts, by query type [Du et al. 2024]."""
    numbers = []
    means = where(frames["memorization_summary"], contexts="conflicting contexts")
    for model in models(means):
        model_rows = rows_of(means, model)
        for query_type in query_types(model_rows):
            # The row without a memorization_ratio is about all queries, other rows about a fifth of the ratio's range.
            row = _first(where(model_rows[model_rows["memorization_ratio"].isna()], query_type=query_type))
            mean = f"{row['mean']:.2f}" if row["queries"] else "undefined"
            text = f"{mean} over {row['queries']} of {plural(int(row['all_queries']), f'{query_type} query')}"
            numbers.append(Number(text, _label(model, means)))
    return Claim("Mean memorization ratio:", tuple(numbers)) if numbers else None


def _means_of_measure(frames: Frames, measure: str, sentence: str) -> Claim | None:
    """Return the claim on the means of a measure; the gaps {unit} and {mass} are filled from the first model's rows."""
    means = where(frames["measures_summary"], measure=measure)
    numbers = []
    for model in models(means):
        model_rows = rows_of(means, model)
        for query_type in query_types(model_rows):
            row = _first(where(model_rows, query_type=query_type))
            numbers.append(
                Number(f"{_mean(row)} for {query_type} queries", _label(model, means), value=float(row["mean"]))
            )
    if not numbers:
        return None
    first_model = rows_of(frames["measures_summary"], models(means)[0])
    return Claim(sentence.format(unit=means["unit"].iloc[0], mass=masses(first_model)), tuple(numbers))


def _mean(row: Mapping[str, Any]) -> str:
    return f"{row['mean']:,.0f}" if row["mean"] >= 100 else estimate(row)


def _precision(frames: Frames) -> Claim | None:
    scored = {model for name in _SCORED for model in models(frames[name]) if model.reduced}
    numbers = []
    for model in sorted(scored):
        rows = rows_of(frames["precision_of_queries"], model)
        words = cost(rows_of(frames["precision_summary"], model), rows, model.dtype) if len(rows) else ""
        numbers.append(Number(words or "not measured; add `precision: {}` under `measures` in the study", str(model)))
    return Claim("Cost of the precision:", tuple(numbers)) if numbers else None


_SCORED = ("susceptibility_summary", "persuasion_summary", "outcomes")
"""Named queries with rows for each model that has scores."""


# ---- the list --------------------------------------------------------------------------------------------------------


def _has_own_questions(evidence: Evidence) -> bool:
    return are_own(evidence.frames["outcomes"])


def _has_questions_of_paper(evidence: Evidence) -> bool:
    return len(evidence.frames["outcomes"]) > 0 and not _has_own_questions(evidence)


def _has_no_own_questions(evidence: Evidence) -> bool:
    return not _has_own_questions(evidence)


def _always(evidence: Evidence) -> bool:
    return True


Sentence = Callable[[Evidence], Claim | str | None]


def _on_frames(sentence: Callable[..., Claim | str | None], *arguments: Any) -> Sentence:
    return lambda evidence: sentence(evidence.frames, *arguments)


FINDINGS: tuple[Finding, ...] = (
    Finding("variants", (variants.MEANS, variants.DIFFERENCES, variants.COSTS), _on_frames(variants.advice)),
    # queries
    Finding("queries", ("susceptibility_by_label", "group_comparisons"), _on_frames(_means_of_labels)),
    Finding(
        "queries",
        ("group_comparisons",),
        _on_frames(
            _means_of_pairs, "context", "How far contexts about the queried entity moved queries, by what they say:"
        ),
    ),
    Finding(
        "queries",
        ("group_comparisons",),
        _on_frames(_means_of_pairs, "set", "How far contexts moved queries, by their set:"),
    ),
    *(
        Finding("queries", ("correlations",), _on_frames(_rank_correlation, *correlate))
        for correlate in REQUESTED_CORRELATES
    ),
    Finding("queries", ("correlations", "runtime_of_susceptibilities"), _on_frames(_runtime_ratio)),
    Finding(
        "queries",
        ("susceptibility_summary", "susceptibility_by_label", *_TESTS),
        _on_frames(
            _means_of_two_groups,
            "susceptibility_summary",
            "invented",
            "familiarity",
            "Invented entities are swayed significantly more than real ones in",
        ),
    ),
    Finding(
        "queries",
        ("persuasion_summary", "susceptibility_by_label", *_TESTS),
        _on_frames(
            _means_of_two_groups,
            "persuasion_summary",
            "relevant",
            "relevance",
            "Contexts that name the entity persuade significantly more than others in",
        ),
    ),
    Finding("queries", ("correlations",), _on_frames(_rank_correlation, *GRAPH_CORRELATE)),
    # questions of a user's file
    *(
        Finding("questions", (quantity.query, "outcomes"), _on_frames(_claim_on_quantity, quantity), _has_own_questions)
        for quantity in OWN
    ),
    Finding("questions", ("passage_effects_summary", "outcomes"), _on_frames(_passage_effects)),
    Finding("caveats", ("passage_effects_summary",), _on_frames(_untested_places)),
    # questions of a paper
    Finding("questions", (_PARTITIONS, "outcomes"), _on_frames(_claim_on_paper, _FOLLOWING), _has_questions_of_paper),
    Finding("questions", (_PARTITIONS, "outcomes"), _on_frames(_claim_on_paper, _BY_RULE), _has_questions_of_paper),
    Finding("questions", (_PARTITIONS, "outcomes"), _on_frames(_by_kind), _has_questions_of_paper),
    Finding("questions", ("instance_correlations",), _on_frames(_entropy_correlation), _has_questions_of_paper),
    Finding("questions", (_PARTITIONS, "outcomes"), _on_frames(_claim_on_paper, _SAMPLED), _has_questions_of_paper),
    # details
    Finding("details", ("memorization_summary",), _on_frames(_memorization)),
    Finding(
        "details",
        ("measures_summary",),
        _on_frames(
            _means_of_measure,
            ANSWER_SET,
            "Mean susceptibility over whole answers, whose sets have a mean probability of {mass}:",
        ),
    ),
    Finding(
        "details",
        ("measures_summary",),
        _on_frames(_means_of_measure, "fisher", "Mean Fisher susceptibility over the full vocabulary, in {unit}:"),
    ),
    Finding(
        "details",
        ("measures_summary",),
        _on_frames(
            _means_of_measure, "fisher_top_k", "Mean Fisher susceptibility over the likeliest tokens, in {unit}:"
        ),
    ),
    Finding("details", ("precision_of_queries", "precision_summary", *_SCORED), _on_frames(_precision), _always),
    # caveats, the gravest first
    Finding("caveats", (), lambda evidence: caveats.missing_work(evidence.card), _always),
    Finding("caveats", ("setup",), _on_frames(caveats.few_questions)),
    Finding("caveats", (), lambda evidence: caveats.wide_intervals(evidence.headline), _always),
    Finding(
        "caveats", ("statistics_summary", "statistics", RELATIONS, LABELS), _on_frames(caveats.few_entities), _always
    ),
    Finding("caveats", ("persuasion_summary",), _on_frames(caveats.baseline_of_persuasion)),
    Finding("caveats", ("outcomes",), _on_frames(caveats.stubborn_is_not_resistance), _has_questions_of_paper),
    Finding("caveats", ("models_side_by_side",), _on_frames(caveats.little_memory), _has_no_own_questions),
    Finding("caveats", ("stand_ins",), _on_frames(caveats.stand_ins)),
    Finding("caveats", ("unfinished_greedy_answers", "silent_replies"), _on_frames(caveats.cut_off)),
    Finding(
        "caveats",
        ("silent_replies",),
        _on_frames(caveats.reply_count, "silent_replies", "empty", "empty, which counts as declined"),
    ),
    *(
        Finding(
            "caveats",
            ("unfinished_greedy_answers", "silent_replies"),
            _on_frames(caveats.reply_count, "unfinished_greedy_answers", column, f"not judged, {why}"),
        )
        for column, why in MISSING.items()
    ),
    Finding("caveats", ("greedy_answers_of_neither",), _on_frames(caveats.neither)),
    Finding("caveats", ("silent_replies", *agreement.QUERIES), _on_frames(caveats.undecided)),
    Finding("caveats", agreement.QUERIES, _on_frames(agreement.sentences), _always),
    Finding(
        "caveats",
        ("judgements_to_read", "answers_judged_by_people"),
        lambda evidence: " ".join(
            people_sentences(evidence.frames["answers_judged_by_people"], evidence.frames["judgements_to_read"])
        ),
    ),
    Finding("caveats", ("served_models",), lambda evidence: server_sentences(evidence.frames["served_models"])),
)
"""Every finding, in the order of the page."""
BASIS_QUERIES = ("setup", "unfinished_greedy_answers", "outcomes", _PASSAGES)
"""Named queries of `basis`."""
