"""From a source into the workspace: facts by relation, questions by partition."""

from pathlib import Path

from data.errors import InputError
from data.records import Partition, as_row
from data.sources import dynamicqa, sample
from data.workspace import Stored


def fetch_facts(relation: str, stored: Stored) -> None:
    """Writes the facts of a relation; InputError where the source has none."""
    facts = sample.facts(relation)
    if not facts:
        raise InputError(f"relation {relation}: the bundled sample has no facts; choose another relation")
    stored.write(stored.table.of([as_row(fact) for fact in facts]))


def fetch_questions(partition: Partition, folder: Path | None, stored: Stored) -> None:
    """Writes the questions of a partition, from the published CSV files of a folder or from the bundled sample."""
    questions = sample.questions(partition) if folder is None else dynamicqa.questions(folder, partition)
    if not questions:
        raise InputError(f"partition {partition}: the source has no questions")
    stored.write(stored.table.of([as_row(question) for question in questions]))
