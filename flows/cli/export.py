"""What `swaymeter export` does: a study's facts for readers of yago_qec.json, its questions for those of DynamicQA."""

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
class Exported:
    """How much was written: facts by relation, and the relations that have no place in the file."""

    facts: dict[str, int]
    left_out: tuple[str, ...]


def export(plan: Plan, file: Path, *, force: bool) -> Exported:
    """Writes what the plan fetched to the file, whole or not at all.

    UsageError where the file is there already and `force` is not given, or the study asks about no facts; DamagedFile
    where they are not fetched yet; InputError where YAGO has a predicate for none of the relations.
    """
    if not plan.relations():
        raise UsageError(f"the study {plan.study.name} asks about no facts, so there is nothing to export")
    if file.exists() and not force:
        raise UsageError(f"{file} is there already; name another file, or write over it with --force")
    facts = {
        relation: [of_row(Fact, row) for row in plan.facts(relation).read_as_written().to_pylist()]
        for relation in plan.relations()
    }
    classes = {relation: catalog.relation(relation).subject_class for relation in facts}
    names = {name: plan.names(name).read_as_written()["name"].to_pylist() for name in sorted({*classes.values()})}
    left_out = write_qec(
        file, facts, {relation: names[name] for relation, name in classes.items()}, catalog.relations()
    )
    return Exported({name: len(read) for name, read in facts.items() if name not in left_out}, left_out)


@dataclass(frozen=True)
class ExportedQuestions:
    """How many questions were written, by partition, and those that the layout has no place for."""

    questions: dict[Partition, int]
    left_out: tuple[LeftOut, ...]


def export_questions(plan: Plan, folder: Path, *, force: bool, incomplete: bool = False) -> ExportedQuestions:
    """Writes the questions that the plan asks into the folder, in the layout in which DynamicQA is published.

    UsageError where a file is there already and `force` is not given, the study asks no questions, or some are not
    fetched yet and `incomplete` is not given; the error of a partition whose questions cannot be asked.
    """
    if not plan.partitions():
        raise UsageError(f"the study {plan.study.name} asks no questions, so there is nothing to export")
    there = [folder / name for name in FILES.values() if (folder / name).exists()]
    if there and not force:
        raise UsageError(f"{there[0]} is there already; name another folder, or write over it with --force")
    missing = plan.question_files.not_there()
    if missing and not incomplete:
        raise UsageError(
            f"questions are missing: {', '.join(missing[:5])}{' and more' if len(missing) > 5 else ''}; run "
            "`swaymeter fetch` again, or write those that are there with --incomplete"
        )
    for error in plan.refused_partitions.values():
        raise error
    asked = [question for questions in plan.chosen_questions.values() for question in questions]
    left_out = write_questions(folder, asked)
    written = [question for question in asked if question not in {one.question for one in left_out}]
    counted = {name: sum(question.partition == name for question in written) for name in plan.partitions()}
    return ExportedQuestions(counted, left_out)
