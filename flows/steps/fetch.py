"""The steps that fetch: facts of a relation, invented names of a class, questions of a partition."""

from swaymeter.data.errors import InputError
from swaymeter.data.records import InventedName
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.step import Run, Step
from swaymeter.flows.study.study import Study
from swaymeter.tasks.contexts.invented_names import fetch_invented_names


def access_for(study: Study, step: Step, run: Run) -> Access:
    """How a step reaches services: by the study's settings, in the sessions of its process."""
    return study.access(
        Workspace(run.workspace).downloads, offline=run.offline,
        forced=step.forced, refreshed=step.refreshed,
    )  # fmt: skip


def fetch_facts(step: Step, run: Run) -> None:
    """Fetches the facts of a relation; InputError where there are none."""
    study: Study = step.arguments
    assert study.facts is not None
    source = FACT_SOURCES[study.facts.source]
    fetched = source.fetch(study.facts, step.id.subject, study.seed, access_for(study, step, run))
    if not fetched.facts:
        raise InputError(f"relation {step.id.subject}: the source has no facts; choose another relation")
    about = {"requested": fetched.requested, "rejected": dict(fetched.rejected)}
    step.write("facts", fetched.facts, about)


def fetch_names(step: Step, run: Run) -> None:
    """Makes up the names of invented entities of a class; InputError where every one exists."""
    study: Study = step.arguments
    options, entity_class = study.facts, step.id.subject
    assert options is not None
    names, absent_from = fetch_invented_names(options, entity_class, study.seed, access_for(study, step, run))
    made_by = options.invented_model or options.invented
    step.write("invented", [InventedName(entity_class, name, made_by, tuple(absent_from)) for name in names])


def fetch_questions(step: Step, run: Run) -> None:
    """Fetches the questions of a partition; InputError where there are none."""
    study: Study = step.arguments
    assert study.questions is not None
    source, partition = QUESTION_SOURCES[study.questions.source], step.id.subject
    assert source.fetch is not None
    fetched = source.fetch(study.questions, partition, access_for(study, step, run))  # type: ignore[arg-type]
    if not fetched.questions:
        raise InputError(f"partition {partition}: the source has no questions; leave the partition out")
    step.write("rejected", fetched.rejected)
    step.write("questions", fetched.questions)
