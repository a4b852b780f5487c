"""What a measure is: the form of an entry in the registry, and the columns that several of them share."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel

from data.parameters import NoParameters
from data.records.tables import PROVENANCE, Column, Table

INPUTS: Mapping[str, tuple[str, ...]] = {
    "contexts": ("queries", "contexts"),
    "queries": ("queries",),
    "questions": ("questions",),
}
"""The prompts of a relation that a measure can be about, and the tables that they lie in."""


@dataclass(frozen=True)
class Measure:
    """A measure that a study can name.

    family: the measures that one pass yields together. inputs: one of INPUTS. needs: the measures that are computed
    with it, where they are of its family, or before it, where they are of another, which is then computed from their
    stored scores and asks no model.
    """

    name: str
    version: int
    family: str
    unit: str
    meaning: str
    table: Table
    inputs: str
    needs: tuple[str, ...] = ()
    parameters: type[BaseModel] = NoParameters


def scores(name: str, row: str, *columns: Column) -> Table:
    """The table of a measure: of a relation, the columns, and where each score comes from."""
    return Table(name, row, (Column("relation", "VARCHAR", "the relation's name"), *columns, *PROVENANCE))


QUERY = Column("query_id", "VARCHAR", "the query")
CONTEXT = Column("context_id", "VARCHAR", "the context")
RELEVANT = Column("relevant", "BOOLEAN", "whether the context mentions the query's entity")
CONTEXTS = Column("contexts", "BIGINT", "how many contexts the mean is over")
QUERY_TYPE = Column("query_type", "VARCHAR", "open (a question or a sentence to complete) or closed (yes or no)")
FORM = Column("form", "BIGINT", "which of the two forms of its type: 1 or 2")
ENTITIES = Column("entities", "BIGINT", "how many entities the mean is over")
QUESTION = Column("question_id", "VARCHAR", "the question")
CONDITION = Column("condition", "VARCHAR", "none, original or counter_memory: the context before the question")
