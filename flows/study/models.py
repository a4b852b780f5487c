"""Models that cannot be had are refused before anything runs. The hub is not asked."""

from pathlib import Path

from data import catalog
from data.sources.wikimedia.options import WikidataQuestions
from flows.study.capabilities import check_capabilities
from flows.study.study import Study
from tasks.models.files.identity import ModelKind, identify_model


def check_models(study: Study, *, also_asked: bool = True) -> None:
    """Refuses a model that no catalog, folder or hub can have, or that cannot give what a measure needs.

    Args:
        study: whose models are checked.
        also_asked: whether the models that answer are checked, not only those that help to make questions.

    Raises:
        UnknownName, ModelError: there is no such model.
        StudyFileError: a model cannot give what a measure needs.
    """
    if also_asked:
        for model in study.models:
            _check(model.name, "language_model")
        check_capabilities(study)
    if isinstance(study.questions, WikidataQuestions):
        _check(study.questions.embedder, "embedder")
        if study.questions.needs_disputes:
            _check(study.questions.disputes.writer or study.models[0].name, "language_model")


def _check(name: str, purpose: ModelKind) -> None:
    entry = catalog.models().get(name)
    at_the_hub = entry.hub is not None if entry else name.count("/") == 1
    if not at_the_hub or Path(name).expanduser().is_dir():
        identify_model(name, purpose)
