"""An audit: one command writes a study of a user's questions, runs it, and compares the results with thresholds."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pandas as pd
import yaml
from pydantic import ValidationError

from swaymeter.data.catalog.language_models import AnswerForm
from swaymeter.data.errors import InputError, SwaymeterError, UsageError, WorkFailed
from swaymeter.data.options import problems
from swaymeter.data.reasons import REASONS, ROW_NOT_USABLE
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.records.statistics import FEWEST_SAMPLES
from swaymeter.data.sources.own.columns import checked_map
from swaymeter.data.sources.own.named_file import wrong_rows
from swaymeter.data.sources.own.passages import PassagesPart
from swaymeter.data.sources.own.rows import FileQuestions
from swaymeter.data.sources.own.source import OwnQuestions, read_questions, unusable_message
from swaymeter.data.storage.workspace import Workspace
from swaymeter.data.storage.writing import write_file
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.api import Study
from swaymeter.flows.cli.views import ages
from swaymeter.flows.cli.views import baseline as baselines
from swaymeter.flows.cli.views.baseline import BaselineComparison, LastRun
from swaymeter.flows.cli.views.refusals import undone_if_refused
from swaymeter.flows.config.places import AUDIT, STUDIES
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.config.thresholds import (
    QUANTITIES,
    MeasuredQuantity,
    Threshold,
    ThresholdOutcomes,
    bounds_of_thresholds,
    compare_with_thresholds,
    measured_quantities,
    write_junit,
)
from swaymeter.flows.stages.aggregate import schema
from swaymeter.reports import variants
from swaymeter.reports.estimates import (
    cut_off_sentence,
    empty_sentence,
    error_lines,
    missing_sentence,
    people_sentences,
    server_sentences,
    thinking_sentence,
    undecided_sentence,
)
from swaymeter.reports.frames import records
from swaymeter.reports.tables import agreement
from swaymeter.tasks.contexts.judged_questions import with_kinds
from swaymeter.tasks.models.applications import FUNCTION, is_function, trust_function
from swaymeter.tasks.statistics.statistic import Row

NOT_USED = "rows-not-used.txt"
"""Name of the file in the workspace that lists the unusable rows."""
PERSUASION_MEASURES: Mapping[str, Any] = {
    "clusters": {"entailment": "all-minilm-l6-v2"},
    "coherent_persuasion": {},
}
"""Further measures of an audit with enough sampled replies and no model at a server."""
DTYPES = frozenset(get_args(ModelPart.model_fields["dtype"].annotation))
DEFAULT_THOUGHT_TOKENS = 2048


class AuditResults(NamedTuple):
    """Results of an audit, from the database.

    Attributes:
        measured: The quantities of each model that thresholds can bound.
        differences: Rows of the named query `model_differences`, for the same quantities.
        unfinished: Rows of the named query `unfinished_greedy_answers`.
        servers: Rows of the named query `served_models`.
        means: Rows of the named query `models_side_by_side`, from which `measured` is made.
        variants: A row for each variant; empty for one variant.
        advice: The sentence that recommends a variant; empty without a recommendation.
        people: Sentences on people's judgements.
        skipped: A line for each reason why questions were rejected although their rows are usable.
        effects: Rows of the named query `passage_effects_summary`: effects of order, length and so on.
        silent_replies: Rows of the named query `silent_replies`: numbers of empty, undecided and missing replies.
        judge: Sentences on the verdicts of the judge and its agreement; empty without a judge.
    """

    measured: list[MeasuredQuantity]
    differences: list[Row]
    unfinished: pd.DataFrame
    servers: pd.DataFrame
    means: pd.DataFrame
    variants: pd.DataFrame
    advice: str
    people: tuple[str, ...]
    skipped: tuple[str, ...]
    effects: pd.DataFrame
    silent_replies: pd.DataFrame
    judge: str


def read_rows(
    study: StudyFile, thresholds: Iterable[Threshold], folder: Path, judgements: Sequence[Judgement] = ()
) -> FileQuestions:
    """Read the rows of an audit's file, and list unusable rows in the file NOT_USED of the folder.

    Raises:
        UsageError: No row can be used, a missing column makes every context of a kind unusable, or a threshold is
            impossible.
    """
    options: Any = study.questions
    try:
        read: FileQuestions = options.usable_in_sets(_with_judged_kinds(read_questions(options), judgements))
    except InputError as error:
        raise UsageError(str(error)) from None
    wrong = [f"{location}: {why}\n" for location, why in wrong_rows(read.rejected)]
    (folder / NOT_USED).unlink(missing_ok=True)
    if wrong:
        write_file(folder / NOT_USED, "".join(wrong))
    if not read.questions or read.unusable.advice:
        raise UsageError(f"{unusable_message(options.path, read)}; {folder / NOT_USED} lists all unusable rows")
    conditions = options.conditions_of(read.questions)
    for threshold in thresholds:
        threshold.check(conditions)
        needed = {"persuasion": FEWEST_SAMPLES, "unchanged": 2 * FEWEST_SAMPLES}.get(threshold.quantity, 0)
        if study.measures["answers"]["samples"] < needed:
            raise UsageError(f"{threshold}: the threshold needs sampled answers; add --samples {needed} or more")
        if needed and "coherent_persuasion" not in study.measures:
            raise UsageError(
                f"{threshold}: an audit with a model at a server measures no persuasion; name only models on this "
                "machine, or leave the threshold out"
            )
    return read


def _with_judged_kinds(read: FileQuestions, judgements: Sequence[Judgement]) -> FileQuestions:
    """Return the rows with the kinds that people judged, and with the new count of contexts of unknown kind."""
    questions, _ = with_kinds(read.questions, judgements)
    unknown_before, unknown_after = (
        sum(case.condition == "unknown" for question in listed for case in question.contexts)
        for listed in (read.questions, questions)
    )
    return read._replace(questions=questions, unknown=max(0, read.unknown - unknown_before + unknown_after))


def about_rows(read: FileQuestions, file: Path, folder: Path) -> list[str]:
    """Return a line on a recognised layout, and lines on unused rows and the file that lists them."""
    layout = [f"read in the layout of {read.layout}"] if read.layout else []
    text = unusable_message(file, read)
    return layout if not text else [*layout, f"not used: {text}", f"all rows that are not used: {folder / NOT_USED}"]


def about_answers(results: AuditResults) -> list[str]:
    """Return lines on servers, on thoughts, on unfinished and undecided replies, and on people's judgements."""
    unfinished = results.unfinished
    sentences = (
        (empty_sentence(unfinished), ""),
        (server_sentences(results.servers, results.means), ""),
        (thinking_sentence(unfinished), ""),
        (cut_off_sentence(unfinished), "; --max-new-tokens raises it"),
        (
            missing_sentence(unfinished),
            "; --thinking with more tokens lets them end" if _has_unfinished_thoughts(unfinished) else "",
        ),
        (undecided_sentence(results.silent_replies), "" if results.judge else "; --judge NAME[@URL] decides them"),
        (results.judge, ""),
    )
    return [*(f"{sentence.strip()[:-1]}{remedy}." for sentence, remedy in sentences if sentence), *results.people]


def _has_unfinished_thoughts(unfinished: pd.DataFrame) -> bool:
    return bool(len(unfinished)) and bool(unfinished["unfinished_thoughts"].any())


def columns_of(maps: Iterable[str]) -> dict[str, str]:
    """Return the names of the file's columns by Swaymeter's names, from texts of --map such as question=query.

    Raises:
        UsageError: A text is not a pair of names.
    """
    pairs = [text.partition("=")[::2] for text in maps]
    if wrong := [text for text, (ours, theirs) in zip(maps, pairs, strict=True) if not (ours and theirs)]:
        raise UsageError(
            f"--map {wrong[0]!r} is not a pair of names; write Swaymeter's name of a column before the =, and the "
            "file's name of the column after the =, such as --map question=query"
        )
    try:
        return checked_map((ours.strip(), theirs.strip()) for ours, theirs in pairs)
    except ValueError as error:
        raise UsageError(f"--map: {error}") from None


def prompts_of(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the prompts of --prompt by name; the prompt of strict-2.yaml has the name strict-2.

    Raises:
        UsageError: A text is neither a form nor a file, or two prompts have the same name.
    """
    prompts: dict[str, dict[str, str]] = {}
    for text in texts:
        is_form, path = text in get_args(AnswerForm), Path(text).expanduser()
        if not is_form and not path.is_file():
            raise UsageError(
                f"--prompt {text} is neither a file nor a form of prompts; name a YAML file, or one of the forms "
                f"{', '.join(get_args(AnswerForm))}"
            )
        name = text if is_form else re.sub("[^A-Za-z0-9_-]+", "-", path.stem).strip("-_")[:40] or "prompt"
        if name in prompts:
            raise UsageError(
                f"--prompt {text}: an earlier --prompt has the same name, {name}; leave a prompt out, or rename a file"
            )
        prompts[name] = {"form": name} if is_form else {"file": str(path.absolute())}
    return prompts


def passages_of(sets: Sequence[str], orders: Sequence[str], form: str) -> dict[str, Any] | None:
    """Return the section `passages` for --set, --order and --passages-as; None without these options.

    Raises:
        UsageError: A set, an order or a form is impossible.
    """
    chosen = {"sets": [*sets], "orders": [*orders], "form": "" if form == "plain" else form}
    chosen = {name: value for name, value in chosen.items() if value}
    if not chosen:
        return None
    try:
        PassagesPart.model_validate(chosen)
    except ValidationError as error:
        options = {"sets": "--set", "orders": "--order", "form": "--passages-as"}
        wrong = problems(error, PassagesPart)[0]
        raise UsageError(f"{options.get(str(wrong.path_of_key[0]), '--set')}: {wrong.message}") from None
    return chosen


def questions_file(file: str) -> Path:
    """Return the file of questions at a path, or a bundled file by its name; UsageError for a missing file."""
    path = Path(file).expanduser()
    if not path.exists() and (STUDIES / f"{file}.jsonl").exists():
        path = STUDIES / f"{file}.jsonl"
    if path.suffix.lower() in (".yaml", ".yml"):
        raise UsageError(f"{file} is a study instead of a file of questions; run `swaymeter run {shlex.quote(file)}`")
    if not path.is_file():
        bundled = ", ".join(sorted(bundle.stem for bundle in STUDIES.glob("*.jsonl")))
        raise UsageError(
            f"there is no file {file}; name a CSV, JSON or Parquet file (docs/own-data.md), or a bundled file "
            f"({bundled})"
        )
    return path


@dataclass(frozen=True)
class AuditOptions:
    """Options of an audit, from which its study is written.

    Attributes:
        file: The file of questions, or the name of a bundled file.
        folder: The workspace.
        models: The texts of `--model`.
        replies: Columns of recorded replies.
        samples: Number of sampled answers besides the greedy answer.
        questions: Limit of the questions; None for all.
        max_new_tokens: Limit of the tokens of an answer.
        columns: Names of the file's columns, by Swaymeter's names.
        thinking: off, on, or the limit of the tokens of thoughts. If off, a model thinks only if its chat
            template has no switch for thoughts.
        neutral: True to add a passage without content.
        judge: The judge of undecided replies; None for no judge.
        key_from: The environment variable that holds the key of the servers.
        revision: The version of the models behind servers, in the user's words.
        max_age: Limit of the age of a server's stored answers; None for any age.
        prompts: The prompts by name.
        decodings: The names of decodings.
        passages: The section `passages`, which combines passages into contexts.
        judgements: Files of people's judgements.
        concurrency: Upper bound on concurrent calls of functions; None for their default.
        timeout_s: Seconds that a function or a server may take for a reply; None for the default.
        thresholds: The thresholds, which the page shows.
    """

    file: str
    folder: Path
    models: Sequence[str] = ()
    replies: Sequence[str] = ()
    samples: int = 0
    questions: int | None = None
    max_new_tokens: int = 32
    columns: Mapping[str, str] = field(default_factory=dict)
    thinking: str = "off"
    neutral: bool = False
    judge: str | None = None
    key_from: str = ""
    revision: str = ""
    max_age: timedelta | None = None
    prompts: Mapping[str, Any] = field(default_factory=dict)
    decodings: Sequence[str] = ()
    passages: Mapping[str, Any] | None = None
    judgements: Sequence[str] = ()
    concurrency: int | None = None
    timeout_s: float | None = None
    thresholds: Sequence[Threshold] = ()

    def check(self) -> None:
        """Raise UsageError for an invalid value, or for an option whose required option is missing."""
        if self.thinking not in ("off", "on") and not (self.thinking.isdecimal() and int(self.thinking)):
            raise UsageError(
                f"--thinking {self.thinking}: use off, on, or a limit of tokens for thoughts, such as 4096"
            )
        if not (self.models or self.replies):
            raise UsageError(
                "the audit has neither a model nor recorded replies; add --model NAME, or --replies COLUMN"
            )
        if self.revision and not any(re.search("@https?://", model, re.IGNORECASE) for model in self.models):
            raise UsageError(f"--revision {self.revision} needs a model at a server; add --model NAME@URL")


def write_study(options: AuditOptions) -> Path:
    """Write the study of an audit into the audit's workspace, and return the path of the study.

    Raises:
        UsageError: The file is missing, the workspace has another study, or the value of an option is invalid.
    """
    options.check()
    path = questions_file(options.file)
    name = re.sub("[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:58] or "audit"
    _refuse_another_audit(options.folder, path, name)
    content = {
        "name": name,
        "asks": "Does the model follow the passages that it is given?",
        "workspace": str(options.folder),
        "questions": {
            "source": "file",
            "file": str(path.absolute()),
            "columns": dict(options.columns),
            "per_partition": options.questions,
            "neutral": options.neutral,
            "passages": options.passages or (_passages_of_replies(path, options) if options.replies else None),
        },
        "prompts": dict(options.prompts) or None,
        "decodings": [*options.decodings] or None,
        "judgements": [str(Path(file).expanduser().absolute()) for file in options.judgements],
        "models": _models(options),
        "whole_only": True,  # a run of some models does not replace the database of a complete run
        "thresholds": bounds_of_thresholds(options.thresholds),
        "measures": _measures(options),
    }
    study = options.folder / AUDIT
    write_file(study, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    return study


def _measures(options: AuditOptions) -> dict[str, Any]:
    thinking = options.thinking
    answers = {
        "samples": options.samples,
        "max_new_tokens": options.max_new_tokens,
        "thinking": {
            "max_new_tokens": int(thinking) if thinking.isdecimal() else DEFAULT_THOUGHT_TOKENS,
            "models": "without_switch" if thinking == "off" else "all",
        },
    }
    has_server = any("@http" in name for name in options.models)
    return {
        "answers": answers,
        **(PERSUASION_MEASURES if options.samples >= FEWEST_SAMPLES and not has_server else {}),
        "whose_answer": {},
        **({"judged_answers": _judge(options.judge, options)} if options.judge else {}),
    }


def _judge(name: str, options: AuditOptions) -> dict[str, Any]:
    """Return the parameters of the judge that --judge names, with the absolute path of its file or folder."""
    file, colon, function = name.rpartition(".py:")
    if colon:
        name = f"{Path(file).expanduser().absolute()}.py:{function}"
    elif Path(name).expanduser().is_dir():
        name = str(Path(name).expanduser().absolute())
    call_options = {"key_from": options.key_from, "timeout_s": options.timeout_s} if "@http" in name else {}
    return {"judge": name, **{key: value for key, value in call_options.items() if value}}


def _refuse_another_audit(folder: Path, file: Path, name: str) -> None:
    section = baselines.last_audit(folder).get("questions")
    last_file = Path(str(section.get("file"))) if isinstance(section, dict) else file
    if last_file.name != file.name:
        raise UsageError(
            f"the workspace {folder} holds the audit of {last_file.name}, and this audit is of {file.name}; name "
            "another --workspace"
        )
    if Workspace(folder, name).study_path_parts:
        raise UsageError(f"the workspace {folder} holds another study; name another --workspace")


def _passages_of_replies(file: Path, options: AuditOptions) -> dict[str, Any] | None:
    """Return the section `passages` with the set of all passages; None if no recorded reply has several passages."""
    source = OwnQuestions(file=str(file.absolute()), columns=dict(options.columns))
    source.set_reply_columns(options.replies)
    try:
        recorded = read_questions(source).replies.values()
    except InputError as error:
        raise UsageError(str(error)) from None
    has_several = any(len(texts) > 1 for replies_of_column in recorded for _, texts in replies_of_column)
    return {"sets": ["all"]} if has_several else None


def _models(options: AuditOptions) -> list[dict[str, Any]]:
    """Return the sections of models and of recorded replies; models at servers get numbers if they share a name."""
    models = [_model(name, options.key_from) for name in options.models]
    count = Counter(model["name"] for model in models)
    for number, model in enumerate(models, 1):
        if count[model["name"]] > 1 and "endpoint" in model:
            model |= {"served_as": model["name"], "name": f"{model['name']}-{number}"}
    recorded = [{"name": column, "replies": column} for column in dict.fromkeys(options.replies)]
    return [*(model | _call_options(model, options) for model in models), *recorded]


def _call_options(model: Mapping[str, str], options: AuditOptions) -> dict[str, Any]:
    """Return the options for calls of a server or function; empty for a model of this machine."""
    call_options: dict[str, Any] = {}
    if "endpoint" in model:
        hours = None if options.max_age is None else options.max_age.total_seconds() / 3600
        call_options = {"revision": options.revision or None, "max_age_hours": hours, "timeout_s": options.timeout_s}
    elif "function" in model:
        call_options = {"concurrency": options.concurrency, "timeout_s": options.timeout_s}
    return {name: value for name, value in call_options.items() if value is not None}


def _model(name: str, key_from: str) -> dict[str, str]:
    """Return the section of a model from a text of --model, such as NAME, NAME:bfloat16 or NAME@URL."""
    if served := re.fullmatch("(.+?)@(https?)(://.*)", name, re.IGNORECASE):
        served_as, scheme, address = served.groups()
        key = {"key_from": key_from} if key_from else {}
        return {"name": served_as, "endpoint": scheme.lower() + address, **key}
    if re.search(r"@[^/@]+:\d+(/|$)", name):
        raise UsageError(f"--model {name}: write http:// or https:// between the @ and the address of the server")
    before, colon, dtype = name.rpartition(":")
    if colon and dtype in DTYPES:
        return {"name": before, "dtype": dtype}
    if (function := FUNCTION.fullmatch(name)) and is_function(name):
        return _function(function["module"], function["function"])
    return {"name": name}


def _function(module: str, function: str) -> dict[str, str]:
    """Return the section of a function; its import is allowed, because a command of the user names the function."""
    path = Path(module).expanduser().absolute() if module.endswith(".py") else None
    reference = f"{path or module}:{function}"
    trust_function(reference)
    return {"name": f"{path.name if path else module}:{function}", "function": reference}


class PreparedAudit(NamedTuple):
    """An audit whose study is written and checked.

    Attributes:
        options: The options of the audit.
        study: The study of the audit in its workspace.
        read: The rows of the file.
        notes: Lines on rows of the file, on judgements that are no longer used, and on a replaced page.
        baseline: The earlier run to compare with; None for no comparison.
    """

    options: AuditOptions
    study: Study
    read: FileQuestions
    notes: list[str]
    baseline: LastRun | None


def prepare(options: AuditOptions, file_and_maps: str, baseline: str | None, *, offline: bool) -> PreparedAudit:
    """Write and check the study of an audit; a refused audit leaves the workspace unchanged.

    Args:
        options: The options.
        file_and_maps: The file and its --map options as the user wrote them, such as "own.csv --map=question=query".
        baseline: The study, workspace or database of the earlier run to compare with; None for no comparison.
        offline: True to use no network.

    Raises:
        UsageError: The audit is refused.
    """
    folder = options.folder
    forgotten = baselines.forgotten_judgements(folder, options.judgements)
    models_before = baselines.models_of_last_audit(folder)
    with undone_if_refused(folder):
        study = Study.load(write_study(options))
        baseline_run = baselines.baseline(baseline, study.workspace.database) if baseline else None
        study.check_models()
        read = read_rows(study.study, options.thresholds, folder, study.plan.judgements)
        study.check(offline=offline)
    replaced = baselines.replaced_page(models_before, [part.name for part in study.study.models])
    row_lines = (*about_rows(read, Path(options.file), folder), read.about_kinds(file_and_maps), read.about_sets())
    notes = [line for line in (*row_lines, forgotten, replaced) if line]
    return PreparedAudit(options, study, read, notes, baseline_run)


class Outcome(NamedTuple):
    """The outcome of an audit that was run.

    Attributes:
        error: The reason why the results or the comparison with the baseline are missing; None if nothing is missing.
        results: The results; None if a step failed.
        reply_lines: Lines on servers and replies, for --json and JUnit; the caveats of `Findings` say the same.
        notes: Lines on rejected questions, failed replies and old answers.
        checks: Each threshold with the quantity of each model, and the reason if it is not met.
        compared: The comparison with the baseline.
    """

    error: SwaymeterError | None = None
    results: AuditResults | None = None
    reply_lines: Sequence[str] = ()
    notes: Sequence[str] = ()
    checks: ThresholdOutcomes = ()
    compared: BaselineComparison = BaselineComparison()


def outcome_of(prepared: PreparedAudit, failure: str) -> Outcome:
    """Compare an audit's results with its thresholds and baseline; `failure` names a failed step, or is empty."""
    if failure:
        return Outcome(WorkFailed(failure))
    database = prepared.study.workspace.database
    results = results_in(database)
    failed = (f"failed replies: {errors}" for errors in error_lines(results.unfinished))
    notes = [*results.skipped, *failed, *ages.lines_of(results.servers)]
    outcome = Outcome(None, results, about_answers(results), notes)
    try:
        outcome = outcome._replace(checks=compare_with_thresholds(prepared.options.thresholds, results.measured))
        if prepared.baseline:
            outcome = outcome._replace(compared=baselines.compare_with_baseline(prepared.baseline, database))
    except SwaymeterError as error:  # for example, the baseline cannot be compared
        return outcome._replace(error=error, notes=())
    return outcome


def write_outcome(file: Path, prepared: PreparedAudit, outcome: Outcome) -> None:
    """Write the thresholds and the comparison of an audit as JUnit XML."""
    write_junit(
        file,
        prepared.study.study.name,
        outcome.checks,
        notes=outcome.reply_lines,
        unused=wrong_rows(prepared.read.rejected),
        compared=outcome.compared.cases(),
        error=str(outcome.error or ""),
    )


def results_in(database: Path) -> AuditResults:
    """Read the results of an audit from its database."""
    with opened(database, schema()) as warehouse:
        means = warehouse.frame(variants.MEANS)
        differences = warehouse.frame(variants.DIFFERENCES)
        costs = warehouse.frame(variants.COSTS)
        unfinished = warehouse.frame("unfinished_greedy_answers")
        servers = warehouse.frame("served_models")
        rejected = warehouse.frame("rejected_summary")
        effects = warehouse.frame("passage_effects_summary")
        silent_replies = warehouse.frame("silent_replies")
        judge = agreement.sentences({name: warehouse.frame(name) for name in agreement.QUERIES})
        people = people_sentences(warehouse.frame("answers_judged_by_people"), warehouse.frame("judgements_to_read"))
    frames = {variants.MEANS: means, variants.DIFFERENCES: differences, variants.COSTS: costs}
    has_several_variants = len(means[["model", "dtype"]].drop_duplicates()) > 1
    bounded_differences = differences[differences["quantity"].isin(QUANTITIES.values())].astype(object)
    return AuditResults(
        measured=measured_quantities(means, silent_replies),
        differences=records(bounded_differences.where(bounded_differences.notna(), None)),
        unfinished=unfinished,
        servers=servers,
        means=means,
        variants=variants.table(frames) if has_several_variants else pd.DataFrame(),
        advice=variants.advice(frames),
        people=people,
        skipped=tuple(map(_line_of_skipped, records(rejected[rejected["reason"] != ROW_NOT_USABLE]))),
        effects=effects,
        silent_replies=silent_replies,
        judge=judge,
    )


def _line_of_skipped(row: Mapping[str, Any]) -> str:
    example = "" if pd.isna(row["example"]) else f": {row['example']}"
    return f"not asked: {REASONS[row['reason']].removesuffix('.')} ({row['candidates']}{example})"


def as_json(prepared: PreparedAudit, outcome: Outcome) -> str:
    """Return the whole output of an audit as JSON; the audit must have results."""
    study, read, results = prepared.study, prepared.read, outcome.results
    assert results is not None
    checks = [
        {"threshold": str(threshold)}
        | {name: getattr(row, name) for name in ("model", "unit", "mean", "low", "high")}
        | {"met": not unmet, "reason": unmet, "empty": row.empty, "undecided": row.undecided, "missing": row.missing}
        for threshold, row, unmet in outcome.checks
    ]
    paths = {name: str(path) for name, path in study.outputs().items()}
    content = {
        "measured": [asdict(row) for row in results.measured],
        "differences": list(results.differences),
        "what_makes_it_follow": records(results.variants.astype(object).where(results.variants.notna(), None)),
        "advice": results.advice,
        "what_moves_the_answer": records(results.effects.astype(object).where(results.effects.notna(), None)),
        "sets_lacking": dict(read.lacking),
        "unfinished_greedy_answers": records(results.unfinished),
        "silent_replies": records(results.silent_replies),
        "verdict_of_each_reply": f"swaymeter.open({str(study.workspace.root)!r}).frame('answers_of_questions')",
        "served_models": records(results.servers),
        "checks": checks,
        "compared": [row._asdict() for row in outcome.compared.numbers],
        "questions_not_asked": results.skipped,
        "rows_not_used": [f"{location}: {why}" for location, why in wrong_rows(read.rejected)],
        "kinds_not_given": {"supporting": read.derived, "unknown": read.unknown},
    }
    return json.dumps(content | paths, indent=2)
