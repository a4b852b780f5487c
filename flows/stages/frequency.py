"""The steps that count the names of a study in a corpus: the list of names, a step for each part, and the totals.

A part of the corpus is a file or an index. The tables call a counted part a shard.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import numpy as np

from swaymeter.data.errors import InputError, SwaymeterError
from swaymeter.data.records import CORPUS, CountedPair, Frequency, Shard, from_row
from swaymeter.data.records.facts import CountKind
from swaymeter.data.records.tables import COUNTED_PAIRS, FREQUENCIES, SHARD_COUNTS, SHARDS
from swaymeter.data.sources.own.named_file import read_aliases
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.graph.graph import Graph, Output, PlannedStep, RunSettings, Step, StepInput, StepKind
from swaymeter.flows.stages.build import BuiltPrompts
from swaymeter.flows.stages.plan import Plan, access_for
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.frequency.source import Part
from swaymeter.tasks.frequency.words import CommonWords

log = logging.getLogger(__name__)
UNITS: tuple[CountKind, ...] = get_args(CountKind)
"""Units of counts: words, then less precise units. A total has the unit of its least precise count."""
SHOWN_NAMES = 5
"""Upper bound on the names in a warning."""


@dataclass(frozen=True)
class CountArguments:
    """Arguments of the step that counts in a part of the corpus."""

    study: StudyFile
    part: Part


def collect_names(step: Step, settings: RunSettings) -> None:
    """Write each pair of an entity and an answer of the queries, with their aliases.

    Raises:
        InputError: The study has a file of aliases, and no name in the file is an entity or an answer.
    """
    aliases: Mapping[str, tuple[str, ...]] = step.arguments
    pairs: set[tuple[str, str]] = set()
    for role in step.inputs:
        rows = step.table(role).read()
        pairs |= set(zip(rows["entity"].to_pylist(), rows["answer"].to_pylist(), strict=True))
    if unused := sorted(aliases.keys() - set(chain.from_iterable(pairs))):
        names = ", ".join(map(repr, unused[:SHOWN_NAMES])) + ", …" * (len(unused) > SHOWN_NAMES)
        problem = (
            f"frequency.aliases: {len(unused):,} of {len(aliases):,} names are neither entities nor answers: {names}"
        )
        if len(unused) == len(aliases):
            raise InputError(f"{problem}; the column `name` of the file must have names exactly as in the facts")
        log.warning("%s", problem)
    step.write(
        "counted_pairs",
        (
            CountedPair(entity, answer, (entity, *aliases.get(entity, ())), (answer, *aliases.get(answer, ())))
            for entity, answer in sorted(pairs)
        ),
    )


def count_part(step: Step, settings: RunSettings) -> None:
    """Count the names in a file of the corpus, or in an index; InputError for an unreadable file."""
    arguments: CountArguments = step.arguments
    options = arguments.study.frequency
    assert options is not None
    pairs = tuple(step.records("counted_pairs", CountedPair))
    source = FREQUENCY_SOURCES[options.source]
    access = access_for(arguments.study, step, settings)
    counted = source.count(options, arguments.part, pairs, access, settings.progress)
    step.write("shard_counts", counted.rows)
    step.write("shards", [counted.shard])


def sum_counts(step: Step, settings: RunSettings) -> None:
    """Write the total counts of all shards."""
    common_words: CommonWords
    common_words, window, corpus = step.arguments
    pairs = step.records("counted_pairs", CountedPair)
    columns = ("entity_count", "capitals_count", "lower_case_count", "pair_count")
    totals, shards = np.zeros((len(columns), len(pairs)), np.int64), list[Shard]()
    # Units of the entity count and the pair count of each pair, as positions in UNITS, (2, pairs).
    units = np.zeros((2, len(pairs)), np.int64)
    for counts in step.inputs_of(SHARD_COUNTS):
        rows = counts.read()
        totals += [rows[name].to_numpy() for name in columns]
        unit_columns = [rows[name].to_pylist() for name in ("entity_counted", "pair_counted")]
        units = np.maximum(units, [[UNITS.index(unit) for unit in column] for column in unit_columns])
    for shard in step.inputs_of(SHARDS):
        shards += [from_row(Shard, row) for row in shard.read().to_pylist()]
    corpus_columns: dict[str, Any] = {
        "corpus": corpus,
        "window_words": window,
        "shards": len(shards),
        "documents": _total(shard.documents for shard in shards),
        "words": _total(shard.words for shard in shards),
        "tokens": _total(shard.tokens for shard in shards),
        "counted_at": max(shard.counted_at for shard in shards),
    }
    step.write(
        "frequencies",
        (
            Frequency(
                entity=pair.entity,
                answer=pair.answer,
                entity_count=entity,
                capitals_count=capitals,
                lower_case_count=lower_case,
                pair_count=pair_count,
                entity_counted=UNITS[entity_unit],
                pair_counted=UNITS[pair_unit],
                excluded=common_words.exclusion_reason(pair.entity_names, capitals, lower_case),
                **corpus_columns,
            )
            for pair, (entity, capitals, lower_case, pair_count), (entity_unit, pair_unit) in zip(
                pairs, totals.T.tolist(), units.T.tolist(), strict=True
            )
        ),
    )


def _total(numbers: Iterable[int | None]) -> int | None:
    """Return the sum of the known numbers; None if every number is None."""
    values = [number for number in numbers if number is not None]
    return sum(values) if values else None


# ---- the steps of a study --------------------------------------------------------------------------------------------

LIST_NAMES = StepKind("build", "names to count", makes=("counted_pairs",), function=collect_names)
COUNT_PART = StepKind("build", "counts", makes=("shard_counts", "shards"), function=count_part, version=3)
SUM_COUNTS = StepKind("build", "frequencies", makes=("frequencies",), function=sum_counts, version=3)


def add_counting_steps(graph: Graph, plan: Plan, built: BuiltPrompts) -> list[StepInput]:
    """Add the steps that count names in the corpus, and return the table of totals; [] without a corpus."""
    options = plan.study.frequency
    if options is None:
        return []
    try:
        parts = FREQUENCY_SOURCES[options.source].parts(options, plan.access, graph.call_once)
        aliases = read_aliases(Path(options.aliases)) if options.aliases else {}
    except SwaymeterError as error:
        return [graph.add_refused(SUM_COUNTS, SUM_COUNTS.id(CORPUS), error).output("frequencies")]
    names_step = _add_names(graph, built, aliases)
    nodes = [_add_part(graph, plan.study, options.window_words, names_step, part) for part in parts]
    common_words = CommonWords(options.common_word_count, options.common_word_share)
    inputs = {f"{role} {node.id.part}": node.output(role) for node in nodes for role in ("shard_counts", "shards")}
    totals = graph.add(
        SUM_COUNTS,
        SUM_COUNTS.id(CORPUS),
        {"frequencies": Output(FREQUENCIES, (CORPUS,), "frequencies")},
        inputs={"counted_pairs": names_step.output("counted_pairs"), **inputs},
        parameters={
            "count": common_words.count,
            "share": common_words.share,
            "window": options.window_words,
            "corpus": options.corpus_name,
        },
        arguments=(common_words, options.window_words, options.corpus_name),
    )
    return [totals.output("frequencies")]


def _add_names(graph: Graph, built: BuiltPrompts, aliases: Mapping[str, tuple[str, ...]]) -> PlannedStep:
    """Add the step that lists the names in the finished tables of queries; before the first table, a placeholder."""
    kind, identity, queries = LIST_NAMES, LIST_NAMES.id(CORPUS), list(built.queries.values())
    if not any(step_input.is_usable for step_input in queries):
        # The reason of the placeholder names only the first table, but any finished table ends the wait.
        return graph.add_placeholder(
            kind, identity, queries[0].node, waits_for=[step_input.node for step_input in queries]
        )
    return graph.add(
        kind,
        identity,
        {"counted_pairs": Output(COUNTED_PAIRS, (CORPUS,), "names")},
        optional={f"queries {relation}": step_input for relation, step_input in built.queries.items()},
        parameters={"aliases": {name: list(others) for name, others in aliases.items()}},
        arguments=aliases,
    )


def _add_part(graph: Graph, study: StudyFile, window: int, names_step: PlannedStep, part: Part) -> PlannedStep:
    outputs = {
        "shard_counts": Output(SHARD_COUNTS, (CORPUS,), f"counts-{part.name}"),
        "shards": Output(SHARDS, (CORPUS,), f"shard-{part.name}"),
    }
    return graph.add(
        COUNT_PART,
        COUNT_PART.id(CORPUS, part.name),
        outputs,
        inputs={"counted_pairs": names_step.output("counted_pairs")},
        parameters={**part.key, "window": window},
        arguments=CountArguments(study, part),
        resource="services" if part.uses_network else None,
    )
