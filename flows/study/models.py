"""Models that cannot be had, or cannot give what a measure needs, are refused before anything runs. No hub is asked."""

from pathlib import Path

from swaymeter.data import catalog
from swaymeter.data.errors import StudyFileError
from swaymeter.data.sources.registry import QUESTION_SOURCES
from swaymeter.flows.study.study import Study
from swaymeter.tasks.models.backends import capabilities
from swaymeter.tasks.models.files.identity import ModelKind, identify_model


def check_models(study: Study, *, also_asked: bool = True) -> None:
    """Checks the models of a study: those that help to make questions and, if `also_asked`, those that answer."""
    if also_asked:
        for model in study.models:
            _check(model.name, "language_model")
        _check_capabilities(study)
    if study.questions is not None:
        models = QUESTION_SOURCES[study.questions.source].models(study.questions, study.models[0].name)
        for purpose, name in models.items():
            _check(name, purpose)


def _check(name: str, purpose: ModelKind) -> None:
    entry = catalog.models().get(name)
    at_the_hub = entry.hub is not None if entry else name.count("/") == 1 and name[0] not in "./~"
    if not at_the_hub or Path(name).expanduser().is_dir():
        identify_model(name, purpose)


def _check_capabilities(study: Study) -> None:
    wrong = [
        f"measures.{name}: needs {measure.capability}, which model {model} cannot give; leave out the measure or ask "
        "another model"
        for model in dict.fromkeys(model.name for model in study.models)
        for name, measure in study.requested().items()
        if measure.capability is not None and measure.capability not in capabilities(model)
    ]
    if wrong:
        raise StudyFileError("; ".join(wrong))
