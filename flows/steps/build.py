"""The steps that build prompts: queries and contexts from facts, questions from candidates."""

from collections import Counter
from collections.abc import Iterable
from functools import partial
from typing import Any

import pyarrow as pa

from swaymeter.data.dataset.dataset import with_current_counts
from swaymeter.data.errors import InputError
from swaymeter.data.records import Annotation, Dispute, Fact, Partition, Question, RelationName, as_row, of_row
from swaymeter.data.records.tables import DISPUTES, QUESTIONS
from swaymeter.data.sources.registry import QUESTION_SOURCES
from swaymeter.data.sources.slots import with_flags_across
from swaymeter.data.sources.source import QuestionsOptions
from swaymeter.flows.graph.step import Run, Step
from swaymeter.tasks.contexts.annotation.judging import decide
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

AT_ONCE = 16
"""Questions whose contexts are in memory together: each may have many, of many passages."""


def build_prompts(step: Step, run: Run) -> None:
    """Writes the queries and contexts of a relation, from its facts and the names of invented entities."""
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
        RelationName(relation.name), facts, names, real=options.real_entities, invented=options.invented_entities,
        seed=study.seed, choice=options.choice,
    )  # fmt: skip
    written = partial(write_contexts, per_kind=study.contexts.per_kind(), seed=seed)
    own = own_contexts(planned.own, entities) if planned.own else None
    step.write("contexts", own or written(relation, entities, objects(facts)))
    step.write("queries", write_queries(relation, entities))


def choose(step: Step, run: Run) -> None:
    """Chooses the questions of a partition among the candidates that are there; InputError where none can be asked."""
    study, annotations = step.arguments
    partition: Any = step.id.subject
    several = QUESTION_SOURCES[study.questions.source].in_several_steps
    candidates = candidates_of(step.inputs.values(), partition, several=several)
    asked = study.questions.askable(candidates)
    candidates, rejected = list(asked.questions), list(asked.rejected)
    if study.questions.annotated:
        rows = [of_row(Annotation, row) for file in annotations for row in file.read().to_pylist()]
        decided = decide(candidates, sorted(rows, key=lambda row: row.imported_at))
        candidates, rejected = decided.questions, [*rejected, *decided.rejected]
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
    """Every candidate of a partition, with the numbers of its dispute as they are now.

    Args:
        inputs: tables of questions and of disputes; those of a page are about the same subject.
        partition: only its questions.
        several: whether they were fetched in several steps, two of which may have led to one question.
    """
    tables: dict[str, list[Any]] = {QUESTIONS.name: [], DISPUTES.name: []}
    for artifact in inputs:
        tables[artifact.table.name].append(artifact)
    disputes_of = {tuple(artifact.made_from["subject"]): artifact for artifact in tables[DISPUTES.name]}
    candidates: list[Question] = []
    for artifact in tables[QUESTIONS.name]:
        questions = [of_row(Question, row) for row in artifact.read().to_pylist()]
        disputes = disputes_of.get(tuple(artifact.made_from["subject"]))
        if disputes is not None:
            counted = [of_row(Dispute, row) for row in disputes.read().to_pylist()]
            questions = with_current_counts(questions, counted)
        candidates += questions
    if not several:
        return candidates
    candidates = [question for question in candidates if question.partition == partition]
    return with_flags_across(list({question.question_id: question for question in candidates}.values()))


def build_questions(step: Step, run: Run) -> None:
    """Writes the questions of a relation, with the contexts that they are asked with."""
    options: QuestionsOptions = step.arguments
    questions = [
        of_row(Question, row)
        for role in step.inputs
        for row in step.table(role).read().to_pylist()
        if row["relation"] == step.id.subject
    ]
    # A fact that became temporal keeps its place.
    ordered = sorted(questions, key=lambda question: question.question_id)
    table, tables, amounts = step.table("questions"), [], {"cases": len(ordered), "left_out": 0}
    for first in range(0, len(ordered), AT_ONCE):
        asked = options.as_asked(ordered[first : first + AT_ONCE])
        passages = [len(context.passages) for question in asked for context in question.contexts]
        amounts["cases"] += len(passages)
        amounts["left_out"] += sum(count for count in passages if count > 1)
        tables.append(table.table.of([as_row(question) for question in asked]))
    table.write(pa.concat_tables(tables), amounts)
