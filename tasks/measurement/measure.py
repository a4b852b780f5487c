"""Doing a piece of work: the prompts are read, the model is asked, the score files are written."""

from data.errors import MissingFile
from data.keys import content_key
from data.workspace import Workspace
from tasks.measurement.answers import measure_answers
from tasks.measurement.chunks import Progress, Spent, forget, no_progress
from tasks.measurement.correctness import measure_correctness
from tasks.measurement.persuasion import measure_persuasion
from tasks.measurement.work import Work
from tasks.models.language_model import load_language_model


def do(work: Work, workspace: Workspace, *, force: bool = False, progress: Progress = no_progress) -> Spent:
    """Makes the wanted files that are not there yet; with `force`, all of them again. Gives what was spent.

    Raises DamagedFile where an input cannot be read, ModelError where the model cannot be used, ScoreError where a
    score is not a number.
    """
    answers = work.inputs.get("answers")
    if answers is not None and not answers.exists():
        raise MissingFile(f"the answers that {work.family} needs are not there; score them first")
    prompts = {name: stored.read_as_written().to_pylist() for name, stored in work.inputs.items() if name != "answers"}
    inputs = prompts | {name: stored.read().to_pylist() for name, stored in work.inputs.items() if name == "answers"}
    if not force and all(whole.is_done() for whole in work.wanted.values()):
        return Spent()
    version = content_key({name: work.inputs[name].digest() for name in prompts})[:12]
    if work.family == "correctness":
        if force:
            forget(work.wanted)
        return measure_correctness(workspace, work.wanted, inputs, dataset_version=version, progress=progress)
    model = load_language_model(work.model, dtype=work.dtype, device=work.device)
    if force:  # only now: where the model cannot be loaded, what was done is kept
        forget(work.wanted)
    if work.family == "persuasion":
        return measure_persuasion(model, workspace, work.wanted, inputs, dataset_version=version, progress=progress)
    return measure_answers(
        model, workspace, work.wanted, inputs, dataset_version=version, seed=work.seed, progress=progress
    )
