"""The steps that build prompts: queries and contexts from facts, questions from candidates."""

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from swaymeter.data.dataset.dataset import with_current_counts
from swaymeter.data.digests import content_key
from swaymeter.data.errors import InputError, first_names
from swaymeter.data.records import Dispute, Fact, Partition, Question, RelationName, as_row, from_row
from swaymeter.data.records.tables import CONTEXTS, DISPUTES, QUERIES, QUESTIONS, REJECTED
from swaymeter.data.sources.registry import QUESTION_SOURCES
from swaymeter.data.sources.slots import with_flags_across
from swaymeter.data.sources.source import QuestionsOptions
from swaymeter.flows.graph.graph import Graph, Node, Output, Reference, RunSettings, Step, StepKind
from swaymeter.flows.stages.fetch import Fetched
from swaymeter.flows.stages.plan import Plan
from swaymeter.tasks.contexts.judged_questions import accepted_questions, opinions, with_kinds
from swaymeter.tasks.contexts.questions import choose_questions
from swaymeter.tasks.contexts.sentences import (
    choose_entities,
    labelled_contexts,
    labelled_queries,
    objects,
    own_contexts,
    write_contexts,
    write_queries,
)

log = logging.getLogger(__name__)

NAMED = 20
"""Limit of the judgements in a warning."""
AT_ONCE = 16
"""Number of questions whose contexts are in memory together, because a question may have many long contexts."""


def build_prompts(step: Step, run: RunSettings) -> None:
    """Write the queries and contexts of a relation, from its facts and the names of invented entities."""
    study, planned, seed = step.arguments
    if group := planned.group:
        name = RelationName(step.id.subject)
        step.write("contexts", labelled_contexts(name, group))
        step.write("queries", labelled_queries(name, group))
        return
    facts = step.records("facts", Fact)
    names = step.table("names").read()["name"].to_pylist() if "names" in step.inputs else []
    relation, options = planned.entry, study.facts
    entities = choose_entities(
        RelationName(relation.name),
        facts,
        names,
        real=options.real_entities,
        invented=options.invented_entities,
        seed=study.seed,
        choice=options.choice,
    )
    written = partial(write_contexts, per_kind=study.contexts.per_kind(), seed=seed)
    own = own_contexts(planned.own, entities) if planned.own else None
    step.write("contexts", own or written(relation, entities, objects(facts)))
    step.write("queries", write_queries(relation, entities))


def choose(step: Step, run: RunSettings) -> None:
    """Choose the questions of a partition from the fetched candidates; InputError if no candidate is valid."""
    study, judgements = step.arguments
    partition: Any = step.id.subject
    several = QUESTION_SOURCES[study.questions.source].in_several_steps
    candidates = candidates_of(step.inputs.values(), partition, several=several)
    candidates, problems = with_kinds(candidates, judgements)
    answerable = study.questions.askable(candidates)
    candidates, rejected = list(answerable.questions), list(answerable.rejected)
    if study.questions.annotated:
        votes = opinions(candidates, judgements)
        decided = accepted_questions(candidates, votes)
        candidates, rejected = decided.questions, [*rejected, *decided.rejected]
        problems += votes.problems
    if problems:
        named = first_names(problems, NAMED, separator="; ")
        log.warning("partition %s: judgements that do not count: %s", partition, named)
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


def candidates_of(inputs: Iterable[Any], partition: Partition, *, several: bool) -> list[Question]:
    """Return every candidate of a partition, with the current numbers of its dispute.

    Args:
        inputs: tables of questions and of disputes; a page's tables have the same subject.
        partition: the partition.
        several: True for candidates from several steps, which may contain the same question twice.
    """
    tables: dict[str, list[Any]] = {QUESTIONS.name: [], DISPUTES.name: []}
    for artifact in inputs:
        tables[artifact.table.name].append(artifact)
    disputes_of = {tuple(artifact.key_inputs["subject"]): artifact for artifact in tables[DISPUTES.name]}
    candidates: list[Question] = []
    for artifact in tables[QUESTIONS.name]:
        questions = [from_row(Question, row) for row in artifact.read().to_pylist()]
        disputes = disputes_of.get(tuple(artifact.key_inputs["subject"]))
        if disputes is not None:
            counted = [from_row(Dispute, row) for row in disputes.read().to_pylist()]
            questions = with_current_counts(questions, counted)
        candidates += questions
    if not several:
        return candidates
    candidates = [question for question in candidates if question.partition == partition]
    return with_flags_across(list({question.question_id: question for question in candidates}.values()))


def build_questions(step: Step, run: RunSettings) -> None:
    """Write the questions of a relation, with the contexts of the study."""
    options: QuestionsOptions = step.arguments
    questions = [
        from_row(Question, row)
        for role in step.inputs
        for row in step.table(role).read().to_pylist()
        if row["relation"] == step.id.subject
    ]
    # A fact that became temporal keeps its position in the order.
    ordered = sorted(questions, key=lambda question: question.question_id)
    table, tables, amounts = step.table("questions"), [], {"cases": len(ordered), "left_out": 0}
    for first in range(0, len(ordered), AT_ONCE):
        answerable = options.arrange(ordered[first : first + AT_ONCE])
        passages = [len(context.passages) for question in answerable for context in question.contexts]
        amounts["cases"] += len(passages)
        amounts["left_out"] += sum(count for count in passages if count > 1)
        tables.append(table.table.of([as_row(question) for question in answerable]))
    table.write(pa.concat_tables(tables), amounts)


# ---- the steps of a study --------------------------------------------------------------------------------------------

BUILD_PROMPTS = StepKind(
    "build",
    "queries and contexts",
    makes=("queries", "contexts"),
    function=build_prompts,
    version=4,
)
CHOOSE_QUESTIONS = StepKind("build", "choice of questions", makes=("questions", "rejected"), function=choose, version=4)
BUILD_QUESTIONS = StepKind("build", "questions", makes=("questions",), function=build_questions, version=5)


@dataclass(frozen=True)
class Built:
    """The prompts of a study.

    Attributes:
        queries: Queries by relation.
        contexts: Contexts by relation.
        questions: Questions by relation.
        chosen: Chosen questions of each partition, and rejected candidates.
        waiting: For partitions without known questions, the step that the partition waits for.
    """

    queries: Mapping[str, Reference]
    contexts: Mapping[str, Reference]
    questions: Mapping[str, Reference]
    chosen: Mapping[Partition, Node]
    waiting: Mapping[Partition, Node] = field(default_factory=dict)


def build(graph: Graph, plan: Plan, fetched: Fetched) -> Built:
    """Add the steps that build prompts from fetched facts and questions."""
    built = {name: prompts_of(graph, plan, fetched, name) for name in fetched.facts}
    chosen = {name: _choose(graph, plan, fetched, name) for name in fetched.candidates}
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
                BUILD_QUESTIONS,
                BUILD_QUESTIONS.id(name),
                {"questions": Output(QUESTIONS, ("prompts", name), "questions")},
                inputs=by_relation[name],
                parameters=plan.study.questions.draw_options if plan.study.questions else None,
                arguments=plan.study.questions,
                listed_by=chosen.values(),
            ).output("questions")
            for name in sorted(by_relation)
        },
        chosen,
        {name: node for name, node in chosen.items() if not node.output("questions").is_usable},
    )


def prompts_of(graph: Graph, plan: Plan, fetched: Fetched, relation: str, seed: int | None = None) -> Node:
    """Add the step that writes the queries and contexts of a relation.

    `seed` replaces the study's seed in the draw of contexts; entities and queries always depend on the study's seed.
    """
    part, study, planned = part_of(seed), plan.study, plan.relations[relation]
    assert study.facts is not None
    inputs = {"facts": fetched.facts[relation]}
    if planned.refusal:
        step = BUILD_PROMPTS.id(relation, part)
        return graph.refuse(BUILD_PROMPTS, step, planned.refusal, inputs=[inputs["facts"].node])
    if entry := planned.entry:
        if entry.subject_class in fetched.names:
            inputs["names"] = fetched.names[entry.subject_class]
        forms = {kind: list(texts) for kind, texts in entry.contexts.items()}
        parameters: dict[str, Any] = {
            "seed": study.seed,
            "choice": study.facts.choice,
            "texts": [*entry.open, *entry.closed, forms],
            "real_entities": study.facts.real_entities,
            "invented_entities": study.facts.invented_entities,
            "contexts": dict(study.contexts.per_kind()),
            "object_class": entry.object_class,
        }
    elif planned.group:
        parameters = {"group": planned.group.parameters}
    if seed is not None:
        parameters["seed_of_contexts"] = seed
    if planned.own:
        parameters["contexts"] = {"own": [row.model_dump() for row in planned.own]}
    outputs = {
        "queries": Output(QUERIES, ("prompts", relation, *filter(None, [part])), "queries"),
        "contexts": Output(CONTEXTS, ("prompts", relation, *filter(None, [part])), "contexts"),
    }
    return graph.add(
        BUILD_PROMPTS,
        BUILD_PROMPTS.id(relation, part),
        outputs,
        inputs=inputs,
        parameters=parameters,
        arguments=(study, planned, study.seed if seed is None else seed),
    )


def part_of(seed: int | None) -> str:
    """Return the part of the identity of steps with a further seed; empty for the study's seed."""
    return "" if seed is None else f"seed {seed}"


def _choose(graph: Graph, plan: Plan, fetched: Fetched, partition: Partition) -> Node:
    study = plan.study
    assert study.questions is not None
    kind, identity = CHOOSE_QUESTIONS, CHOOSE_QUESTIONS.id(partition)
    candidates, lacking = fetched.candidates[partition], fetched.lacking.get(partition, [])
    unusable = next(iter([candidate.node for candidate in candidates if not candidate.is_usable] + lacking), None)
    if not any(candidate.is_usable for candidate in candidates) and unusable is not None:
        return graph.wait(kind, identity, unusable, waits_for=[*(candidate.node for candidate in candidates), *lacking])
    judgements = tuple(judgement for judgement in plan.judgements if judgement.field != "verdict")
    outputs = {
        "questions": Output(QUESTIONS, ("prompts", partition), "chosen-questions"),
        "rejected": Output(REJECTED, ("prompts", partition), "rejected-questions"),
    }
    parameters = {
        "per_partition": study.questions.per_partition,
        "seed": study.seed,
        "annotated": study.questions.annotated,
        "judgements": content_key({"judgements": [asdict(row) for row in judgements]}),
        **study.questions.draw_options,
    }
    roles = {
        f"{candidate.role} {candidate.node.id.subject} {candidate.node.id.part}": candidate.with_all_columns()
        for candidate in candidates
    }
    return graph.add(
        kind,
        identity,
        outputs,
        optional=roles,
        parameters=parameters,
        arguments=(study, judgements),
        listed_by=lacking,
    )


def _relations(rows: pa.Table) -> list[str]:
    return sorted(set(rows["relation"].to_pylist()))
