"""Stage `build`: queries and contexts from facts, questions from candidates."""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from swaymeter.data.dataset.dataset import with_current_counts
from swaymeter.data.digests import content_key
from swaymeter.data.errors import InputError, first_few
from swaymeter.data.records import Dispute, Fact, Partition, Question, RelationName, as_row, from_row
from swaymeter.data.records.tables import CONTEXTS, DISPUTES, QUERIES, QUESTIONS, REJECTED
from swaymeter.data.sources.registry import QUESTION_SOURCES
from swaymeter.data.sources.slots import with_flags_of_duplicates
from swaymeter.data.sources.source import QuestionsOptions
from swaymeter.flows.graph.graph import Graph, Output, PlannedStep, RunSettings, Step, StepInput, StepKind
from swaymeter.flows.stages.fetch import FetchedInputs
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

SHOWN_JUDGEMENTS = 20
"""Upper bound on the judgements that a warning shows."""
PASSAGES_IN_MEMORY = 4096
"""Number of passages at which a batch of questions becomes an Arrow table, which needs less memory than objects."""


def build_prompts(step: Step, settings: RunSettings) -> None:
    """Write the queries and contexts of a relation from facts and invented names, or of a group from its texts."""
    study, planned, context_seed = step.arguments
    if group := planned.group:
        name = RelationName(step.id.subject)
        step.write("contexts", labelled_contexts(name, group))
        step.write("queries", labelled_queries(name, group))
        return
    facts = step.records("facts", Fact)
    names = step.table("names").read()["name"].to_pylist() if "names" in step.inputs else []
    entry, options = planned.entry, study.facts
    entities = choose_entities(
        RelationName(entry.name),
        facts,
        names,
        real=options.real_entities,
        invented=options.invented_entities,
        seed=study.seed,
        choice=options.choice,
    )
    if planned.user_contexts:
        contexts = own_contexts(planned.user_contexts, entities)
    else:
        per_kind = study.contexts.per_kind()
        contexts = write_contexts(entry, entities, objects(facts), per_kind=per_kind, seed=context_seed)
    step.write("contexts", contexts)
    step.write("queries", write_queries(entry, entities))


def choose(step: Step, settings: RunSettings) -> None:
    """Choose the questions of a partition from the fetched candidates; InputError if no candidate is valid."""
    study, judgements = step.arguments
    partition: Any = step.id.subject
    needs_several_steps = QUESTION_SOURCES[study.questions.source].needs_several_steps
    candidates = candidates_of(step.inputs.values(), partition, needs_several_steps=needs_several_steps)
    candidates, problems = with_kinds(candidates, judgements)
    askable = study.questions.askable(candidates)
    candidates, rejected = list(askable.questions), list(askable.rejected)
    if study.questions.annotated:
        annotators_opinions = opinions(candidates, judgements)
        accepted = accepted_questions(candidates, annotators_opinions)
        candidates, rejected = accepted.questions, [*rejected, *accepted.rejected]
        problems += annotators_opinions.problems
    if problems:
        problem = first_few(problems, SHOWN_JUDGEMENTS, separator="; ")
        log.warning("partition %s: judgements that do not count: %s", partition, problem)
    if not candidates:
        counts = Counter(row.reason for row in rejected).most_common(5)
        reasons = ", ".join(f"{count} {reason}" for reason, count in counts) or "no candidate was found"
        raise InputError(
            f"partition {partition}: no question can be asked ({reasons}); leave the partition out, or fetch more "
            "triples or pages under `questions`"
        )
    chosen = choose_questions(candidates, count=study.questions.per_partition, seed=study.seed)
    step.write("rejected", [*rejected, *chosen.rejected])
    step.write("questions", chosen.questions)


def candidates_of(inputs: Iterable[Any], partition: Partition, *, needs_several_steps: bool) -> list[Question]:
    """Return every candidate of a partition, with the current edits and page views of the tables of disputes.

    Args:
        inputs: Artifacts of the tables `questions` and `disputes`. A page of Wikipedia has one artifact of each table,
            both with the page as `subject` in their key inputs.
        partition: The partition.
        needs_several_steps: True if several steps fetch the candidates. Such a step may also fetch questions of other
            partitions, and two steps may fetch the same question.
    """
    tables: dict[str, list[Any]] = {QUESTIONS.name: [], DISPUTES.name: []}
    for artifact in inputs:
        tables[artifact.table.name].append(artifact)
    disputes_by_subject = {tuple(artifact.key_inputs["subject"]): artifact for artifact in tables[DISPUTES.name]}
    candidates: list[Question] = []
    for artifact in tables[QUESTIONS.name]:
        questions = [from_row(Question, row) for row in artifact.read().to_pylist()]
        disputes = disputes_by_subject.get(tuple(artifact.key_inputs["subject"]))
        if disputes is not None:
            current = [from_row(Dispute, row) for row in disputes.read().to_pylist()]
            questions = with_current_counts(questions, current)
        candidates += questions
    if not needs_several_steps:
        return candidates
    candidates = [question for question in candidates if question.partition == partition]
    # A question that two steps have fetched must come once, because a repeated text gets a flag.
    return with_flags_of_duplicates(list({question.question_id: question for question in candidates}.values()))


def build_questions(step: Step, settings: RunSettings) -> None:
    """Write the questions of a relation with the contexts that the study arranges."""
    options: QuestionsOptions = step.arguments
    questions = [
        from_row(Question, row)
        for role in step.inputs
        for row in step.table(role).read().to_pylist()
        if row["relation"] == step.id.subject
    ]
    # Sorted by id, so that a question keeps its position if its partition changes.
    ordered = sorted(questions, key=lambda question: question.question_id)
    # cases: each question alone and with each context. left_out: further cases, in which one passage is left out of an
    # evidence set. A set of three passages gives three such cases.
    counts = {"cases": len(ordered), "left_out": 0}
    output, batches = step.table("questions"), []
    for batch in _batches(arranged for question in ordered for arranged in options.arrange([question])):
        set_sizes = [len(context.passages) for question in batch for context in question.contexts]
        counts["cases"] += len(set_sizes)
        counts["left_out"] += sum(size for size in set_sizes if size > 1)
        batches.append(output.table.of([as_row(question) for question in batch]))
    output.write(pa.concat_tables(batches), counts)


def _batches(questions: Iterable[Question]) -> Iterator[list[Question]]:
    """Yield the questions in lists of at least `PASSAGES_IN_MEMORY` passages; the last list may have fewer."""
    batch, passages = list[Question](), 0
    for question in questions:
        batch.append(question)
        passages += sum(len(context.passages) for context in question.contexts)
        if passages >= PASSAGES_IN_MEMORY:
            yield batch
            batch, passages = [], 0
    if batch:
        yield batch


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
class BuiltPrompts:
    """The outputs of a study's build steps.

    Attributes:
        queries: By relation, the table of its queries.
        contexts: By relation, the table of its contexts.
        questions: By relation, the table of its questions.
        chosen: By partition, the step that writes its chosen questions and its rejected candidates.
        waiting: By partition, the step of `chosen` if its questions are not chosen yet.
    """

    queries: Mapping[str, StepInput]
    contexts: Mapping[str, StepInput]
    questions: Mapping[str, StepInput]
    chosen: Mapping[Partition, PlannedStep]
    waiting: Mapping[Partition, PlannedStep] = field(default_factory=dict)


def add_build_steps(graph: Graph, plan: Plan, fetched: FetchedInputs) -> BuiltPrompts:
    """Add the steps that build prompts from fetched facts and questions."""
    prompts = {relation: add_prompts(graph, plan, fetched, relation) for relation in fetched.facts}
    chosen = {partition: _add_choice(graph, plan, fetched, partition) for partition in fetched.candidates}
    chosen_tables: dict[str, dict[str, StepInput]] = {}  # by relation and partition
    for partition, node in chosen.items():
        step_input = node.output("questions")
        if step_input.is_usable:
            for relation in graph.read_once(step_input, _relations):
                chosen_tables.setdefault(relation, {})[partition] = step_input.with_all_columns()
    options = plan.study.questions
    questions = {
        relation: graph.add(
            BUILD_QUESTIONS,
            BUILD_QUESTIONS.id(relation),
            {"questions": Output(QUESTIONS, ("prompts", relation), "questions")},
            inputs=chosen_tables[relation],
            parameters=options.draw_options if options else None,
            arguments=options,
            deciding_nodes=chosen.values(),
        )
        for relation in sorted(chosen_tables)
    }
    return BuiltPrompts(
        queries={relation: node.output("queries") for relation, node in prompts.items()},
        contexts={relation: node.output("contexts") for relation, node in prompts.items()},
        questions={relation: node.output("questions") for relation, node in questions.items()},
        chosen=chosen,
        waiting={name: node for name, node in chosen.items() if not node.output("questions").is_usable},
    )


def add_prompts(
    graph: Graph, plan: Plan, fetched: FetchedInputs, relation: str, seed: int | None = None
) -> PlannedStep:
    """Add the step of a relation's queries and contexts; `seed` replaces the study's seed only for contexts."""
    part, study, planned = seed_part(seed), plan.study, plan.relations[relation]
    identity = BUILD_PROMPTS.id(relation, part)
    assert study.facts is not None
    inputs = {"facts": fetched.facts[relation]}
    if planned.refusal:
        return graph.add_refused(BUILD_PROMPTS, identity, planned.refusal, inputs=[inputs["facts"].node])
    if entry := planned.entry:
        if entry.subject_class in fetched.names:
            inputs["names"] = fetched.names[entry.subject_class]
        context_templates = {kind: list(texts) for kind, texts in entry.contexts.items()}
        parameters: dict[str, Any] = {
            "seed": study.seed,
            "choice": study.facts.choice,
            "texts": [*entry.open, *entry.closed, context_templates],
            "real_entities": study.facts.real_entities,
            "invented_entities": study.facts.invented_entities,
            "contexts": dict(study.contexts.per_kind()),
            "object_class": entry.object_class,
        }
    elif planned.group:
        parameters = {"group": planned.group.parameters}
    if seed is not None:
        parameters["seed_of_contexts"] = seed
    if planned.user_contexts:
        parameters["contexts"] = {"own": [row.model_dump() for row in planned.user_contexts]}
    folders = ("prompts", relation, part) if part else ("prompts", relation)
    outputs = {
        "queries": Output(QUERIES, folders, "queries"),
        "contexts": Output(CONTEXTS, folders, "contexts"),
    }
    return graph.add(
        BUILD_PROMPTS,
        identity,
        outputs,
        inputs=inputs,
        parameters=parameters,
        arguments=(study, planned, study.seed if seed is None else seed),
    )


def seed_part(seed: int | None) -> str:
    """Return the `part` of the identity of steps with a further seed, such as "seed 2"; "" for the study's seed."""
    return "" if seed is None else f"seed {seed}"


def _add_choice(graph: Graph, plan: Plan, fetched: FetchedInputs, partition: Partition) -> PlannedStep:
    study = plan.study
    assert study.questions is not None
    kind, identity = CHOOSE_QUESTIONS, CHOOSE_QUESTIONS.id(partition)
    candidates, unfinished_steps = fetched.candidates[partition], fetched.unfinished_listing_steps.get(partition, [])
    nodes = [*(candidate.node for candidate in candidates), *unfinished_steps]
    if nodes and not any(candidate.is_usable for candidate in candidates):
        return graph.add_placeholder(kind, identity, nodes[0], waits_for=nodes)
    # Verdicts are about replies, so they do not change the choice of questions.
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
    tables = {
        f"{candidate.role} {candidate.node.id.subject} {candidate.node.id.part}": candidate.with_all_columns()
        for candidate in candidates
    }
    return graph.add(
        kind,
        identity,
        outputs,
        optional=tables,
        parameters=parameters,
        arguments=(study, judgements),
        deciding_nodes=unfinished_steps,
    )


def _relations(rows: pa.Table) -> list[str]:
    return sorted(set(rows["relation"].to_pylist()))
