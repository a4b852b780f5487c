"""Doing a piece of work: the prompts are read, the model is asked, the score files are written."""

from collections.abc import Callable, Mapping

from data.storage.workspace import Workspace
from tasks.measurement.answer_set import measure_answer_set
from tasks.measurement.answers import measure_answers
from tasks.measurement.chunks import Progress, Spent, forget, no_progress
from tasks.measurement.correctness import measure_correctness
from tasks.measurement.entity_independent import measure_entity_independent
from tasks.measurement.fisher import measure_fisher
from tasks.measurement.memorization import measure_memorization
from tasks.measurement.persuasion import measure_persuasion
from tasks.measurement.precision import measure_precision
from tasks.measurement.work import Given, Work, read
from tasks.models.backends import load_language_model
from tasks.models.language_model import LanguageModel

FROM_A_MODEL: Mapping[str, Callable[[Work, Given, Workspace, LanguageModel, Progress], Spent]] = {
    "persuasion": measure_persuasion,
    "memorization": measure_memorization,
    "answer_set": measure_answer_set,
    "fisher": measure_fisher,
    "precision": measure_precision,
    "answers": measure_answers,
}
FROM_SCORES: Mapping[str, Callable[[Work, Given, Workspace, Progress], Spent]] = {
    "entity_independent": measure_entity_independent,
    "correctness": measure_correctness,
}


def do(work: Work, workspace: Workspace, *, force: bool = False, progress: Progress = no_progress) -> Spent:
    """Makes the wanted files that are not there yet; with `force`, all of them again. Gives what was spent.

    Raises DamagedFile where an input cannot be read, ModelError where the model cannot be used, ScoreError where a
    score is not a number.
    """
    given = read(work)
    if not force and all(whole.is_done() for whole in work.wanted.values()):
        return Spent()
    if work.family in FROM_SCORES:
        if force:
            forget(work.wanted)
        return FROM_SCORES[work.family](work, given, workspace, progress)
    model = load_language_model(work.model, dtype=work.dtype, device=work.device)
    if force:  # only now: where the model cannot be loaded, what was done is kept
        forget(work.wanted)
    return FROM_A_MODEL[work.family](work, given, workspace, model, progress)
