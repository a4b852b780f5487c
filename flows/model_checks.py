"""Models that nobody can have are refused before anything runs. The hub is not asked."""

from pathlib import Path

from data import catalog
from flows.plan import Plan
from tasks.models.identity import ModelKind, identify_model


def check_models(plan: Plan) -> None:
    """Refuses a model of the study that no catalog, folder or hub can have: UnknownName or ModelError."""
    for model in plan.study.models:
        _check(model.name, "language_model")
    check_helpers(plan)


def check_helpers(plan: Plan) -> None:
    """The same of the models that help to make live questions."""
    live = plan.question_files.live if plan.partitions() else None
    if live:
        _check(live.wanted.embedder, "embedder")
        if live.wanted.needs_disputes:
            _check(live.writer.name, "language_model")


def _check(name: str, purpose: ModelKind) -> None:
    entry = catalog.models().get(name)
    at_the_hub = entry.hub is not None if entry else name.count("/") == 1
    if not at_the_hub or Path(name).expanduser().is_dir():
        identify_model(name, purpose)
