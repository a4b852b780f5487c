"""Studies from Python: `run`, `audit` and `compare` as the commands of these names, and results as data frames."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from swaymeter.data.errors import UsageError, WorkFailed, WorkspaceError
from swaymeter.data.records.findings import FINDINGS_FILE, Findings, read_findings
from swaymeter.data.warehouse.queries import NAMED_QUERIES, NamedQuery
from swaymeter.data.warehouse.schema import Schema, quoted
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.cli.console import err
from swaymeter.flows.cli.pipeline import Selected
from swaymeter.flows.cli.terminal import TerminalProgress
from swaymeter.flows.cli.views import audit as audits
from swaymeter.flows.cli.views import comparison as comparisons
from swaymeter.flows.server.settings import keep_quiet
from swaymeter.flows.steps.aggregate import schema
from swaymeter.flows.study.thresholds import Threshold, judged, thresholds_of_bounds
from swaymeter.tasks.models.applications import give_function

keep_quiet()  # before anything imports Prefect
StudyPath = str | PathLike[str]


class Results:
    """What a study found: its database as data frames, and the page.

    The database is opened for each question and closed after it, so that the study can be run again meanwhile.

    Attributes:
        database: The file `study.duckdb`.
        page: The file `report/index.html`, which is there once the report was drawn.
    """

    def __init__(self, database: Path) -> None:
        """The results that stand in this database."""
        self.database = database
        self.page = database.parent / "report" / "index.html"

    def __repr__(self) -> str:
        return f"Results({str(self.database)!r})"

    def frame(self, name: str) -> pd.DataFrame:
        """A table, view or named query of the database (the page "The database" lists them).

        Args:
            name: Such as "persuasion", "susceptibility_of_queries" or "models_side_by_side".

        Returns:
            Its rows. `attrs["units"]` has the unit of each column that has one. Types do not depend on the rows:
            Int64, boolean, str and float64; what is missing is NA, never 0.

        Raises:
            UsageError: There is no table, view or query of that name.
        """
        tables = Schema(schema()).by_name
        if name in NAMED_QUERIES:
            return self._answer(NAMED_QUERIES[name])
        if name not in tables:
            raise UsageError(f"the database has no table or query {name!r}; `swaymeter.open(...).names()` lists them")
        return self._answer(NamedQuery(name, f"SELECT * FROM {quoted(name)}"))

    def names(self) -> list[str]:
        """Every name that `frame` takes, in alphabetical order."""
        return sorted({*Schema(schema()).by_name, *NAMED_QUERIES})

    def sql(self, text: str) -> pd.DataFrame:
        """The answer to a query in DuckDB's SQL; columns that keep their names keep their units, as in `frame`.

        Raises:
            InputError: The query is not valid.
        """
        return self._answer(NamedQuery("sql", text))

    def findings(self) -> Findings:
        """Return the findings of the page: headline, details and caveats.

        Raises:
            WorkspaceError: There is no report yet.
        """
        if not self.page.with_name(FINDINGS_FILE).exists():
            raise WorkspaceError(f"there is no report {self.page}; run `swaymeter report` with the study's file")
        return read_findings(self.page.parent)

    def _answer(self, query: NamedQuery) -> pd.DataFrame:
        with opened(self.database, schema()) as warehouse:
            return warehouse.answer(query)


def open(study: StudyPath) -> Results:
    """The results of a study that was run.

    Args:
        study: The study's file or bundled name, the folder of its workspace, or its database.

    Raises:
        UsageError: There is no database; run the study first.

    Example:
        ```python
        results = swaymeter.open("workspaces/quickstart")
        results.frame("susceptibility_of_queries").groupby("relation")["susceptibility"].mean()
        ```
    """
    return Results(comparisons.database_of(str(study)))


def run(study: StudyPath, *, workspace: StudyPath | None = None, force: bool = False, offline: bool = False) -> Results:
    """Run what of a study is not done, as `swaymeter run` does, and give its results.

    Args:
        study: A study's file, or the name of a bundled one.
        workspace: The folder of the study's files; None: the one that the study names.
        force: Whether everything is computed again.
        offline: Whether nothing is fetched from the network.

    Raises:
        StudyFileError: The study is not valid, or asks for what cannot be done.
        WorkFailed: A step failed; the message has the reasons.

    Example:
        ```python
        results = swaymeter.run("quickstart")
        ```
    """
    return _run(Selected.of(str(study), None if workspace is None else str(workspace)), force=force, offline=offline)


class Audit(Results):
    """The results of an audit.

    Attributes:
        failures: Why each threshold is not met, a sentence each.
    """

    def __init__(self, database: Path, thresholds: Sequence[Threshold]) -> None:
        """The results in this database, judged by these thresholds."""
        super().__init__(database)
        self._measured = audits.found_in(database).measured
        self.failures = [why for *_, why in judged(thresholds, self._measured) if why]

    @property
    def passed(self) -> bool:
        """True if every threshold is met."""
        return not self.failures

    @property
    def table(self) -> pd.DataFrame:
        """A row for each number of the audit and each model, with its 95% interval."""
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
        models: As `--model` names them: an alias, a hub id or a folder, perhaps with `:bfloat16`; `NAME@URL`; or
            `FILE.py:FUNCTION`.
        replies: Columns of the file with recorded replies.
        answer: A function of this process that replies: `answer(question, passages)`, plain or async.
        prompts: Prompts of the models, as `--prompt` names them.
        sets: Sets of passages, such as "supporting+conflicting".
        orders: Orders of these sets, such as "right_first".
        thresholds: Such as `{"follow.supporting": ">= 0.9"}`; they decide `passed`.
        workspace: The folder of the audit's files; None: `workspaces/audit-` and the file's name.
        samples: Sampled answers beside the greedy one; only persuasion needs them, 5.
        questions: Only so many, drawn by a fixed seed; None: all.
        max_new_tokens: The limit of tokens at which an answer is cut off.
        concurrency: Calls of functions at the same time; None: 1, or 8 of an async function.
        columns: The file's own names of columns, by ours, such as `{"question": "query"}`.
        force: If models and functions are asked anew.
        offline: Whether nothing is fetched from the network.

    Returns:
        The results: `table` has every share with its interval, `page` is the path of the page, and `passed` is True if
        the thresholds are met.

    Raises:
        UsageError: The file is not there, or no row can be used.
        WorkFailed: A step failed; the message has the reasons.

    Example:
        ```python
        results = swaymeter.audit("own-questions", ["smollm2-135m-instruct"])
        ```
    """
    folder = Path(workspace or f"workspaces/audit-{Path(file).stem}").expanduser().absolute()
    bounds = thresholds_of_bounds(thresholds or {})
    study = audits.write_study(
        str(file), [*models, *([give_function(answer)] if answer else ())], folder, samples=samples,
        questions=questions, max_new_tokens=max_new_tokens, columns=columns or {}, replies=replies,
        prompts=audits.prompts_of(prompts), passages=audits.passages_of(sets, orders, "plain"), concurrency=concurrency,
    )  # fmt: skip
    selected = Selected.of(str(study))
    audits.read_rows(selected.study, bounds, folder)
    return Audit(_run(selected, force=force, offline=offline).database, bounds)


def compare(a: StudyPath, b: StudyPath) -> pd.DataFrame:
    """The models of two runs on what both were asked, as `swaymeter compare` shows them.

    Args:
        a: A study, the folder of its workspace, or its database.
        b: Another one.

    Returns:
        A row for each quantity, group and two models: both means, their difference with its interval, p and verdict;
        the column `unit` has the unit. `attrs["changes"]` has lines on the settings, facts, questions and replies that
        differ, `attrs["rejected"]` on the items that only one run has.

    Raises:
        UsageError: A run has no database, or both have no question or query in common.

    Example:
        ```python
        swaymeter.compare("workspaces/float32", "workspaces/bfloat16")
        ```
    """
    comparison = comparisons.compare(*(comparisons.database_of(str(run)) for run in (a, b)))
    frame = pd.DataFrame(comparison.numbers)
    frame.attrs |= {
        "changes": comparisons.lines_of(comparison),
        "rejected": comparisons.rejected_lines(comparison),
    }
    return frame


def _run(selected: Selected, *, force: bool = False, offline: bool = False) -> Results:
    selected.check_models("run")
    progress = TerminalProgress(err)
    _, message = selected.execute("run", progress, force=force, offline=offline)
    if message:
        reasons = "; ".join(f"{step}: {reason}" for step, reason in progress.failures.items())
        raise WorkFailed(f"{message}: {reasons}" if reasons else message)
    return Results(selected.workspace.database)
