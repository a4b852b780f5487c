"""The command `audit`: the replies of models to the questions and passages of a file."""

import logging
import shlex
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from swaymeter.data.errors import SwaymeterError, WorkFailed
from swaymeter.flows.cli.console import err, out, print_line, print_product, printing_aside, warn

audits = typer.Typer()
OWN_SOURCE = "swaymeter.data.sources.own.source"
"""Logger of warnings about unused rows and contexts without a kind."""


def _panel(title: str) -> Callable[..., Any]:
    """Return a function that makes options of a panel of the help, each on one line of 80 columns."""
    return partial(typer.Option, rich_help_panel=title, show_default=False)


_file, _model = _panel("File and passages"), _panel("Model")
_verdicts, _output = _panel("Verdicts and thresholds"), _panel("Output")

File = Annotated[str, typer.Argument(metavar="FILE", hidden=True)]
Names = list[str] | None
Map = Annotated[Names, _file("--map", metavar="NAME=COLUMN", help="Name a column, such as question=query.")]
Replies = Annotated[Names, _file("--replies", metavar="COLUMN", help="Column of recorded replies to judge.")]
Questions = Annotated[int | None, _file("--questions", metavar="N", min=1, help="Draw N questions by a fixed seed.")]
Sets = Annotated[Names, _file("--set", metavar="KINDS", help="Together: supporting+conflicting, all.")]
Orders = Annotated[Names, _file("--order", metavar="ORDER", help="given, right_first, rotations, random, ...")]
PassageForm = Annotated[str, _file("--passages-as", metavar="FORM", help="plain, numbered, titled or cited.")]
Neutral = Annotated[bool, _file("--neutral", help="Also ask with a passage of three dots.")]

Models = Annotated[Names, _model("--model", metavar="NAME[@URL]", help="Alias, hub id, folder, FILE.py:FUNCTION.")]
Prompts = Annotated[Names, _model("--prompt", metavar="NAME", help="strict, abstain, cite, ... or FILE.yaml.")]
Decodings = Annotated[Names, _model("--decoding", metavar="NAME", help="greedy, cad, adacad or coiecd.")]
Thinking = Annotated[str, _model("--thinking", metavar="SWITCH", help="off (default), on, or a token limit.")]
Tokens = Annotated[int, _model("--max-new-tokens", metavar="N", min=1, help="Limit of a reply; default: 32.")]
Samples = Annotated[int, _model("--samples", metavar="N", min=0, help="Sampled replies; persuasion needs 5.")]
KeyFrom = Annotated[str, _model("--key-from", metavar="VARIABLE", help="Environment variable of a key.")]
Revision = Annotated[str, _model("--revision", metavar="TEXT", help="Version of a model at a server.")]
MaxAge = Annotated[str | None, _model("--max-age", metavar="AGE", help="Ask again after 24h, 30m, 7d; or off.")]
Concurrency = Annotated[int | None, _model("--concurrency", metavar="N", min=1, help="Calls of a function at once.")]
Timeout = Annotated[float | None, _model("--timeout", metavar="SECONDS", help="For a reply; default: 600.")]

Judge = Annotated[str | None, _verdicts("--judge", metavar="NAME[@URL]", help="Decides what the rule cannot.")]
Judgements = Annotated[Names, _verdicts("--judgements", metavar="FILE", help="People's judgements, .csv or .xlsx.")]
Under = Annotated[Names, _verdicts("--fail-under", metavar="NAME=X", help="Exit with 1: follow.supporting=0.9.")]
Over = Annotated[Names, _verdicts("--fail-over", metavar="NAME=X", help="Exit with 1: follow.conflicting=0.3.")]
Baseline = Annotated[str | None, _verdicts("--baseline", metavar="RUN", help="Exit with 1 if worse than this run.")]
OldBaseline = Annotated[str | None, typer.Option("--fail-if-worse-than", hidden=True)]

Workspace = Annotated[str | None, _output("--workspace", metavar="DIR", help="Default: workspaces/audit-NAME.")]
AsJson = Annotated[bool, _output("--json", help="Print all numbers as JSON.")]
JUnit = Annotated[Path | None, _output("--junit", metavar="FILE", help="Write the thresholds as JUnit XML.")]
Force = Annotated[bool, _output("--force", help="Ask again, also what is stored.")]
Offline = Annotated[bool, _output("--offline", help="Use no network: no hub, no downloads.")]
Wait = Annotated[bool, _output("--wait", help="Wait while another run uses the workspace.")]
Traceback = Annotated[bool, typer.Option("--traceback", hidden=True)]


@audits.command()
def audit(
    file: File,
    map_: Map = None,
    replies: Replies = None,
    questions: Questions = None,
    set_: Sets = None,
    order: Orders = None,
    passages_as: PassageForm = "plain",
    neutral: Neutral = False,
    model: Models = None,
    prompt: Prompts = None,
    decoding: Decodings = None,
    thinking: Thinking = "off",
    max_new_tokens: Tokens = 32,
    samples: Samples = 0,
    key_from: KeyFrom = "",
    revision: Revision = "",
    max_age: MaxAge = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    judge: Judge = None,
    judgements: Judgements = None,
    fail_under: Under = None,
    fail_over: Over = None,
    baseline: Baseline = None,
    old_baseline: OldBaseline = None,
    workspace: Workspace = None,
    as_json: AsJson = False,
    junit: JUnit = None,
    force: Force = False,
    offline: Offline = False,
    wait: Wait = False,
    traceback: Traceback = False,
) -> None:
    """Ask models the questions of a file, with and without each passage.

    Repeat an option for several models, prompts, sets or thresholds.

    Example: [bold]swaymeter audit own-questions --model smollm2-135m-instruct[/bold]
    """
    from swaymeter.data.sources.own.named_file import wrong_rows
    from swaymeter.flows.api import Study
    from swaymeter.flows.cli.terminal import TerminalProgress, log_to, summary
    from swaymeter.flows.cli.views import ages
    from swaymeter.flows.cli.views import audit as view
    from swaymeter.flows.cli.views import baseline as baselines
    from swaymeter.flows.cli.views.refusals import undone_if_refused
    from swaymeter.flows.config import thresholds as checks
    from swaymeter.reports.estimates import error_lines

    began = time.monotonic()
    thresholds = checks.thresholds_of(fail_under or (), fail_over or ())
    folder = Path(workspace or f"workspaces/audit-{Path(file).stem}").expanduser().absolute()
    oldest = ages.max_age_of(max_age)
    forgotten = baselines.forgotten_judgements(folder, judgements or ())
    models_before = baselines.models_of_last_audit(folder)
    console = err if as_json else out
    log_to(console, verbose=traceback)
    logging.getLogger(OWN_SOURCE).setLevel(logging.ERROR)  # lines below the table repeat the warnings
    with undone_if_refused(folder):
        study = view.write_study(
            file,
            model or (),
            folder,
            samples=samples,
            questions=questions,
            max_new_tokens=max_new_tokens,
            columns=view.columns_of(map_ or ()),
            thinking=thinking,
            neutral=neutral,
            judge=judge,
            key_from=key_from,
            revision=revision,
            max_age=oldest,
            judgements=judgements or (),
            prompts=view.prompts_of(prompt or ()),
            decodings=decoding or (),
            passages=view.passages_of(set_ or (), order or (), passages_as),
            replies=replies or (),
            concurrency=concurrency,
            timeout_s=timeout,
            thresholds=thresholds,
        )
        selected = Study.load(str(study))
        before = baselines.baseline(run, selected.workspace.database) if (run := baseline or old_baseline) else None
        selected.check_models()
        read = view.read_rows(selected.study, thresholds, folder, selected.plan.judgements)
        selected.check(offline=offline)
    named = shlex.join([file, *(f"--map={pair}" for pair in map_ or ())])
    replaced = baselines.replaced_page(models_before, [part.name for part in selected.study.models])
    row_lines = (*view.about_rows(read, Path(file), folder), read.about_kinds(named), read.about_sets())
    about_run = [line for line in (*row_lines, forgotten, replaced) if line]
    progress = TerminalProgress(console, "" if as_json else selected.study.name, len(about_run))
    with printing_aside() if as_json else nullcontext():
        graph, message = ages.execute(selected, progress, oldest, force=force, offline=offline, wait=wait)
    page_findings = None if message or as_json else selected.findings(graph)
    outcome: checks.Judged = []
    compared = baselines.Gate()
    notes: list[str] = []
    error: SwaymeterError | None = WorkFailed(message) if message else None
    if not error:
        results = view.results_of(selected)
        notes = view.about_answers(results)
        try:
            outcome = checks.judged(thresholds, results.measured)
            if before:
                compared = baselines.compare_with_baseline(before, selected.workspace.database)
        except SwaymeterError as why:  # also of a baseline that cannot be compared
            error = why
    if junit is not None:
        name, unused = selected.study.name, wrong_rows(read.rejected)
        checks.write_junit(
            junit, name, outcome, notes=notes, unused=unused, compared=compared.cases(), error=str(error or "")
        )
    failed = () if error else [f"failed replies: {errors}" for errors in error_lines(results.unfinished)]
    reply_lines = () if error else (*results.skipped, *failed, *ages.lines_of(results.servers))
    about_run += filter(None, reply_lines)
    description, took, outputs = selected.description(graph), time.monotonic() - began, selected.outputs()
    summary(console, description, progress, took, outputs, err, findings=page_findings, notes=about_run)
    if error:
        raise typer.Exit(WorkFailed.exit_code) if message and progress.failures else error
    if as_json:
        print_product(view.as_json(selected, results, read, outcome, compared.numbers))
        for line in (*notes, *about_run):
            print_line(line, console)
    elif page_findings:
        print_line(Text("all numbers: --json", "dim"))
    for line in compared.lines:
        print_line(line, console)
    for line in compared.warnings:
        warn(line)
    checks.refuse_unmet(outcome, compared.failure)
