"""Rows about the program's own work: which file of scores was computed when, and with which versions."""

from dataclasses import dataclass
from typing import Annotated

from data.records.row import Meaning, table


@table("runs", "one stored file of scores: what was computed, when, with which versions", key=("file",))
@dataclass(frozen=True, slots=True)
class Run:
    """One stored file of scores."""

    relation: Annotated[str, Meaning("the relation's name")]
    model: Annotated[str, Meaning("the model's name")]
    measure: Annotated[str, Meaning("the measure's name")]
    measure_version: Annotated[int, Meaning("the measure's own version")]
    key: Annotated[str, Meaning("digest of everything the file was made from")]
    file: Annotated[str, Meaning("where it lies in the workspace")]
    rows: Annotated[int, Meaning("rows in the file")]
    dtype: Annotated[str, Meaning("the precision that the model computed in")]
    seed: Annotated[int, Meaning("the study's seed")]
    started_at: Annotated[str, Meaning("when its first chunk was begun (UTC, ISO 8601)")]
    finished_at: Annotated[str, Meaning("when its last chunk was written (UTC, ISO 8601)")]
    seconds: Annotated[float, Meaning("time spent computing its chunks; of a pass, at its leading measure", "s")]
    forward_passes: Annotated[int, Meaning("calls of the model; of a pass, at its leading measure")]
    prompts: Annotated[int, Meaning("prompts scored or answered; of a pass, at its leading measure")]
    swaymeter_version: Annotated[str, Meaning("version of this package")]
    torch_version: Annotated[str, Meaning("version of torch")]
    transformers_version: Annotated[str, Meaning("version of transformers")]
