"""A piece of work: one model, one relation, one family of measures; and which function does it."""

from collections.abc import Mapping
from dataclasses import dataclass

from data.workspace import Stored, Workspace
from tasks.measurement.answers import measure_answers
from tasks.measurement.chunks import Progress, missing, no_progress
from tasks.measurement.correctness import measure_correctness
from tasks.measurement.persuasion import measure_persuasion
from tasks.models.language_model import load_language_model


@dataclass(frozen=True)
class Work:
    """What a Prefect task run computes: the files that are read, and those that are wanted, by table and measure."""

    relation: str
    model: str
    dtype: str
    device: str
    family: str
    seed: int
    inputs: Mapping[str, Stored]
    wanted: Mapping[str, Stored]


def do(work: Work, workspace: Workspace, *, force: bool = False, progress: Progress = no_progress) -> None:
    """Makes the wanted files that are not there yet; with `force`, all of them again.

    Raises DamagedFile where an input cannot be read, ModelError where the model cannot be used, ScoreError where a
    score is not a number.
    """
    inputs = {name: stored.read().to_pylist() for name, stored in work.inputs.items()}
    if force:
        for whole in work.wanted.values():
            whole.remove()
    if not missing(work.wanted):
        return
    version = next(iter(work.inputs.values())).digest()[:12]
    if work.family == "correctness":
        measure_correctness(workspace, work.wanted, inputs, dataset_version=version, progress=progress)
        return
    model = load_language_model(work.model, dtype=work.dtype, device=work.device)
    if work.family == "persuasion":
        measure_persuasion(model, workspace, work.wanted, inputs, dataset_version=version, progress=progress)
    else:
        measure_answers(
            model, workspace, work.wanted, inputs, dataset_version=version, seed=work.seed, progress=progress
        )
