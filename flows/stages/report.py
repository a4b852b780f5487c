"""Stage `report`: the page, drawn from the database."""

import functools
import importlib.metadata
import inspect
import platform
import sys
from dataclasses import replace
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

from swaymeter.data import catalog
from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.digests import content_key, sha256_of_file
from swaymeter.data.errors import WorkFailed
from swaymeter.data.records import Fact, Question, from_row
from swaymeter.data.records.findings import GateCheck, NotRun, StudyCard
from swaymeter.data.records.tables import FACTS, QUESTIONS
from swaymeter.data.storage.workspace import DATABASE
from swaymeter.data.warehouse.queries import NAMED_QUERIES, queries_digest
from swaymeter.flows.config.prompt import PromptPart
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.graph.graph import Graph, PlannedStep, RunSettings, Step, StepKind
from swaymeter.flows.stages.aggregate import schema
from swaymeter.flows.stages.build import BuiltPrompts
from swaymeter.flows.stages.fetch import FetchedInputs
from swaymeter.flows.stages.plan import Plan

PROGRAMS = (
    "swaymeter",
    "prefect",
    "torch",
    "transformers",
    "duckdb",
    "numpy",
    "pandas",
    "scipy",
    "matplotlib",
)
"""Packages whose versions the page shows."""


def draw_report(step: Step, settings: RunSettings) -> None:
    """Draw the page, its figures and tables from the database."""
    from swaymeter.data.warehouse.warehouse import opened  # DuckDB and matplotlib take seconds to import
    from swaymeter.reports.changes import LAST_CHANGES, NUMBERS
    from swaymeter.reports.frames import LazyFrames, with_empty
    from swaymeter.reports.report import queries, write_report
    from swaymeter.tasks.statistics.changes import changes_of_run

    artifact: Any = step.outputs["files"]
    database = step.inputs["database"].folder / DATABASE
    card = replace(card_of(step), gate=gate_of(step.arguments[0], database))
    with opened(database, schema()) as warehouse:
        frames = with_empty(LazyFrames(warehouse.with_rows(queries()), warehouse.frame), queries())
        changes = changes_of_run(frames[LAST_CHANGES], frames[NUMBERS])
        write_report(frames, artifact.folder, card, artifact.key, changes, settings.show_findings)


def gate_of(study: StudyFile, database: Path) -> tuple[GateCheck, ...]:
    """Return a check of each threshold for each variant; a single failed check if a quantity was not measured."""
    from swaymeter.flows.stages.thresholds import study_threshold_outcomes
    from swaymeter.reports.models import short_names

    if not study.thresholds:
        return ()
    try:
        outcomes = study_threshold_outcomes(study, database)
    except WorkFailed as error:
        return (GateCheck("thresholds", "not measured", "", "", str(error)),)
    labels = short_names({row.model for _, row, _ in outcomes}).names
    return tuple(
        GateCheck(row.name, row.fraction_or_mean, threshold.bound, labels[row.model], reason)
        for threshold, row, reason in outcomes
    )


def card_of(step: Step) -> StudyCard:
    """Return what the report of a study shows in addition to the database."""
    study, not_run = step.arguments
    versions = {name: importlib.metadata.version(name) for name in PROGRAMS}
    return StudyCard(
        name=study.name,
        seeds=study.seeds or (study.seed,),
        question=study.asks.strip(),
        not_run=not_run,
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={**versions, "python": platform.python_version()},
        sources=_sources(step),
        prompt=_prompt(study),
    )


def _prompt(study: StudyFile) -> dict[str, str]:
    """Return, by title on the page, the texts of prompts, passages and decodings that differ from the defaults."""
    prompt, texts = study.prompt, study.prompt.answer_prompts().content
    further_texts: dict[str, str] = {
        f"chat_template of {model.name}": model.chat_template for model in study.models if model.chat_template
    }
    further_texts |= _passages(study.questions) | {
        f"decoding {name}": ", ".join(f"{key} {value:g}" for key, value in parameters.items()) or "as published"
        for name, parameters in (study.decodings or {}).items()
        if name != "greedy"
    }
    if study.prompts:
        descriptions = {f"prompt {name}": _prompt_description(part) for name, part in study.prompts.items()}
        return {**descriptions, **{name: str(texts[name]) for name in prompt.own_texts()}, **further_texts}
    if prompt.form == "default":
        return {name: str(texts[name]) for name in prompt.own_texts()} | further_texts
    has_catalog_texts = texts == catalog.prompts(prompt.form).content
    title = "the published form" if prompt.form == "published" else prompt.form
    form = f"{title}, with Swaymeter's texts" if has_catalog_texts else f"{title}, with texts of the study"
    return {"form": form, **{name: str(text) for name, text in texts.items() if text is not None}, **further_texts}


def _prompt_description(part: PromptPart) -> str:
    own_texts = ", ".join(part.own_texts())
    texts = part.answer_prompts()
    requests = (texts.system_with_context or texts.system, texts.with_context), (texts.system, texts.without_context)
    wording = "".join("\n\n" + "\n".join(filter(None, request)) for request in requests)
    return f"form {part.form}" + f", with its own {own_texts}" * bool(own_texts) + wording


def _passages(questions: Any) -> dict[str, str]:
    options = getattr(questions, "passages", None)
    if options is None:
        return {}
    sets, orders = "; ".join(options.sets), ", ".join(options.orders).replace("_", " ")
    form = options.template or options.form
    return {"sets of passages": sets, "orders of passages": orders, "form of passages": form}


def _sources(step: Step) -> tuple[str, ...]:
    """Return the licence of each source, and the versions of the facts and of the questions."""
    facts = tuple(from_row(Fact, row) for table in step.inputs_of(FACTS) for row in table.read().to_pylist())
    tables = step.inputs_of(QUESTIONS)
    questions = tuple(from_row(Question, row) for table in tables for row in table.read().to_pylist())
    rows: tuple[Fact | Question, ...] = (*questions, *facts)
    licences = {f"{row.source} ({row.licence})" for row in rows}
    version_lines = [_dataset_line("Facts", Dataset(Path(), facts))] if facts else []
    version_lines += [_dataset_line("Questions", Dataset(Path(), (), questions=questions))] if questions else []
    return (*sorted(licences), *version_lines)


def _dataset_line(title: str, dataset: Dataset) -> str:
    """Return the version and size of facts or questions: "Facts: version 1a2b, 90 facts of 2 relations"."""
    count, relations = len(dataset.facts) + len(dataset.questions), dataset.relations + dataset.question_relations
    fetched = f", fetched {' to '.join(dict.fromkeys(dataset.retrieved))}" if dataset.retrieved else ""
    relation_count = "1 relation" if len(relations) == 1 else f"{len(relations)} relations"
    return f"{title}: version {dataset.version}, {count} {title.lower()} of {relation_count}{fetched}"


# ---- the steps of a study --------------------------------------------------------------------------------------------

DRAW_REPORT = StepKind("report", "page", makes=("files",), function=draw_report, version=6)


CATALOG_FILES = ("models.yaml", "papers.yaml", "published.csv")
"""Files of the catalog whose contents reports print: labels of models, and the results of papers."""


def add_report(
    graph: Graph, plan: Plan, fetched: FetchedInputs, built: BuiltPrompts, database: PlannedStep
) -> PlannedStep:
    """Add the step that draws the report."""
    not_run = tuple(
        NotRun(
            f"{node.id.subject} {node.id.part}".strip(),
            plan.display_name(node.id),
            measure,
            reason or "not computed yet",
        )
        for node in graph
        if node.id.stage == "score"
        for measure, state, reason in plan.measure_states(node)
        if state != "done"
    )
    facts = {f"facts: {name}": table for name, table in fetched.facts.items()}
    questions = {f"questions: {name}": table for name, table in built.questions.items()}
    return graph.add(
        DRAW_REPORT,
        DRAW_REPORT.id("study"),
        {"files": graph.workspace.report_artifact},
        inputs={"database": database.output("files")},
        optional={**facts, **questions},
        parameters={
            "study": plan.study.model_dump(mode="json", exclude={"execution"}),
            "drawn by": _code_digest(),
            "added": _extension_digests(),
            "catalog": {name: catalog.digest(name) for name in CATALOG_FILES},
            "queries": queries_digest(NAMED_QUERIES),
            "not_run": [[row.relation, row.model, row.measure, row.reason] for row in not_run],
        },
        arguments=(plan.study, not_run),
    )


def _extension_digests() -> dict[str, list[str]]:
    """Return, for each figure and table of an extension, its named queries and the digest of its source file."""
    digests = {}
    for module, name in (("swaymeter.reports.figures", "FIGURES"), ("swaymeter.reports.tables", "TABLES")):
        # Not imported here: an extension that adds a figure or table has imported the module before.
        registry = getattr(sys.modules.get(module), name, None)
        for item in (registry[name] for name in sorted(registry.added)) if registry else ():
            function = inspect.unwrap(getattr(item, "draw", None) or item.rows)
            module_of_function = inspect.getmodule(getattr(function, "func", function))  # `func` of a partial
            file = getattr(module_of_function, "__file__", None)
            digests[item.name] = [*item.queries, sha256_of_file(Path(file)) if file else ""]
    return digests


@functools.cache
def _code_digest() -> str:
    folder = Path(str(resources.files("swaymeter.reports")))
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".html", ".css", ".js"))
    return content_key({path.relative_to(folder).as_posix(): sha256_of_file(path) for path in files})
