"""From a source into the workspace: facts by relation, questions by partition."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from data.errors import InputError
from data.records import Fact, Partition, as_row
from data.sources import dynamicqa, sample
from data.storage.workspace import Stored


def write_facts(
    relation: str, facts: Sequence[Fact], stored: Stored, about: Mapping[str, object] | None = None
) -> None:
    """Writes the facts of a relation; InputError where there are none."""
    if not facts:
        raise InputError(f"relation {relation}: the source has no facts; choose another relation")
    stored.write(stored.table.of([as_row(fact) for fact in facts]), about)


def write_names(
    entity_class: str, names: Sequence[str], stored: Stored, *, made_by: str, looked_for_in: Sequence[str]
) -> None:
    """Writes the names of invented entities of a class; InputError where none is left."""
    if not names:
        raise InputError(f"entity class {entity_class}: every name that was made up exists; make up others (`seed`)")
    row = {"entity_class": entity_class, "made_by": made_by, "looked_for_in": list(looked_for_in)}
    stored.write(stored.table.of([{**row, "name": name} for name in names]))


def fetch_questions(partition: Partition, folder: Path | None, stored: Stored) -> None:
    """Writes the questions of a partition, from the published CSV files of a folder or from the bundled sample."""
    questions = sample.questions(partition) if folder is None else dynamicqa.questions(folder, partition)
    if not questions:
        raise InputError(f"partition {partition}: the source has no questions")
    stored.write(stored.table.of([as_row(question) for question in questions]))
