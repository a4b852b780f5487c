"""What every score row says of where it comes from."""

from dataclasses import dataclass
from typing import Annotated

from data.records.row import Meaning


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The columns that all measures share; a measure's row type adds its own below."""

    relation: Annotated[str, Meaning("the relation's name")]
    model: Annotated[str, Meaning("the model's name: a catalog alias, a hub id or a folder's name")]
    model_revision: Annotated[str, Meaning("what tells this copy of the weights from another: a digest or a commit")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    device: Annotated[str, Meaning("where the model ran: cpu, cuda:0, or cuda:0+cuda:1 where it is spread")]
    engine: Annotated[str, Meaning("the engine that computed the score")]
    dataset_version: Annotated[str, Meaning("the digest of the queries and contexts, or of the questions")]
    stand_in: Annotated[str | None, Meaning("which model stood in for which; NULL where none did")]
