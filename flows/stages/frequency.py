"""The steps that count the names of a study in a corpus: which names, a step a shard, and the counts of the whole."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from data.errors import InputError, SwaymeterError
from data.records.tables import COUNTED_PAIRS, FREQUENCIES, SHARD_COUNTS, SHARDS
from data.sources.corpus.aliases import read_aliases
from data.sources.corpus.shards import KEY, shards
from data.storage.digests import remembered_digests
from flows.graph.graph import Graph, Node, Reference
from flows.graph.step import Output
from flows.stages import study_graph as kinds
from flows.stages.build import Built
from flows.steps.frequency import ShardFile
from flows.study.sections.frequency import FrequencyPart
from flows.study.study import Study
from tasks.frequency.common_words import CommonWords

CORPUS = "corpus"
"""The subject of these steps."""


def frequency(graph: Graph, study: Study, built: Built) -> list[Reference]:
    """Adds the steps; gives the counts of the whole corpus."""
    options = study.frequency
    if options is None:
        return []
    try:
        files = shards(options.corpus)
        digests = _digests(graph, list(files.values()))
        aliases = read_aliases(Path(options.aliases)) if options.aliases else {}
    except SwaymeterError as error:
        return [graph.refuse(kinds.FREQUENCIES, kinds.FREQUENCIES.id(CORPUS), error).output("frequencies")]
    names = _names(graph, built, aliases)
    title = options.title or Path(options.corpus[0]).name
    counted = [
        _counted(graph, options, names, ShardFile(name, file, digest, options.column, options.window_words))
        for (name, file), digest in zip(files.items(), digests, strict=True)
    ]
    rule = CommonWords(options.common_word_count, options.common_word_share)
    inputs = {f"{role} {node.id.part}": node.output(role) for node in counted for role in ("shard_counts", "shards")}
    whole = graph.add(
        kinds.FREQUENCIES, kinds.FREQUENCIES.id(CORPUS), {"frequencies": Output(FREQUENCIES, (CORPUS,), "frequencies")},
        inputs={"counted_pairs": names.output("counted_pairs"), **inputs},
        parameters={"count": rule.count, "share": rule.share, "window": options.window_words, "corpus": title},
        arguments=(rule, options.window_words, title),
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


def _counted(graph: Graph, options: FrequencyPart, names: Node, shard: ShardFile) -> Node:
    """The step that counts a shard."""
    outputs = {
        "shard_counts": Output(SHARD_COUNTS, (CORPUS,), f"counts-{shard.name}"),
        "shards": Output(SHARDS, (CORPUS,), f"shard-{shard.name}"),
    }
    return graph.add(
        kinds.SHARD, kinds.SHARD.id(CORPUS, shard.name), outputs,
        inputs={"counted_pairs": names.output("counted_pairs")},
        parameters={"digest": shard.digest, "column": shard.column, "window": shard.window},
        arguments=shard,
    )  # fmt: skip


def _digests(graph: Graph, files: Sequence[Path]) -> list[str]:
    """The digests of the shards, which are read again only where size or time have changed."""
    try:
        return remembered_digests(files, graph.workspace.downloads / CORPUS)
    except OSError as error:
        why = error.strerror or error
        raise InputError(f"{KEY}: {error.filename} cannot be read: {why}; correct the path or get the file") from None
