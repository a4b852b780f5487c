"""Functions for notebooks: `open` the results of a study, `audit` models, and `compare` two runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from swaymeter.flows.api import Results, Study, database_of
from swaymeter.flows.cli.commands.comparisons import compare_databases
from swaymeter.flows.cli.views import audit as audits
from swaymeter.flows.config.thresholds import Threshold, compare_with_thresholds, thresholds_of_bounds
from swaymeter.flows.server.settings import keep_quiet
from swaymeter.reports.changes import change_lines, unmatched_lines
from swaymeter.tasks.models.applications import register_function
from swaymeter.tasks.statistics.changes import unmatched_items

keep_quiet()  # before anything imports Prefect
StudyPath = str | PathLike[str]


def open(study: StudyPath) -> Results:
    """Open the results of a study that was run.

    Args:
        study: The study's file or bundled name, the folder of its workspace, or its database.

    Raises:
        UsageError: The study has no database; run the study first.

    Example:
        ```python
        results = swaymeter.open("workspaces/quickstart")
        results.frame("susceptibility_of_queries").groupby("relation")["susceptibility"].mean()
        ```
    """
    return Results(database_of(str(study)))


class Audit(Results):
    """The results of an audit.

    Attributes:
        failures: A sentence on each threshold that is not met.
    """

    def __init__(self, database: Path, thresholds: Sequence[Threshold]) -> None:
        super().__init__(database)
        self._measured = audits.results_in(database).measured
        self.failures = [reason for *_, reason in compare_with_thresholds(thresholds, self._measured) if reason]

    @property
    def passed(self) -> bool:
        """True if every threshold is met."""
        return not self.failures

    @property
    def table(self) -> pd.DataFrame:
        """A frame with a row for each number of the audit and each model; a row has the number's 95% interval."""
        return pd.DataFrame([{"name": row.name, **asdict(row)} for row in self._measured])


def audit(
    file: StudyPath,
    models: Sequence[str] = (),
    *,
    replies: Sequence[str] = (),
    answer: Callable[..., Any] | None = None,
    prompts: Sequence[str] = (),
    sets: Sequence[str] = (),
    orders: Sequence[str] = (),
    thresholds: Mapping[str, str] | None = None,
    workspace: StudyPath | None = None,
    samples: int = 0,
    questions: int | None = None,
    max_new_tokens: int = 32,
    concurrency: int | None = None,
    columns: Mapping[str, str] | None = None,
    force: bool = False,
    offline: bool = False,
) -> Audit:
    """Ask models the questions of a file with and without their passages, as `swaymeter audit` does.

    Args:
        file: Questions with passages (CSV, JSON or Parquet), or the name of a bundled file.
        models: Models in the notation of `--model`. A model is an alias, a hub id or a folder, also with a dtype such
            as `:bfloat16`. `NAME@URL` is a model at a server, `FILE.py:FUNCTION` a function.
        replies: Names of the file's columns that have recorded replies.
        answer: A function of this process that replies: `answer(question, passages)`, plain or async.
        prompts: Prompts of the models, in the notation of `--prompt`.
        sets: Sets of passages, such as "supporting+conflicting".
        orders: Orders of the passages in a set, such as "right_first".
        thresholds: Thresholds such as `{"follow.supporting": ">= 0.9"}`, which decide `passed`.
        workspace: The folder of the audit's files; None for `workspaces/audit-` and the file's name.
        samples: Number of sampled replies besides the greedy reply; the measures of persuasion need 5 or more.
        questions: Number of questions, drawn by a fixed seed; None for all.
        max_new_tokens: Upper bound on the tokens of a reply.
        concurrency: Number of concurrent calls of a function; None for 1, or for 8 with an async function.
        columns: The file's names of columns, by Swaymeter's names of these columns. `{"question": "query"}` reads the
            questions from the column query.
        force: True to request all replies again.
        offline: True to use no network.

    Returns:
        The results. `table` has every number with its interval, `page` is the path of the report's page, and `passed`
        is True if all thresholds are met.

    Raises:
        UsageError: The file is missing, or no row can be used.
        WorkFailed: A step failed; the message has the reasons.

    Example:
        ```python
        results = swaymeter.audit("own-questions", ["smollm2-135m-instruct"])
        ```
    """
    options = audits.AuditOptions(
        str(file),
        Path(workspace or f"workspaces/audit-{Path(file).stem}").expanduser().absolute(),
        models=[*models, *([register_function(answer)] if answer else ())],
        replies=replies,
        samples=samples,
        questions=questions,
        max_new_tokens=max_new_tokens,
        columns=columns or {},
        prompts=audits.prompts_of(prompts),
        passages=audits.passages_of(sets, orders, "plain"),
        concurrency=concurrency,
        thresholds=thresholds_of_bounds(thresholds or {}),
    )
    loaded = Study.load(audits.write_study(options))
    audits.read_rows(loaded.study, options.thresholds, options.folder, loaded.plan.judgements)
    return Audit(loaded.run(force=force, offline=offline).database, options.thresholds)


def compare(a: StudyPath, b: StudyPath) -> pd.DataFrame:
    """Compare the models of two runs on their common questions and queries, like `swaymeter compare`.

    Args:
        a: The first run: a study, the folder of its workspace, or its database.
        b: The second run, in the same notation.

    Returns:
        A row for each quantity, group and pair of models, with both means, their difference and its interval, the
        p-value, the direction of the difference, and the unit. `attrs["changes"]` has lines on the settings, facts,
        questions and replies that differ. `attrs["unmatched"]` has lines on the items that only one run has.

    Raises:
        UsageError: A run has no database, or the runs have no common question or query.

    Example:
        ```python
        swaymeter.compare("workspaces/float32", "workspaces/bfloat16")
        ```
    """
    comparison = compare_databases(*(database_of(str(run)) for run in (a, b)))
    frame = pd.DataFrame(comparison.numbers)
    frame.attrs |= {"changes": change_lines(comparison), "unmatched": unmatched_lines(unmatched_items(comparison))}
    return frame
