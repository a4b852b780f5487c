"""The steps that count the names of a study in a corpus: which names, a step a part, and the counts of the whole."""

from collections.abc import Mapping
from pathlib import Path

from swaymeter.data.errors import SwaymeterError
from swaymeter.data.records import CORPUS
from swaymeter.data.records.tables import COUNTED_PAIRS, FREQUENCIES, SHARD_COUNTS, SHARDS
from swaymeter.data.sources.own.named_file import read_aliases
from swaymeter.flows.graph.graph import Graph, Node, Reference
from swaymeter.flows.graph.step import Output
from swaymeter.flows.stages import study_graph as kinds
from swaymeter.flows.stages.build import Built
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.steps.frequency import PartOfStudy
from swaymeter.flows.study.study import Study
from swaymeter.tasks.frequency import FREQUENCY_SOURCES
from swaymeter.tasks.frequency.source import Part
from swaymeter.tasks.frequency.words import CommonWords


def frequency(graph: Graph, plan: Plan, built: Built) -> list[Reference]:
    """Adds the steps; gives the counts of the whole corpus."""
    options = plan.study.frequency
    if options is None:
        return []
    try:
        parts = FREQUENCY_SOURCES[options.source].parts(options, plan.access, graph.once)
        aliases = read_aliases(Path(options.aliases)) if options.aliases else {}
    except SwaymeterError as error:
        return [graph.refuse(kinds.FREQUENCIES, kinds.FREQUENCIES.id(CORPUS), error).output("frequencies")]
    names = _names(graph, built, aliases)
    counted = [_counted(graph, plan.study, options.window_words, names, part) for part in parts]
    rule = CommonWords(options.common_word_count, options.common_word_share)
    inputs = {f"{role} {node.id.part}": node.output(role) for node in counted for role in ("shard_counts", "shards")}
    whole = graph.add(
        kinds.FREQUENCIES, kinds.FREQUENCIES.id(CORPUS), {"frequencies": Output(FREQUENCIES, (CORPUS,), "frequencies")},
        inputs={"counted_pairs": names.output("counted_pairs"), **inputs},
        parameters={
            "count": rule.count, "share": rule.share, "window": options.window_words, "corpus": options.corpus_name,
        },
        arguments=(rule, options.window_words, options.corpus_name),
    )  # fmt: skip
    return [whole.output("frequencies")]


def _names(graph: Graph, built: Built, aliases: Mapping[str, tuple[str, ...]]) -> Node:
    """The step that lists the names of all queries; it waits for one of them at least."""
    kind, identity, queries = kinds.COUNTED_NAMES, kinds.COUNTED_NAMES.id(CORPUS), list(built.queries.values())
    if not any(reference.is_usable for reference in queries):
        return graph.wait(kind, identity, queries[0].node, after=[reference.node for reference in queries])
    return graph.add(
        kind, identity, {"counted_pairs": Output(COUNTED_PAIRS, (CORPUS,), "names")},
        optional={f"queries {relation}": reference for relation, reference in built.queries.items()},
        parameters={"aliases": {name: list(others) for name, others in aliases.items()}}, arguments=aliases,
    )  # fmt: skip


def _counted(graph: Graph, study: Study, window: int, names: Node, part: Part) -> Node:
    """The step that counts in a part."""
    outputs = {
        "shard_counts": Output(SHARD_COUNTS, (CORPUS,), f"counts-{part.name}"),
        "shards": Output(SHARDS, (CORPUS,), f"shard-{part.name}"),
    }
    return graph.add(
        kinds.SHARD, kinds.SHARD.id(CORPUS, part.name), outputs,
        inputs={"counted_pairs": names.output("counted_pairs")},
        parameters={**part.key, "window": window},
        arguments=PartOfStudy(study, part), resource="services" if part.asks else None,
    )  # fmt: skip
