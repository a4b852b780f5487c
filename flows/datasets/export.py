"""A study's facts in the layout of measureLM's yago_qec.json, and its questions in that of DynamicQA."""

from dataclasses import dataclass
from pathlib import Path

from data import catalog
from data.errors import UsageError
from data.records import Fact, Partition, of_row
from data.sources.dynamicqa.export import LeftOut, write_questions
from data.sources.dynamicqa.layout import FILES
from data.sources.graph.qec import write_qec
from flows.plan import Plan


@dataclass(frozen=True)
class ExportedFacts:
    """How many facts were written, by relation, and the relations for which YAGO has no predicate."""

    facts: dict[str, int]
    without_predicate: tuple[str, ...]


@dataclass(frozen=True)
class ExportedQuestions:
    """How many questions were written, by partition, and those that the layout has no place for."""

    questions: dict[Partition, int]
    left_out: tuple[LeftOut, ...]


def export(plan: Plan, file: Path, *, force: bool) -> ExportedFacts:
    """Write the facts that were fetched to the file, whole or not at all.

    Raises:
        UsageError: The file exists and `force` is not set, or the study has no facts.
        DamagedFile: The facts are not fetched yet, or cannot be read.
        InputError: YAGO has a predicate for none of the relations.
    """
    if not plan.relations():
        raise UsageError(f"the study {plan.study.name} uses no facts, so there is nothing to export")
    if file.exists() and not force:
        raise UsageError(f"{file} exists; name another file, or write over it with --force")
    facts = {
        relation: [of_row(Fact, row) for row in plan.facts(relation).read_as_written().to_pylist()]
        for relation in plan.relations()
    }
    classes = {relation: catalog.relation(relation).subject_class for relation in facts}
    names = {name: plan.names(name).read_as_written()["name"].to_pylist() for name in sorted({*classes.values()})}
    of_relation = {relation: names[name] for relation, name in classes.items()}
    without = write_qec(file, facts, of_relation, catalog.relations())
    return ExportedFacts({name: len(rows) for name, rows in facts.items() if name not in without}, without)


def export_questions(plan: Plan, folder: Path, *, force: bool, incomplete: bool = False) -> ExportedQuestions:
    """Write the chosen questions into the folder, in the layout in which DynamicQA is published.

    Raises:
        UsageError: A file exists and `force` is not set, the study has no questions, or some are not fetched yet and
            `incomplete` is not set.
        SwaymeterError: A partition's questions cannot be used.
    """
    if not plan.partitions():
        raise UsageError(f"the study {plan.study.name} has no questions, so there is nothing to export")
    existing = [folder / name for name in FILES.values() if (folder / name).exists()]
    if existing and not force:
        raise UsageError(f"{existing[0]} exists; name another folder, or write over it with --force")
    missing = plan.question_files.not_there()
    if missing and not incomplete:
        raise UsageError(
            f"questions are missing: {', '.join(missing[:5])}{' and more' if len(missing) > 5 else ''}; run "
            "`swaymeter fetch` again, or write those that are there with --incomplete"
        )
    for error in plan.refused_partitions.values():
        raise error
    questions = [question for questions in plan.chosen_questions.values() for question in questions]
    left_out = write_questions(folder, questions)
    written = [question for question in questions if question not in {row.question for row in left_out}]
    counts = {name: sum(question.partition == name for question in written) for name in plan.partitions()}
    return ExportedQuestions(counts, left_out)
