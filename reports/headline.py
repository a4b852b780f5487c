"""The answer that a page opens with: at most five claims, what they rest on, and what to distrust.

A claim is one sentence with its number and interval, for each model where there are several. Questions from a file of
one's own are told in the words of who asked them (a right or wrong passage), those of a paper in its words.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, SHARE
from swaymeter.reports import variants
from swaymeter.reports.estimates import FEWEST_FOR_R, MOST_NAMED, estimate, plural
from swaymeter.reports.figures.labels import compared
from swaymeter.reports.figures.panels import query_types
from swaymeter.reports.findings import UNCHANGED, of_answers
from swaymeter.reports.frames import Frames, are_own, by_entity, in_order, partitions, records, where
from swaymeter.reports.models import Model, models, rows_of

MOST_CLAIMS = 5


@dataclass(frozen=True)
class Number:
    """A number in words with its interval, of a model or a group; ends: mean, low and high of a share, in percent."""

    text: str
    of: str = ""
    ends: tuple[float, float, float] | None = None
    value: float = 0.0

    @property
    def head(self) -> str:
        """What a reader looks for: the number alone, or so many of so many."""
        found = re.match(r"(\d+|none) of \d+|\S+", self.text)
        return found[0] if found else ""


@dataclass(frozen=True)
class Claim:
    """A sentence up to its number, and the number; several numbers where it is about several models or groups."""

    sentence: str
    numbers: tuple[Number, ...] = ()


@dataclass(frozen=True)
class Share:
    """Where a claim's number stands, the sentence up to it, and what it counts where that is not questions.

    beside: the quantity whose number is told after it, and in which words: its number is {0}, the difference {1}, and
    of the answers that are stubborn by ROUGE-L, {3}, those that state the context's answer are {2}.
    """

    query: str
    where: Mapping[str, str]
    sentence: str
    things: str = "answers"
    beside: tuple[str, str] = ("", "")


_MEANS, _PARTITIONS, _PASSAGES = "models_side_by_side", "partition_means", "passages_in_short"
_UNMOVED = UNCHANGED, "; {0} where nothing changes, between halves of those without: about {1:+.1g}"
OWN = (
    Share(_MEANS, {"quantity": "follows", "group": "supporting"},
          "With a right passage it gave the passage's answer in", "right passages"),
    Share(_MEANS, {"quantity": "follows", "group": "conflicting"},
          "With a wrong passage it gave the passage's answer in", "wrong passages"),
    Share(_MEANS, {"quantity": "prefers_right", "group": "mixed"},
          "With right and wrong passages together it gave the right answer alone in", "sets of passages"),
    Share(_MEANS, {"quantity": "prefers_wrong", "group": "mixed"},
          "With right and wrong passages together it gave the wrong answer alone in", "sets of passages"),
    Share(_MEANS, {"quantity": "names_both", "group": "mixed"},
          "With right and wrong passages together it gave both answers in", "sets of passages"),
    Share(_MEANS, {"quantity": "correct", "group": "none"}, "Without a passage it gave the right answer in"),
    Share(_MEANS, {"quantity": "coherent_persuasion", "group": "conflicting"},
          "With a wrong passage sampled answers moved (coherent persuasion) by", "wrong passages", _UNMOVED),
    Share(_MEANS, {"quantity": "abstains", "group": "all"},
          "Where no passage supports an answer it declined in", "such passages"),
    Share(_MEANS, {"quantity": "keeps", "group": "irrelevant"},
          "With a passage that says nothing of the question its answer stayed the same in", "such passages"),
    Share(_MEANS, {"quantity": "follows", "group": "unknown"},
          "With a passage that nobody called right or wrong it gave the passage's answer in", "such passages"),
)  # fmt: skip
_FOLLOWING = Share(
    _PARTITIONS, {"quantity": "following"}, "the greedy answer stated the context's answer in", "questions",
    ("stubborn", ", and stayed unchanged in {0}"),
)  # fmt: skip
_BY_RULE = Share(
    _PARTITIONS, {"quantity": "persuaded_as_published"}, "By the paper's rule (ROUGE-L)", "questions",
    ("stubborn_as_published", " are persuaded, {0} stubborn; {2} of these {3} state the context's answer"),
)  # fmt: skip
_SAMPLED = Share(
    _PARTITIONS, {"quantity": "coherent_persuasion"}, "sampled answers moved (coherent persuasion) by", "questions",
    _UNMOVED,
)  # fmt: skip
_LESS = "(below 0: what is known better is harder to sway)"
_FISHER = (
    "Rank correlation of susceptibility with Fisher susceptibility, which needs no context (1: both order the queries "
    "alike):"
)
CORRELATED = (
    ("log_entity_count", "entity",
     f"Rank correlation of how easily entities are swayed with how often the corpus names them {_LESS}:"),
    ("log_pair_count", "entity",
     f"Rank correlation of how easily entities are swayed with how often they stand near their answer {_LESS}:"),
    ("fisher", "query", _FISHER),
    ("fisher_top_k", "query", _FISHER),
)  # fmt: skip
"""What susceptibility is correlated with where a study asks for it: the measure, of what, and the sentence up to the
number."""
KNOWN = (
    "log_degree", "entity",
    f"Rank correlation of how easily entities are swayed with how much the graph says of them {_LESS}:",
)  # fmt: skip
"""The same of every study of a graph's facts."""
_UNCERTAINTY = ("semantic_entropy_without", "semantic_entropy_length_normalised_without")
_TESTS = ("statistics_in_short", "statistics")
HEADLINE_QUERIES = (
    _MEANS, _PARTITIONS, "outcomes", "instance_correlations", "statistics", "susceptibility_by_label",
    "group_comparisons", "susceptibility_in_short", "persuasion_in_short", "statistics_in_short",
    "correlations", "runtime_of_susceptibilities", "unfinished_greedy_answers", "setup", variants.DIFFERENCES,
    variants.SPENT, _PASSAGES,
)  # fmt: skip


def claims(frames: Frames) -> list[Claim]:
    """What was found, at most five claims: which variant to take, of queries, of questions."""
    advice = variants.advice(frames)
    first = [Claim(advice)] if advice else []
    of_questions = _of_questions(frames)
    of_queries = _of_queries(frames)
    room = MOST_CLAIMS - len(first)
    queries = of_queries[: room - min(len(of_questions), room - 2) if of_questions else room]
    return [*first, *queries, *of_questions][:MOST_CLAIMS]


def basis(frames: Frames) -> str:
    """What the claims rest on: how much was asked. The models stand above."""
    rows = frames["setup"]
    counts = rows.groupby("quantity")["total"].sum() if len(rows) else pd.Series(dtype=int)
    answers = frames["unfinished_greedy_answers"]
    rows = frames["outcomes"]
    contexts = int(rows_of(rows, models(rows)[0])["instances"].sum()) if len(rows) else 0
    things = [
        plural(contexts, "passage" if are_own(rows) and frames[_PASSAGES].empty else "context") if contexts else "",
        plural(int(answers["greedy_answers"].sum()), "greedy answer") if len(answers) else "",
    ]
    questions = [plural(int(counts["questions"]), "question"), *things] if counts.get("questions") else []
    names = {"queries": "query", "contexts": "context"}
    of_queries = [plural(int(counts[name]), names[name]) for name in names if counts.get(name)]
    parts = [", ".join(filter(None, some)) for some in (of_queries, questions) if some]
    return f"{'; '.join(parts)}." if parts else ""


def _of_questions(frames: Frames) -> list[Claim]:
    rows = frames["outcomes"]
    if rows.empty:
        return []
    if are_own(rows):
        return [claim for share in OWN if (claim := _claim(share, frames))]
    condition = "counter_memory" if (rows["condition"] == "counter_memory").any() else "original"
    before = f"With {'a counter-memory' if condition == 'counter_memory' else 'the original'} context"
    following, by_rule, sampled = (
        replace(share, where={**share.where, "condition": condition}) for share in (_FOLLOWING, _BY_RULE, _SAMPLED)
    )
    made = [
        _claim(replace(following, sentence=f"{before} {following.sentence}"), frames), _claim(by_rule, frames),
        _by_kind(where(frames[_PARTITIONS], **following.where)), _uncertain(frames["instance_correlations"]),
        _claim(replace(sampled, sentence=f"{before} {sampled.sentence}"), frames),
    ]  # fmt: skip
    return [claim for claim in made if claim]


def _claim(share: Share, frames: Frames) -> Claim | None:
    """The claim with a number for each model; None where nothing was measured."""
    rows = _pooled(where(frames[share.query], **share.where))
    known, (quantity, words) = models(rows), share.beside
    others = _pooled(where(frames[share.query], **{**share.where, "quantity": quantity}))
    counts = where(frames["outcomes"], condition=share.where.get("condition", ""))
    numbers = []
    for model in known:
        number = _number(_row(rows, model), share.things, str(model) if len(known) > 1 else "")
        if other := _row(others, model):
            more = _row(rows, model)["mean"] - other["mean"]
            alike = rows_of(counts, model)[["following_stubborn", "stubborn_by_rule"]].sum()
            number = replace(number, text=number.text + words.format(of_answers(other), more, *alike))
        numbers.append(number)
    return Claim(share.sentence, _few(numbers)) if numbers else None


def _row(rows: pd.DataFrame, model: Model) -> dict[str, Any]:
    """The first row of a model; empty where it has none."""
    return next(iter(records(rows_of(rows, model))), {})


def _pooled(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of all partitions together, or of the only one."""
    names = [name for name in partitions(rows) if name != "all"] if "partition" in rows else []
    return where(rows, partition="all" if len(names) > 1 else names[0]) if names else rows


def _by_kind(following: pd.DataFrame) -> Claim | None:
    """How many questions of each kind of fact follow, and which kind is shown to more than another; of one model."""
    names = [name for name in partitions(following) if name != "all"]
    if len(names) < 2 or len(models(following)) > 1:
        return None
    kinds = records(in_order(where(following, partition=names), partition=names))
    told = ", ".join(f"{of_answers(row)} of {row['n']} {row['partition']}" for row in kinds)
    easier = [f"{one['partition']} than {other['partition']}" for one in kinds for other in kinds if _more(one, other)]
    verdict = "none is shown easier to sway than another"
    if easier:
        verdict = f"shown easier to sway, each pair by its 95% interval alone: {', '.join(easier)}"
    return Claim("By kind of fact it stated the context's answer in", (Number(f"{told} questions; {verdict}"),))


def _more(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the 95% interval of the difference of two shares, made of their own, is above 0.

    Source: Newcombe 1998, Interval estimation for the difference between independent proportions, method 10.
    """
    below, above = one["mean"] - one["low"], other["high"] - other["mean"]
    return bool(one["mean"] - other["mean"] > math.hypot(below, above))


def _uncertain(correlations: pd.DataFrame) -> Claim | None:
    """How far contexts move the answers of a model that is uncertain without one; of one model."""
    rows = _pooled(where(correlations, measure_b="coherent_persuasion", condition="all"))
    if len(models(rows)) != 1:
        return None
    rows = rows[(rows["n"] >= FEWEST_FOR_R) & rows["pearson"].notna()]
    entropy, per_token = (next(iter(records(where(rows, measure_a=name))), {}) for name in _UNCERTAINTY)
    if not entropy:
        return None
    more = f"; {_r(per_token)} by entropy normalised by length" if per_token else ""
    sentence = "Semantic entropy without a context against how far contexts move answers: r ="
    return Claim(sentence, (Number(f"{_r(entropy)}, over {plural(int(entropy['n']), 'context')}{more}"),))


def _r(row: Mapping[str, Any]) -> str:
    """A correlation with its interval over subjects, and whether that leaves 0 out."""
    low, high = row["subject_low"], row["subject_high"]
    shown = "no interval" if pd.isna(low) else "shown" if low > 0 or high < 0 else "not shown"
    return f"{estimate({**row, 'low': low, 'high': high}, 'pearson', unit='')} ({shown})"


def _few(numbers: Sequence[Number]) -> tuple[Number, ...]:
    """All numbers of few models; else the lowest and the highest, or the one that all have."""
    if len(numbers) <= MOST_NAMED:
        return tuple(numbers)
    ordered = sorted(numbers, key=lambda number: number.value)
    if len({number.text for number in numbers}) == 1:
        return (replace(ordered[0], of=f"each of {len(numbers)}"),)
    ends = (ordered[0], "lowest"), (ordered[-1], "highest")
    return tuple(replace(number, of=_at_end(number, end, numbers)) for number, end in ends)


def _at_end(number: Number, end: str, numbers: Sequence[Number]) -> str:
    """Whose number is the lowest or the highest, and how many have the same."""
    alike = sum(other.text == number.text for other in numbers)
    if alike == 1:
        return f"{number.of}, the {end} of {len(numbers)}"
    return f"{alike} of {len(numbers)} have the {end}, such as {number.of}"


def _number(row: Mapping[str, Any], things: str, of: str) -> Number:
    n, clusters = int(row["n"]), int(row["clusters"] if "clusters" in row else row["subjects"])
    over = str(row.get("interval_over", "subject"))
    single = things if n == clusters and over != "question" else ""
    counted = plural(n, (single or over).removesuffix("s")) if n == clusters else (
        f"{n} {things}, {'of' if over == 'question' else 'about'} {plural(clusters, over)}"
    )  # fmt: skip
    mean = float(row["mean"])
    if row["unit"] != SHARE:
        return Number(f"{estimate(row)} {row['unit']}, over {counted}", of, value=mean)
    if n < FEWEST_FOR_INTERVAL:
        return Number(f"{n * mean:.0f} of {counted}", of, value=mean)
    low, high = float(row["low"]), float(row["high"])
    ends = None if math.isnan(low) else (100 * mean, 100 * low, 100 * high)
    return Number(f"{estimate(row)} of {counted}", of, ends, mean)


def _of_queries(frames: Frames) -> list[Claim]:
    labels = _labels(frames)
    alone = "" if labels else "Contexts moved queries by"
    made = [
        labels,
        _compared(frames, "context", "How far contexts about the queried entity moved queries, by what they say:"),
        _compared(frames, "set", "How far contexts moved queries, by their set:"),
        *(_correlated(frames, *of) for of in CORRELATED), _faster(frames),
        _moved(frames, "susceptibility_in_short", "invented", "familiarity",
               "Queries about invented entities move significantly further than about real ones in",
               alone),
        _moved(frames, "persuasion_in_short", "relevant", "relevance",
               "Contexts that name the entity sway significantly further than others in", alone),
        _correlated(frames, *KNOWN),
    ]  # fmt: skip
    known: dict[str, Claim] = {}
    for claim in filter(None, made):  # some have the same sentence: of one kind of entities, or of Fisher's two forms
        known.setdefault(claim.sentence, claim)
    return [*known.values()]


def _correlated(frames: Frames, measure: str, level: str, sentence: str) -> Claim | None:
    """The rank correlation of a measure with susceptibility over all relations, for each model."""
    rows = where(frames["correlations"], measure_a=measure, measure_b="susceptibility", level=level, relation="all")
    rows = where(rows, query_type="all")
    rows = rows[rows["spearman"].notna()] if len(rows) else rows
    numbers = [
        Number(
            f"{estimate(_ends(row), 'spearman', unit='')} over {plural(int(row['n']), level)}",
            str(model) if len(models(rows)) > 1 else "", value=float(row["spearman"]),
        )
        for model in models(rows) for row in records(rows_of(rows, model))
    ]  # fmt: skip
    return Claim(sentence, _few(numbers)) if numbers else None


def _ends(row: Mapping[str, Any]) -> dict[str, Any]:
    return {**row, "low": row["spearman_low"], "high": row["spearman_high"]}


def _faster(frames: Frames) -> Claim | None:
    rows = frames["runtime_of_susceptibilities"] if len(frames["correlations"]) else pd.DataFrame()
    several = len(models(rows)) > 1
    numbers = [
        Number(f"{row['times_as_long']:.3g} times as long", str(model) if several else "", value=row["times_as_long"])
        for model in models(rows)
        for row in records(rows_of(rows, model))
    ]
    sentence = "Susceptibility over contexts took, against Fisher susceptibility,"
    return Claim(sentence, _few(numbers)) if numbers else None


def _labels(frames: Frames) -> Claim | None:
    """The mean of each label of entities, in each of their sets; of queries of the first type alone."""
    rows = frames["susceptibility_by_label"]
    if rows.empty or not rows["type"].isna().any():
        return None
    rows = where(rows[rows["type"].isna()], query_type=query_types(rows)[0])
    kind, several, numbers = query_types(rows)[0], len(models(rows)) > 1, []
    sets = rows["relation"].nunique() > 1
    tests = where(frames["group_comparisons"], comparison="label", within="all", query_type=kind)
    for (name, dtype, relation), of in rows.groupby(["model", "dtype", "relation"], sort=False):
        model = Model(str(name), str(dtype))
        means = " against ".join(f"{estimate(row)} nats ({row['label']})" for row in records(of.sort_values("label")))
        tested = "".join(map(_p, records(where(rows_of(tests, model), relation=relation))[: len(of) == 2]))
        about = (f"{model}" * several, f"contexts of the set {relation}" * sets)
        numbers.append(Number(f"{means}{tested}", ", ".join(filter(None, about))))
    return Claim(f"Contexts moved {kind} queries by", tuple(numbers[:MOST_CLAIMS]))


def _p(test: Mapping[str, Any]) -> str:
    """The p of a test, if there is one."""
    return ", not tested" if pd.isna(test["p_adjusted"]) else f", adjusted p = {test['p_adjusted']:.3f}"


def _compared(frames: Frames, comparison: str, sentence: str) -> Claim | None:
    """The means of groups that are compared pair by pair; of several models none."""
    tests = frames["group_comparisons"]
    numbers = [Number(words, of) for of, words in compared(tests, comparison).items()] * (len(models(tests)) == 1)
    return Claim(sentence, tuple(numbers[:MOST_CLAIMS])) if numbers else None


def _moved(frames: Frames, query: str, column: str, comparison: str, sentence: str, alone: str) -> Claim | None:
    """Two means of queries against each other, by type of query; of several models of the first type alone."""
    rows, numbers = frames[query], []
    if len(rows):
        rows = rows[rows["query_type"] != "all"]
    known, both = models(rows), len(rows) > 0 and rows[column].nunique() == 2
    for model in known:
        of_model = rows_of(rows, model)
        for kind in query_types(of_model)[: 1 if len(known) > 1 else None]:
            of_kind = where(of_model, query_type=kind)
            means = [next(iter(records(where(of_kind, **{column: group}))), None) for group in (True, False)]
            said = f"{' against '.join(estimate(mean) for mean in means if mean)} nats"
            group = {"comparison": comparison, "query_type": kind}
            short, tests = (by_entity(where(rows_of(frames[name], model), **group)) for name in _TESTS)
            tested = next((_significant(row, tests) for row in records(short)), "an untested number of relations")
            of = f"{model}, {kind} queries" if len(known) > 1 else f"{kind} queries"
            text = f"{tested}; over all {said}" if both else said
            numbers.append(Number(text, of, value=float(next(filter(None, means))["mean"])))
    said = sentence if both else alone
    return Claim(said, _few(numbers)) if numbers and said else None


def _significant(row: Mapping[str, Any], tests: pd.DataFrame) -> str:
    """In how many relations tests are significant, and in which, where these are few."""
    if not row["tested"]:
        return "none: too few entities for any test"
    names = sorted(tests.loc[tests["p_adjusted"] <= 0.05, "relation"]) if len(tests) else []
    named = f" ({', '.join(names)})" if 0 < len(names) <= MOST_NAMED else ""
    return f"{row['significant'] or 'none'} of {plural(int(row['tested']), 'relation')}{named}"


def widest(some: Iterable[Claim]) -> float:
    """Half the widest interval of the shares in percentage points; 0 where there is none."""
    ends = [number.ends for claim in some for number in claim.numbers if number.ends]
    return max(((high - low) / 2 for _, low, high in ends), default=0.0)
