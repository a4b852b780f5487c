"""The steps that build prompts: queries and contexts from facts, questions from candidates."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from data import catalog
from data.dataset.dataset import with_current_counts
from data.errors import InputError, SwaymeterError
from data.records import Annotation, Dispute, Fact, Partition, Question, Rejected, RelationName, of_row
from data.records.tables import CONTEXTS, QUERIES, QUESTIONS, REJECTED
from data.sources.registry import QUESTION_SOURCES
from data.sources.slots import with_flags_across
from data.storage.artifact import TableArtifact
from flows.graph.graph import Graph, Node, Reference
from flows.graph.step import Output, Run, Step, StepId
from flows.stages.fetch import Fetched
from flows.study.study import Study
from tasks.contexts.annotation.judging import decide, imported
from tasks.contexts.entities import choose_entities, objects
from tasks.contexts.questions import choose_questions
from tasks.contexts.sentences import write_contexts, write_queries

VERSION = 4


@dataclass(frozen=True)
class Built:
    """The prompts of a study.

    queries, contexts, questions: by relation. chosen: the questions that a partition asks, and what was rejected.
    waiting: of partitions whose questions are not known yet, the step that they wait for.
    """

    queries: Mapping[str, Reference]
    contexts: Mapping[str, Reference]
    questions: Mapping[str, Reference]
    chosen: Mapping[Partition, Node]
    waiting: Mapping[Partition, Node] = field(default_factory=dict)


def build(graph: Graph, study: Study, fetched: Fetched) -> Built:
    """Adds the steps that build the prompts of what was fetched."""
    built = {name: _prompts(graph, study, fetched, name) for name in fetched.facts}
    chosen = {name: _choose(graph, study, fetched, name) for name in fetched.candidates}
    by_relation: dict[str, dict[str, Reference]] = {}
    for partition, node in chosen.items():
        reference = node.output("questions")
        if reference.is_usable:
            for relation in graph.remembered(reference, _relations):
                by_relation.setdefault(relation, {})[partition] = reference.with_all_columns()
    return Built(
        {name: node.output("queries") for name, node in built.items()},
        {name: node.output("contexts") for name, node in built.items()},
        {
            name: graph.add(
                StepId("build", name, "questions"), build_questions,
                {"questions": Output(QUESTIONS, ("prompts", name), "questions")}, version=VERSION,
                inputs=by_relation[name], after=chosen.values(),
            ).output("questions")
            for name in sorted(by_relation)
        },
        chosen,
        {name: node for name, node in chosen.items() if not node.output("questions").is_usable},
    )  # fmt: skip


def _prompts(graph: Graph, study: Study, fetched: Fetched, relation: str) -> Node:
    assert study.facts is not None
    entry = catalog.relation(relation)
    inputs = {"facts": fetched.facts[relation]}
    if entry.subject_class in fetched.names:
        inputs["names"] = fetched.names[entry.subject_class]
    forms = {kind: list(texts) for kind, texts in entry.contexts.items()}
    parameters = {
        "seed": study.seed, "choice": study.facts.choice, "texts": [*entry.open, *entry.closed, forms],
        "real_entities": study.facts.real_entities, "invented_entities": study.facts.invented_entities,
        "contexts": dict(study.contexts.per_kind()), "object_class": entry.object_class,
    }  # fmt: skip
    outputs = {
        "queries": Output(QUERIES, ("prompts", relation), "queries"),
        "contexts": Output(CONTEXTS, ("prompts", relation), "contexts"),
    }
    return graph.add(
        StepId("build", relation, "queries and contexts"), build_prompts, outputs, version=VERSION, inputs=inputs,
        parameters=parameters, arguments=study,
    )  # fmt: skip


def _choose(graph: Graph, study: Study, fetched: Fetched, partition: Partition) -> Node:
    assert study.questions is not None
    identity = StepId("build", partition, "choice of questions")
    candidates, lacking = fetched.candidates[partition], fetched.lacking.get(partition, [])
    unusable = next(iter([candidate.node for candidate in candidates if not candidate.is_usable] + lacking), None)
    if not any(candidate.is_usable for candidate in candidates) and unusable is not None:
        return graph.wait(identity, unusable, after=[*(candidate.node for candidate in candidates), *lacking])
    annotations: list[TableArtifact] = []
    try:
        if study.questions.annotated:
            annotations = [imported(file) for file in graph.workspace.annotation_files()]
    except SwaymeterError as error:
        return graph.refuse(identity, error, inputs=[candidate.node for candidate in candidates])
    outputs = {
        "questions": Output(QUESTIONS, ("prompts", partition), "chosen-questions"),
        "rejected": Output(REJECTED, ("prompts", partition), "rejected-questions"),
    }
    parameters = {
        "per_partition": study.questions.per_partition, "seed": study.seed, "annotated": study.questions.annotated,
        "annotations": [annotation.check().digest for annotation in annotations],
    }  # fmt: skip
    roles = {role_of(candidate.node, candidate.role): candidate.with_all_columns() for candidate in candidates}
    return graph.add(
        identity, choose, outputs, version=VERSION, optional=roles, parameters=parameters,
        arguments=(study, tuple(annotations)), after=lacking,
    )  # fmt: skip


def role_of(node: Node, role: str) -> str:
    """What a table of candidates is called among the inputs of a choice: questions and disputes of a page match."""
    return f"{role} {node.id.subject} {node.id.part}"


def _relations(rows: pa.Table) -> list[str]:
    return sorted(set(rows["relation"].to_pylist()))


# ---- what the steps do -----------------------------------------------------------------------------------------------


def build_prompts(step: Step, run: Run) -> None:
    """Writes the queries and contexts of a relation, from its facts and the names of invented entities."""
    study: Study = step.arguments
    assert study.facts is not None
    facts = step.records("facts", Fact)
    names = step.table("names").read()["name"].to_pylist() if "names" in step.inputs else []
    relation, options = RelationName(step.id.subject), study.facts
    entities = choose_entities(
        relation, facts, names, real=options.real_entities, invented=options.invented_entities, seed=study.seed,
        choice=options.choice,
    )  # fmt: skip
    contexts = write_contexts(relation, entities, objects(facts), per_kind=study.contexts.per_kind(), seed=study.seed)
    step.write("contexts", contexts)
    step.write("queries", write_queries(relation, entities))


def choose(step: Step, run: Run) -> None:
    """Chooses the questions of a partition among the candidates that are there; InputError where none can be asked."""
    study, annotations = step.arguments
    partition: Any = step.id.subject
    several = QUESTION_SOURCES[study.questions.source].fetch is None
    candidates = candidates_of(step.inputs, partition, several=several)
    rejected: list[Rejected] = []
    if study.questions.annotated:
        rows = [of_row(Annotation, row) for file in annotations for row in file.read().to_pylist()]
        decided = decide(candidates, sorted(rows, key=lambda row: row.imported_at))
        candidates, rejected = decided.questions, decided.rejected
    if not candidates:
        counts = Counter(candidate.reason for candidate in rejected).most_common(5)
        reasons = ", ".join(f"{count} {reason}" for reason, count in counts) or "no candidate was found"
        raise InputError(
            f"partition {partition}: no question can be asked ({reasons}); leave the partition out, or fetch more "
            "triples or pages under `questions`"
        )
    chosen = choose_questions(candidates, count=study.questions.per_partition, seed=study.seed)
    step.write("rejected", [*rejected, *chosen.rejected])
    step.write("questions", chosen.questions)


def candidates_of(inputs: Mapping[str, Any], partition: Partition, *, several: bool) -> list[Question]:
    """Every candidate of a partition, with the numbers of its dispute as they are now.

    Args:
        inputs: tables of questions and disputes, by `<role> <subject> <part>`.
        partition: only its questions.
        several: whether they were fetched in several steps, two of which may have led to one question.
    """
    found: list[Question] = []
    for role, artifact in inputs.items():
        kind, _, rest = role.partition(" ")
        if kind != "questions":
            continue
        questions = [of_row(Question, row) for row in artifact.read().to_pylist()]
        disputes = inputs.get(f"disputes {rest}")
        if disputes is not None:
            counted = [of_row(Dispute, row) for row in disputes.read().to_pylist()]
            questions = with_current_counts(questions, counted)
        found += [question for question in questions if question.partition == partition]
    if not several:
        return found
    return with_flags_across(list({question.question_id: question for question in found}.values()))


def build_questions(step: Step, run: Run) -> None:
    """Writes the questions of a relation."""
    questions = [
        of_row(Question, row)
        for role in step.inputs
        for row in step.table(role).read().to_pylist()
        if row["relation"] == step.id.subject
    ]
    # A fact that became temporal keeps its place.
    step.write("questions", sorted(questions, key=lambda question: question.question_id))
