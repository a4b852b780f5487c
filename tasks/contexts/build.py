"""From facts in the workspace to prompts in the workspace."""

from collections.abc import Mapping, Sequence

from data.records import ContextKind, Fact, Question, RelationName, as_row, of_row
from data.storage.workspace import Stored
from tasks.contexts.entities import Choice, choose_entities, objects
from tasks.contexts.queries import write_queries
from tasks.contexts.sentences import write_contexts


def build_prompts(
    facts: Stored,
    names: Stored | None,
    queries: Stored,
    contexts: Stored,
    *,
    relation: str,
    real: int,
    invented: int,
    choice: Choice,
    per_kind: Mapping[ContextKind, int],
    seed: int,
) -> None:
    """Writes the queries and contexts of a relation, from its facts and the names of invented entities.

    names: those of its subjects' class; None where none are asked for.
    """
    known = [of_row(Fact, row) for row in facts.read().to_pylist()]
    name = RelationName(relation)
    made_up = names.read().column("name").to_pylist() if names else []
    entities = choose_entities(name, known, made_up, real=real, invented=invented, seed=seed, choice=choice)
    written = write_contexts(name, entities, objects(known), per_kind=per_kind, seed=seed)
    contexts.write(contexts.table.of([as_row(context) for context in written]))
    queries.write(queries.table.of([as_row(query) for query in write_queries(name, entities)]))


def build_questions(chosen: Sequence[Question], stored: Stored) -> None:
    """Writes the questions of a relation that a study asks."""
    stored.write(stored.table.of([as_row(question) for question in chosen]))
