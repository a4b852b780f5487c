"""Stage `aggregate`: decide verdicts, and make the database of all finished steps, even if others failed."""

import json
import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from swaymeter.data.digests import content_key
from swaymeter.data.errors import ScoreError, SwaymeterError, UnknownName, UsageError, first_few
from swaymeter.data.records import Question
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.records.table import Table
from swaymeter.data.records.tables import DECIDED_ANSWERS, HISTORY, JUDGEMENTS, RECORD_TABLES, RUNS, VARIANTS
from swaymeter.data.storage.artifact import Check, TableArtifact, write_manifest
from swaymeter.data.storage.workspace import DATABASE
from swaymeter.data.warehouse.queries import queries_digest
from swaymeter.data.warehouse.schema import Schema
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.graph.graph import Graph, Output, PlannedStep, RunSettings, Step, StepInput, StepKind, with_setup
from swaymeter.flows.stages.build import BuiltPrompts
from swaymeter.flows.stages.fetch import FetchedInputs
from swaymeter.flows.stages.history import SnapshotSettings, add_snapshot
from swaymeter.flows.stages.plan import Plan, PlannedVariant
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.decided_answers import COLUMNS_READ, decided_answers, usable_verdicts
from swaymeter.tasks.statistics import STATISTICS, statistics_of
from swaymeter.tasks.statistics.entropy_classes import EntropyClasses
from swaymeter.tasks.statistics.frames import categorical
from swaymeter.tasks.statistics.statistic import Statistic

log = logging.getLogger(__name__)

SHOWN_JUDGEMENTS = 20
"""Upper bound on the judgements that a warning shows."""
CheckedTable = tuple[TableArtifact, Check]
"""A finished table, and the check of its file."""
_PASS_COLUMNS = (
    "started_at",
    "finished_at",
    "seconds",
    "forward_passes",
    "prompts",
    "swaymeter_version",
    "torch_version",
    "transformers_version",
)
"""Columns of the table `runs` whose names and values are in the metadata of a score file."""


@dataclass(frozen=True)
class Aggregation:
    """Arguments of the step that makes the database.

    Attributes:
        snapshot: Settings of the run's snapshot; the snapshot's seed is also the seed of statistics.
        classes: Entropy classes of the study.
        judgements: Judgements of people.
    """

    snapshot: SnapshotSettings = field(default_factory=SnapshotSettings)
    classes: EntropyClasses = field(default_factory=EntropyClasses)
    judgements: tuple[Judgement, ...] = ()


def schema() -> tuple[Table, ...]:
    """Return every table of the database: tables of records, measures and statistics, including extensions."""
    declared = [*(measure.table for measure in MEASURES.values()), *(each.table for each in STATISTICS.values())]
    tables: dict[str, Table] = {}
    for table in (*RECORD_TABLES, *declared):
        if tables.setdefault(table.name, table) != table:
            raise TypeError(f"two tables are named {table.name}; give the added table another name")
    return tuple(tables.values())


def make_database(step: Step, settings: RunSettings) -> None:
    """Make the database from all finished artifacts, compute the statistics, and add the run's snapshot."""
    from swaymeter.data.warehouse.loading import Building, build  # imports pandas, which takes long

    artifact: Any = step.outputs["files"]
    aggregation: Aggregation = step.arguments
    tables = [*step.tables_read]

    def derive(building: Building) -> None:
        compute_statistics(building, aggregation)
        _warn_of_unused_judgements(building, aggregation)
        building.load({HISTORY: add_snapshot(step, aggregation.snapshot, building.warehouse, score_files)})

    path, score_files = artifact.folder / DATABASE, runs_of(tables, settings)
    computed = {
        VARIANTS: aggregation.snapshot.variants,
        RUNS: score_files,
        JUDGEMENTS: [asdict(judgement) for judgement in aggregation.judgements],
    }
    build(path, artifact.key, schema(), files_of(tables), computed=computed, derive=derive)
    write_manifest(artifact.manifest, artifact.key, [path])


def _warn_of_unused_judgements(building: Any, aggregation: Aggregation) -> None:
    if not aggregation.judgements:
        return
    rows = building.warehouse.frame("judgements_to_read").dropna(subset="unused").to_dict("records")
    if problems := [f"{row['file']}, row {row['row']}: {row['unused']}" for row in rows]:
        log.warning("judgements that do not count: %s", first_few(problems, SHOWN_JUDGEMENTS, separator="; "))


def compute_statistics(building: Any, aggregation: Aggregation) -> None:
    """Compute every statistic whose named queries have rows, and add the statistic's rows to the database.

    Raises:
        ScoreError: Statistics cannot be computed; the message names each failed statistic.
    """
    frames, failed = dict[str, Any](), list[str]()
    for statistic in statistics_of(aggregation.classes).values():
        try:
            if statistic.queries and not building.warehouse.with_rows(statistic.queries):
                continue
            for name in statistic.queries:
                if name not in frames:
                    frames[name] = categorical(building.warehouse.frame(name))
            rows = statistic.rows({name: frames[name] for name in statistic.queries}, aggregation.snapshot.seed)
            building.insert(statistic.table, statistic.table.of(rows))
        except (SwaymeterError, KeyError, TypeError, ValueError) as error:
            reason = str(error) if isinstance(error, SwaymeterError) else repr(error)
            failed.append(f"statistic {statistic.name} (of {', '.join(statistic.queries)}): {reason}")
    if failed:
        raise ScoreError("; ".join(failed))


def files_of(tables: Iterable[CheckedTable]) -> dict[Table, list[Any]]:
    """Return the files of each table."""
    files: dict[Table, list[Any]] = {}
    for artifact, check in tables:
        files.setdefault(artifact.table, []).append(check.path)
    return files


def runs_of(tables: Iterable[CheckedTable], settings: RunSettings) -> list[Mapping[str, Any]]:
    """Return the rows of the table `runs`: a row for each file of scores."""
    rows: list[Mapping[str, Any]] = []
    for artifact, check in tables:
        if artifact.table.name not in MEASURES:
            continue
        key_inputs, metadata = artifact.key_inputs, check.about or {}
        parameters = key_inputs["parameters"]
        dtype = parameters["dtype"]
        model = with_setup(parameters["model"], parameters.get("setup", ""))
        rows.append(
            {
                "relation": key_inputs["subject"][0],
                "model": model,
                "variant": f"{model}/{dtype}",
                "measure": artifact.table.name,
                "measure_version": MEASURES[artifact.table.name].version,
                "dtype": dtype,
                "seed": parameters["seed"],
                "parameters": metadata.get("parameters"),
                "hardware": metadata.get("hardware"),
                "reading": metadata.get("reading"),
                **{name: metadata[name] for name in _PASS_COLUMNS},
                "key": artifact.key,
                "file": str(check.path.relative_to(settings.workspace)),  # type: ignore[union-attr]
                "rows": check.rows,
            }
        )
    return rows


def decide_answers(step: Step, settings: RunSettings) -> None:
    """Write the table `decided_answers` of a relation: the replies whose verdicts a judge or people decide."""
    answers, rule_verdicts, judge_verdicts = (
        [row for table in step.inputs_of(MEASURES[name].table) for row in table.read().select(columns).to_pylist()]
        for name, columns in COLUMNS_READ.items()
    )
    people_verdicts: tuple[Judgement, ...] = step.arguments
    questions = step.records("questions", Question)
    rows = decided_answers(questions, answers, rule_verdicts, judge_verdicts, people_verdicts)
    output = step.table("decided_answers")
    output.write(output.table.of([*rows]))


# ---- the steps of a study --------------------------------------------------------------------------------------------

FURTHER_TABLE_ROLES = ("triples", "pages", "disputes", "rejected", "shards")
"""Roles of the fetched and built tables in the database, in addition to facts, names and prompts."""
DECIDE_ANSWERS = StepKind(
    "aggregate", "decided answers", makes=("decided_answers",), function=decide_answers, version=2
)
MAKE_DATABASE = StepKind("aggregate", "database", makes=("files", "history"), function=make_database, version=2)


def add_database(
    graph: Graph, plan: Plan, fetched: FetchedInputs, built: BuiltPrompts, scores: Iterable[StepInput]
) -> PlannedStep:
    """Add the step of the database; `scores` includes comparisons of seeds, counts in a corpus and decided answers."""
    if score_step := blocking_score_step(graph, whole_only=plan.study.whole_only):
        return graph.add_placeholder(MAKE_DATABASE, MAKE_DATABASE.id("study"), score_step)
    study = plan.study
    prompts = [*built.queries.values(), *built.contexts.values(), *built.questions.values()]
    fetched_tables = [*fetched.facts.values(), *fetched.names.values(), *_fetched_tables(graph, built)]
    loaded = _by_role([*prompts, *scores, *fetched_tables])
    # Of variants with the same key, only the first in the study has a row.
    variants = {variant.key: _variant_row(variant, study) for variant in reversed(plan.variants)}
    is_complete = all(node.state == "done" for node in graph)
    statistics = {name: _dependencies_of(each) for name, each in statistics_of(study.entropy_classes).items()}
    snapshot_settings = SnapshotSettings(is_complete, tuple(variants.values()), study.seed)
    return graph.add(
        MAKE_DATABASE,
        MAKE_DATABASE.id("study"),
        {"files": graph.workspace.database_artifact, "history": graph.workspace.history_artifact},
        optional={role: step_input.with_all_columns() for role, step_input in loaded.items()},
        parameters={
            "schema": Schema(schema()).version,
            "seed": study.seed,
            "statistics": statistics,
            "is_complete": is_complete,
            "variants": [*variants.values()],
            "judgements": content_key({"judgements": [asdict(row) for row in plan.judgements]}),
        },
        arguments=Aggregation(snapshot_settings, study.entropy_classes, plan.judgements),
        deciding_nodes=list(graph),  # the states of all steps decide the inputs and `is_complete`
    )


def _variant_row(variant: PlannedVariant, study: StudyFile) -> dict[str, Any]:
    prompt = json.dumps(dict(variant.prompts.content), ensure_ascii=False, sort_keys=True)
    return {
        "variant": variant.key,
        "model": variant.name,
        "dtype": variant.dtype,
        "label": variant.label,
        "asked_model": variant.model.name,
        "prompt_name": variant.prompt or None,
        "decoding": variant.decoding or None,
        "decoding_parameters": json.dumps(asdict(variant.contrastive_decoding))
        if variant.contrastive_decoding
        else None,
        "prompt": prompt if study.questions else None,
    }


def add_decided_answers(graph: Graph, plan: Plan, built: BuiltPrompts, scores: Iterable[StepInput]) -> list[StepInput]:
    """Add the steps in which verdicts of a judge and of people replace verdicts of the rule, which compares texts.

    Returns:
        The tables of decided answers; empty for a study without verdicts of people and without a judge.
    """
    score_tables = [step_input for step_input in scores if step_input.role in COLUMNS_READ]
    verdicts = usable_verdicts(plan.judgements)
    if not verdicts and all(step_input.role != "judged_answers" for step_input in score_tables):
        return []
    digest = content_key({"verdicts": [asdict(verdict) for verdict in verdicts]})
    decided = []
    for relation, questions in built.questions.items():
        scores_of_relation = [step_input for step_input in score_tables if step_input.node.id.subject == relation]
        outputs = {"decided_answers": Output(DECIDED_ANSWERS, ("verdicts", relation), "decided_answers")}
        node = graph.add(
            DECIDE_ANSWERS,
            DECIDE_ANSWERS.id(relation),
            outputs,
            inputs={"questions": questions},
            optional={f"{step_input.role} {step_input.node.id}": step_input for step_input in scores_of_relation},
            parameters={"verdicts": digest},
            arguments=verdicts,
        )
        decided.append(node.output("decided_answers"))
    return decided


def blocking_score_step(graph: Graph, *, whole_only: bool = False) -> PlannedStep | None:
    """Return an unfinished scoring step if the database of an earlier run must stay as it is; None otherwise.

    Args:
        graph: The steps of the study.
        whole_only: True if only a complete run replaces the database of a complete run. Otherwise, any run with a score
            replaces the database.
    """
    if not graph.workspace.database.exists():
        return None
    steps = [node for node in graph if node.id.stage == "score"]
    has_scores = any(node.output(role).is_usable for node in steps for role in node.checks)
    was_complete = bool(graph.workspace.history_artifact({}).digests())  # a complete run leaves a snapshot
    if has_scores and not (whole_only and was_complete):
        return None
    return next((node for node in steps if node.state != "done"), None)


def _dependencies_of(statistic: Statistic) -> dict[str, Any]:
    """Return the version, named queries and parameters of a statistic; UsageError if a query does not exist."""
    try:
        queries = queries_digest(statistic.queries)
    except UnknownName as error:
        raise UsageError(f"statistic {statistic.name}: {error}") from None
    return {"version": statistic.version, "queries": queries, "parameters": dict(statistic.parameters)}


def _by_role(step_inputs: Iterable[StepInput]) -> dict[str, StepInput]:
    return {f"{step_input.role}: {step_input.node.id}": step_input for step_input in step_inputs}


def _fetched_tables(graph: Graph, built: BuiltPrompts) -> list[StepInput]:
    """Return the tables with `FURTHER_TABLE_ROLES`, and the rejected candidates of each partition."""
    step_inputs = [node.output("rejected") for node in built.chosen.values()]
    for node in graph:
        if node.id.stage in ("fetch", "build"):
            step_inputs += [StepInput(node, role) for role in FURTHER_TABLE_ROLES if role in node.checks]
    return step_inputs
