"""Export of facts as measureLM's yago_qec.json and of questions as DynamicQA's files; list of YAGO's predicates."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from swaymeter.data import catalog
from swaymeter.data.errors import UsageError
from swaymeter.data.records import Partition
from swaymeter.data.sources.access import close_sessions
from swaymeter.data.sources.dynamicqa.export import OmittedQuestion, write_questions
from swaymeter.data.sources.dynamicqa.layout import FILES
from swaymeter.data.sources.graph.qec import write_qec
from swaymeter.data.sources.graph.yago import Predicate, predicates
from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.flows.stages.contents import Contents


def export_facts(contents: Contents, file: Path, *, force: bool) -> tuple[dict[str, int], tuple[str, ...]]:
    """Write the fetched facts into a file, whole or not at all.

    Returns:
        The number of written facts by relation, and the relations without a predicate of YAGO.

    Raises:
        UsageError: The file exists, and `force` is False; or the study has no facts that can be exported.
    """
    facts = contents.facts()
    if not facts:
        raise UsageError(f"the study {contents.study.name} uses no facts, so there is nothing to export")
    if file.exists() and not force:
        raise UsageError(f"{file} exists; name another file, or overwrite this file with --force")
    if contents.study.facts and "export" in contents.study.facts.refuses:
        raise UsageError(f"the study {contents.study.name} {contents.study.facts.refuses['export']}")
    names_by_relation = {relation: contents.names(relation) for relation in facts}
    own_relations = contents.study.facts.own_relations if contents.study.facts else {}
    relations = {
        name: contents.study.contexts.with_study_templates(relation)
        for name, relation in {**catalog.relations(), **own_relations}.items()
    }
    omitted = write_qec(file, facts, names_by_relation, relations)
    return {name: len(rows) for name, rows in facts.items() if name not in omitted}, omitted


def export_questions(
    contents: Contents, folder: Path, *, force: bool, incomplete: bool
) -> tuple[dict[Partition, int], list[OmittedQuestion]]:
    """Write the chosen questions into the folder, in the published layout of DynamicQA.

    Returns:
        The number of written questions by partition, and the questions that the layout cannot represent.

    Raises:
        UsageError: A file exists, and `force` is False; or questions are not fetched, and `incomplete` is False.
    """
    if not contents.partitions:
        raise UsageError(f"the study {contents.study.name} has no questions, so there is nothing to export")
    existing = [folder / name for name in FILES.values() if (folder / name).exists()]
    if existing and not force:
        raise UsageError(f"{existing[0]} exists; name another folder, or overwrite this file with --force")
    unfinished = contents.unfinished_steps()
    if unfinished and not incomplete:
        raise UsageError(
            f"questions are missing, because steps are not done: {', '.join(unfinished[:5])}"
            f"{' and more' if len(unfinished) > 5 else ''}; run the study with --stage fetch, or export "
            "the fetched questions with --incomplete"
        )
    questions = [question for partition in contents.partitions for question in contents.chosen(partition)]
    omitted = write_questions(folder, questions)
    counts = Counter(question.partition for question in questions)
    counts.subtract(question.partition for question, _ in omitted)
    return {name: counts[name] for name in contents.partitions}, omitted


def predicates_of_graph(contents: Contents, *, offline: bool) -> Iterator[tuple[Predicate, tuple[str, ...]]]:
    """Yield the predicates of the knowledge graph that has the study's facts, the most frequent predicate first.

    Each predicate has the names of the relations that use it.

    Raises:
        UsageError: The facts of the study do not come from a knowledge graph.
    """
    study = contents.study
    access = study.access(contents.workspace.downloads, offline=offline)
    graph_of_source = FACT_SOURCES[study.facts.source].graph if study.facts else None
    graph = graph_of_source(study.facts, access) if graph_of_source else None
    if graph is None:
        raise UsageError(
            f"the facts of study {study.name} do not come from a knowledge graph; write `source: yago` under `facts`"
        )
    relations = catalog.relations().values()
    with contents.workspace.lock():
        try:
            for predicate in predicates(graph.open()):
                yield predicate, tuple(relation.name for relation in relations if predicate.iri in relation.yago)
        finally:
            close_sessions()
