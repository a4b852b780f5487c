"""An audit: a study of a user's questions that is written and run by one command, and judged by thresholds."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pandas as pd
import yaml
from pydantic import ValidationError

from swaymeter.data.catalog.language_models import AnswerForm
from swaymeter.data.errors import InputError, UsageError
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
from swaymeter.flows.cli.views.baseline import Compared, last_audit
from swaymeter.flows.config.places import AUDIT, STUDIES
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.config.thresholds import (
    QUANTITIES,
    Judged,
    Measured,
    Threshold,
    bounds_of_thresholds,
    measured_of,
)
from swaymeter.flows.stages.aggregate import schema
from swaymeter.reports import variants
from swaymeter.reports.estimates import (
    cut_off_sentence,
    empty_sentence,
    missing_sentence,
    people_sentences,
    server_sentences,
    thinking_sentence,
    undecided_sentence,
)
from swaymeter.reports.frames import records
from swaymeter.reports.tables import agreement
from swaymeter.tasks.contexts.judged_questions import with_kinds
from swaymeter.tasks.models.applications import FUNCTION, is_function, name_function
from swaymeter.tasks.statistics.statistic import Row

NOT_USED = "rows-not-used.txt"
"""The file of the workspace with the unusable rows."""
MOVED: Mapping[str, Any] = {"clusters": {"entailment": "all-minilm-l6-v2"}, "coherent_persuasion": {}}
"""Measures that need enough sampled replies of a model on this machine."""
DTYPES = frozenset(get_args(ModelPart.model_fields["dtype"].annotation))
THOUGHTS = 2048
"""Default limit of the tokens of thoughts in an audit."""


class Audited(NamedTuple):
    """Results of an audit: tables of each model, differences of models, truncated replies, and served models.

    Attributes that the names do not explain:
        means: The rows behind `measured`.
        variants: A row for each of several variants, and `advice`, the sentence that recommends a variant.
        judged: Counts of people's judgements.
        skipped: Rejected questions of usable rows, by reason with an example.
        effects: Effects of order, length and so on among several passages.
    """

    measured: list[Measured]
    differences: list[Row]
    unfinished: pd.DataFrame
    servers: pd.DataFrame
    means: pd.DataFrame
    variants: pd.DataFrame = pd.DataFrame()
    advice: str = ""
    judged: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()
    effects: pd.DataFrame = pd.DataFrame()
    silent: pd.DataFrame = pd.DataFrame()
    """Rows of the query silent_replies: greedy replies and how many are undecided, by model and condition."""
    judge: str = ""
    """A sentence on the judge: its verdicts, and its agreement with the rule and with people; "" without a judge."""


def read_rows(
    study: StudyFile, thresholds: Iterable[Threshold], folder: Path, judgements: Sequence[Judgement] = ()
) -> FileQuestions:
    """Read the rows of an audit's file, and list unusable rows in the folder's NOT_USED.

    Raises:
        UsageError: No row, or no row of a needed kind, can be used, or a threshold is impossible.
    """
    options: Any = study.questions
    try:
        read: FileQuestions = options.with_evidence_sets(_with_kinds(read_questions(options), judgements))
    except InputError as error:
        raise UsageError(str(error)) from None
    wrong = [f"{location}: {why}\n" for location, why in wrong_rows(read.rejected)]
    (folder / NOT_USED).unlink(missing_ok=True)
    if wrong:
        write_file(folder / NOT_USED, "".join(wrong))
    if not read.questions or read.unusable.advice:
        raise UsageError(f"{unusable_message(options.path, read)}; all of them are in {folder / NOT_USED}")
    conditions = options.conditions_of(read.questions)
    for threshold in thresholds:
        threshold.check(conditions)
        needed = {"persuasion": FEWEST_SAMPLES, "unchanged": 2 * FEWEST_SAMPLES}.get(threshold.quantity, 0)
        if study.measures["answers"]["samples"] < needed:
            raise UsageError(f"{threshold}: it needs sampled answers; add --samples {needed} or more")
    return read


def _with_kinds(read: FileQuestions, judgements: Sequence[Judgement]) -> FileQuestions:
    """Return the questions with the kinds from people's judgements."""
    judged, _ = with_kinds(read.questions, judgements)
    unknown = [
        sum(case.condition == "unknown" for question in listed for case in question.contexts)
        for listed in (read.questions, judged)
    ]
    return read._replace(questions=judged, unknown=max(0, read.unknown - unknown[0] + unknown[1]))


def about_rows(read: FileQuestions, file: Path, folder: Path) -> list[str]:
    """Return lines on unused rows with the file that lists them; empty if all rows are used."""
    layout = [f"read in the layout of {read.layout}"] if read.layout else []
    text = unusable_message(file, read)
    return layout if not text else [*layout, f"not used: {text}", f"all rows that are not used: {folder / NOT_USED}"]


def about_answers(results: Audited) -> list[str]:
    """Return lines on served models, thinking, and unfinished replies."""
    unfinished = results.unfinished
    sentences = (
        (empty_sentence(unfinished), ""),
        (server_sentences(results.servers, results.means), ""),
        (thinking_sentence(unfinished), ""),
        (cut_off_sentence(unfinished), "; --max-new-tokens raises it"),
        (missing_sentence(unfinished), "; --thinking with more tokens lets them end" if _thought(unfinished) else ""),
        (undecided_sentence(results.silent), "" if results.judge else "; --judge NAME[@URL] decides them"),
        (results.judge, ""),
    )
    return [*(f"{sentence.strip()[:-1]}{remedy}." for sentence, remedy in sentences if sentence), *results.judged]


def _thought(unfinished: pd.DataFrame) -> bool:
    """Return True if thoughts of any model did not end."""
    return bool(len(unfinished)) and bool(unfinished["unfinished_thoughts"].any())


def columns_of(maps: Iterable[str]) -> dict[str, str]:
    """Return the file's names of columns by Swaymeter's, from --map; UsageError for any other text than a pair."""
    pairs = [text.partition("=")[::2] for text in maps]
    if wrong := [text for text, (ours, theirs) in zip(maps, pairs, strict=True) if not (ours and theirs)]:
        raise UsageError(
            f"--map {wrong[0]!r}: write the name of a column in Swaymeter and in the file, such as --map question=query"
        )
    try:
        return checked_map((ours.strip(), theirs.strip()) for ours, theirs in pairs)
    except ValueError as error:
        raise UsageError(f"--map: {error}") from None


def prompts_of(named: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the prompts of --prompt by name: a form, or a file, whose name is the file's name without its ending.

    Raises:
        UsageError: A text is neither a form nor a file, or two prompts have the same name.
    """
    prompts: dict[str, dict[str, str]] = {}
    for text in named:
        is_form, path = text in get_args(AnswerForm), Path(text).expanduser()
        if not is_form and not path.is_file():
            raise UsageError(
                f"--prompt {text}: there is no such file, and no such form; name a YAML file, or one of "
                f"{', '.join(get_args(AnswerForm))}"
            )
        name = text if is_form else re.sub("[^A-Za-z0-9_-]+", "-", path.stem).strip("-_")[:40] or "prompt"
        if name in prompts:
            raise UsageError(f"--prompt {text}: two prompts are called {name}; name it once, or rename the file")
        prompts[name] = {"form": name} if is_form else {"file": str(path.absolute())}
    return prompts


def passages_of(sets: Sequence[str], orders: Sequence[str], form: str) -> dict[str, Any] | None:
    """Return the section `passages` of --set, --order and --passages-as; None without them.

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
        wrong = problems(error, PassagesPart.model_fields)[0]
        raise UsageError(f"{options.get(str(wrong.path_of_key[0]), '--set')}: {wrong.message}") from None
    return chosen


def questions_file(file: str) -> Path:
    """Return the file of questions of a path or of a bundled name; UsageError for a missing file."""
    path = Path(file).expanduser()
    if not path.exists() and (STUDIES / f"{file}.jsonl").exists():
        path = STUDIES / f"{file}.jsonl"
    if path.suffix.lower() in (".yaml", ".yml"):
        raise UsageError(f"{file} is a study and no file of questions: swaymeter run {shlex.quote(file)}")
    if not path.is_file():
        bundled = ", ".join(sorted(bundle.stem for bundle in STUDIES.glob("*.jsonl")))
        raise UsageError(f"there is no file {file}; name a CSV, JSON or Parquet file (docs/own-data.md), or {bundled}")
    return path


def write_study(
    file: str,
    models: Sequence[str],
    folder: Path,
    *,
    samples: int,
    questions: int | None,
    max_new_tokens: int,
    columns: Mapping[str, str],
    thinking: str = "off",
    neutral: bool = False,
    judge: str | None = None,
    key_from: str = "",
    revision: str = "",
    max_age: timedelta | None = None,
    prompts: Mapping[str, Any] = {},
    decodings: Sequence[str] = (),
    passages: Mapping[str, Any] | None = None,
    judgements: Sequence[str] = (),
    replies: Sequence[str] = (),
    concurrency: int | None = None,
    timeout_s: float | None = None,
    thresholds: Iterable[Threshold] = (),
) -> Path:
    """Write the study of an audit into its workspace, and return its path.

    Args:
        file: The file of questions, or the name of a bundled one.
        models: The texts of `--model`.
        folder: The workspace.
        samples: Number of sampled answers besides the greedy one.
        questions: Limit of the questions; None for all.
        max_new_tokens: Limit of the tokens of an answer.
        columns: The file's names of columns, by Swaymeter's.
        thinking: off, on, or the limit of the tokens of thoughts; off: only models without a switch think.
        neutral: True to add a passage without content.
        judge: The judge of undecided replies; None for no judge.
        key_from: The environment variable that holds the key of the servers.
        revision: The version of the models behind servers, in the user's words.
        max_age: Limit of the age of a server's stored answers; None for any age.
        prompts: The prompts by name.
        decodings: The names of decodings.
        passages: The section `passages`, which combines passages into contexts.
        judgements: Files of people's judgements.
        replies: Columns of recorded replies.
        concurrency: Upper bound on concurrent calls of functions; None for their default.
        timeout_s: Seconds that a function or a server may take for a reply; None for the default.
        thresholds: The thresholds, which the page shows.

    Raises:
        UsageError: The file is missing, the workspace has another study, or the value of an option is invalid.
    """
    if thinking not in ("off", "on") and not (thinking.isdecimal() and int(thinking)):
        raise UsageError(f"--thinking {thinking}: write off, on, or a limit of tokens for thoughts, such as 4096")
    path = questions_file(file)
    if not (models or replies):
        raise UsageError("nothing replies: add --model NAME for a model, or --replies COLUMN for recorded replies")
    if replies and not passages:
        passages = _all_together(path, columns, replies)
    name = re.sub("[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:58] or "audit"
    _refuse_another(folder, path, name)
    if revision and not any(re.search("@https?://", model, re.IGNORECASE) for model in models):
        raise UsageError(f"--revision {revision}: names the version of a model at a server; add --model NAME@URL")
    content = {
        "name": name,
        "asks": "Does the model follow the passages that it is given?",
        "workspace": str(folder),
        "questions": {
            "source": "file",
            "file": str(path.absolute()),
            "columns": dict(columns),
            "per_partition": questions,
            "neutral": neutral,
            "passages": passages,
        },
        "prompts": dict(prompts) or None,
        "decodings": [*decodings] or None,
        "judgements": [str(Path(name).expanduser().absolute()) for name in judgements],
        "models": [
            *(
                model | _server_keys(model, revision, max_age) | _call_keys(model, concurrency, timeout_s)
                for model in _models(models, key_from)
            ),
            *({"name": column, "replies": column} for column in dict.fromkeys(replies)),
        ],
        "whole_only": True,
        "thresholds": bounds_of_thresholds(thresholds),
        "measures": {
            "answers": {
                "samples": samples,
                "max_new_tokens": max_new_tokens,
                "thinking": {
                    "max_new_tokens": int(thinking) if thinking.isdecimal() else THOUGHTS,
                    "models": "without_switch" if thinking == "off" else "all",
                },
            },
            **(MOVED if samples >= FEWEST_SAMPLES and not any("@http" in name for name in models) else {}),
            "whose_answer": {},
            **({"judged_answers": _judge(judge, key_from, timeout_s)} if judge else {}),
        },
    }
    written = folder / AUDIT
    write_file(written, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))
    return written


def _judge(name: str, key_from: str, timeout_s: float | None) -> dict[str, Any]:
    """Return the judge of an option, with the absolute path of a file or a folder, and the keys of its server."""
    file, colon, function = name.rpartition(".py:")
    if colon:
        name = f"{Path(file).expanduser().absolute()}.py:{function}"
    elif Path(name).expanduser().is_dir():
        name = str(Path(name).expanduser().absolute())
    keys = {"key_from": key_from, "timeout_s": timeout_s} if "@http" in name else {}
    return {"judge": name, **{key: value for key, value in keys.items() if value}}


def _refuse_another(folder: Path, file: Path, name: str) -> None:
    """Refuse a workspace that holds the audit of another file, or another study."""
    audited = last_audit(folder).get("questions")
    before = Path(str(audited.get("file"))) if isinstance(audited, dict) else file
    if before.name != file.name:
        raise UsageError(
            f"the workspace {folder} holds the audit of {before.name}, and this one is of {file.name}; name another "
            "--workspace"
        )
    if Workspace(folder, name).study_folders:
        raise UsageError(f"the workspace {folder} holds another study; name another --workspace")


def _server_keys(model: Mapping[str, str], revision: str, max_age: timedelta | None) -> dict[str, Any]:
    """Return the keys that only a served model has; empty for a model of this machine."""
    if "endpoint" not in model:
        return {}
    hours = {} if max_age is None else {"max_age_hours": max_age.total_seconds() / 3600}
    return ({"revision": revision} if revision else {}) | hours


def _all_together(file: Path, columns: Mapping[str, str], replies: Sequence[str]) -> dict[str, Any] | None:
    """Return the set of all passages if a recorded reply is about several of them; None otherwise."""
    options = OwnQuestions(file=str(file.absolute()), columns=dict(columns))
    options.read_replies(replies)
    try:
        recorded = read_questions(options).replies.values()
    except InputError as error:
        raise UsageError(str(error)) from None
    several = any(len(texts) > 1 for recorded_of_column in recorded for _, texts in recorded_of_column)
    return {"sets": ["all"]} if several else None


def _call_keys(model: Mapping[str, str], concurrency: int | None, timeout_s: float | None) -> dict[str, Any]:
    """Return the limits of calls of a function, and the time-out of a server."""
    limits: dict[str, Any] = {"concurrency": concurrency} if "function" in model else {}
    limits |= {"timeout_s": timeout_s} if {"function", "endpoint"} & {*model} else {}
    return {name: value for name, value in limits.items() if value is not None}


def _models(names: Sequence[str], key_from: str) -> list[dict[str, str]]:
    """Return the models; a name at several servers gets numbers."""
    models = [_model(name, key_from) for name in names]
    count = Counter(model["name"] for model in models)
    for number, model in enumerate(models, 1):
        if count[model["name"]] > 1 and "endpoint" in model:
            model |= {"served_as": model["name"], "name": f"{model['name']}-{number}"}
    return models


def _model(name: str, key_from: str) -> dict[str, str]:
    """Return the model of an option, which may have a dtype behind a colon, or an address behind an @."""
    if served := re.fullmatch("(.+?)@(https?)(://.*)", name, re.IGNORECASE):
        served_as, scheme, address = served.groups()
        key = {"key_from": key_from} if key_from else {}
        return {"name": served_as, "endpoint": scheme.lower() + address, **key}
    if re.search(r"@[^/@]+:\d+(/|$)", name):
        raise UsageError(f"--model {name}: a server's address begins with http:// or https://, behind the @; add it")
    before, colon, dtype = name.rpartition(":")
    if colon and dtype in DTYPES:
        return {"name": before, "dtype": dtype}
    if (function := FUNCTION.fullmatch(name)) and is_function(name):
        return _function(function["module"], function["function"])
    return {"name": name}


def _function(module: str, function: str) -> dict[str, str]:
    """Return the keys of a function, and allow its import, because its user names it here."""
    path = Path(module).expanduser().absolute() if module.endswith(".py") else None
    reference = f"{path or module}:{function}"
    name_function(reference)
    return {"name": f"{path.name if path else module}:{function}", "function": reference}


def results_of(selected: Study) -> Audited:
    """Return the results of a study that was run."""
    return results_in(selected.workspace.database)


def results_in(database: Path) -> Audited:
    """Return the results of a database."""
    with opened(database, schema()) as warehouse:
        rows = warehouse.frame("models_side_by_side")
        differences = warehouse.frame("model_differences")
        unfinished, servers = (warehouse.frame(name) for name in ("unfinished_greedy_answers", "served_models"))
        judge = agreement.sentences({name: warehouse.frame(name) for name in agreement.QUERIES})
        judged = people_sentences(warehouse.frame("answers_judged_by_people"), warehouse.frame("judgements_to_read"))
        spent, rejected = warehouse.frame(variants.SPENT), warehouse.frame("rejected_summary")
        effects, silent = warehouse.frame("passage_effects_summary"), warehouse.frame("silent_replies")
    frames = {variants.MEANS: rows, variants.DIFFERENCES: differences, variants.SPENT: spent}
    several = rows[["model", "dtype"]].drop_duplicates().shape[0] > 1
    measured_rows = differences[differences["quantity"].isin(QUANTITIES.values())].astype(object)
    return Audited(
        measured_of(rows, silent),
        records(measured_rows.where(measured_rows.notna(), None)),
        unfinished,
        servers,
        rows,
        variants.table(frames) if several else pd.DataFrame(),
        variants.advice(frames),
        judged,
        tuple(map(_line_of_skipped, records(rejected[rejected["reason"] != ROW_NOT_USABLE]))),
        effects,
        silent,
        judge,
    )


def _line_of_skipped(row: Mapping[str, Any]) -> str:
    example = "" if pd.isna(row["example"]) else f": {row['example']}"
    return f"not asked: {REASONS[row['reason']].removesuffix('.')} ({row['candidates']}{example})"


def as_json(
    selected: Study,
    results: Audited,
    read: FileQuestions,
    outcome: Judged,
    compared: Sequence[Compared] = (),
) -> str:
    """Return the whole output as JSON."""
    checks = [
        {"threshold": str(threshold)}
        | {name: getattr(row, name) for name in ("model", "unit", "mean", "low", "high")}
        | {"met": not unmet, "reason": unmet, "empty": row.empty, "undecided": row.undecided, "missing": row.missing}
        for threshold, row, unmet in outcome
    ]
    paths = {name: str(path) for name, path in selected.outputs().items()}
    content = {
        "measured": [asdict(row) for row in results.measured],
        "differences": list(results.differences),
        "what_makes_it_follow": records(results.variants.astype(object).where(results.variants.notna(), None)),
        "advice": results.advice,
        "what_moves_the_answer": records(results.effects.astype(object).where(results.effects.notna(), None)),
        "sets_lacking": dict(read.lacking),
        "unfinished_greedy_answers": records(results.unfinished),
        "silent_replies": records(results.silent),
        "verdict_of_each_reply": f"swaymeter.open({str(selected.workspace.root)!r}).frame('answers_of_questions')",
        "served_models": records(results.servers),
        "checks": checks,
        "compared": [row._asdict() for row in compared],
        "questions_not_asked": results.skipped,
        "rows_not_used": [f"{location}: {why}" for location, why in wrong_rows(read.rejected)],
        "kinds_not_given": {"supporting": read.derived, "unknown": read.unknown},
    }
    return json.dumps(content | paths, indent=2)
