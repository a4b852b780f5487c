"""The command `audit`: the replies of models to the questions and passages of a file."""

import logging
import shlex
import time
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from swaymeter.data.errors import WorkFailed
from swaymeter.flows.cli.console import err, out, print_line, print_product, stdout_to_stderr, warn

if TYPE_CHECKING:
    from swaymeter.flows.cli.views.audit import PreparedAudit

audits = typer.Typer()
OWN_SOURCE = "swaymeter.data.sources.own.source"
"""Logger of warnings about unused rows, and about contexts without a kind."""


def _panel(title: str) -> Callable[..., Any]:
    """Return a function that makes options for a panel of `--help`; each option fits on a line of 80 columns."""
    return partial(typer.Option, rich_help_panel=title, show_default=False)


_file, _model = _panel("File and passages"), _panel("Model")
_verdicts, _output = _panel("Verdicts and thresholds"), _panel("Output")

File = Annotated[str, typer.Argument(metavar="FILE", hidden=True)]
Names = list[str] | None
Map = Annotated[Names, _file("--map", metavar="NAME=COLUMN", help="Name a column, such as question=query.")]
Replies = Annotated[Names, _file("--replies", metavar="COLUMN", help="Column of recorded replies to judge.")]
Questions = Annotated[int | None, _file("--questions", metavar="N", min=1, help="Draw N questions by a fixed seed.")]
Sets = Annotated[Names, _file("--set", metavar="KINDS", help="Evidence set: supporting+conflicting, all.")]
Orders = Annotated[Names, _file("--order", metavar="ORDER", help="Order of passages: given, right_first, ...")]
PassageForm = Annotated[str, _file("--passages-as", metavar="FORM", help="Form: plain, numbered, titled or cited.")]
Neutral = Annotated[bool, _file("--neutral", help="Also ask with a passage of three dots.")]

Models = Annotated[Names, _model("--model", metavar="NAME[@URL]", help="Alias, hub id, folder, FILE.py:FUNCTION.")]
Prompts = Annotated[Names, _model("--prompt", metavar="NAME", help="A form (strict, cite, ...) or FILE.yaml.")]
Decodings = Annotated[Names, _model("--decoding", metavar="NAME", help="greedy, cad, adacad or coiecd.")]
Thinking = Annotated[str, _model("--thinking", metavar="SWITCH", help="off (default), on, or a token limit.")]
Tokens = Annotated[int, _model("--max-new-tokens", metavar="N", min=1, help="Limit of a reply; default: 32.")]
Samples = Annotated[int, _model("--samples", metavar="N", min=0, help="Sampled replies; persuasion needs 5.")]
KeyFrom = Annotated[str, _model("--key-from", metavar="VARIABLE", help="Environment variable with the API key.")]
Revision = Annotated[str, _model("--revision", metavar="TEXT", help="Version of a model at a server.")]
MaxAge = Annotated[str | None, _model("--max-age", metavar="AGE", help="Oldest reply to use: 24h, 30m, 7d, off.")]
Concurrency = Annotated[
    int | None, _model("--concurrency", metavar="N", min=1, help="Calls of FILE.py:FUNCTION at once.")
]
Timeout = Annotated[float | None, _model("--timeout", metavar="SECONDS", help="Wait for a reply; default: 600.")]

Judge = Annotated[str | None, _verdicts("--judge", metavar="NAME[@URL]", help="Decides undecided verdicts.")]
Judgements = Annotated[Names, _verdicts("--judgements", metavar="FILE", help="People's judgements, .csv or .xlsx.")]
Under = Annotated[
    Names, _verdicts("--fail-under", metavar="NAME=X", help="Exit with 1 below X: follow.supporting=0.9.")
]
Over = Annotated[Names, _verdicts("--fail-over", metavar="NAME=X", help="Exit with 1 above X: follow.conflicting=0.3.")]
Baseline = Annotated[str | None, _verdicts("--baseline", metavar="RUN", help="Exit with 1 if worse than this run.")]
OldBaseline = Annotated[str | None, typer.Option("--fail-if-worse-than", hidden=True)]

Workspace = Annotated[str | None, _output("--workspace", metavar="DIR", help="Default: workspaces/audit-NAME.")]
AsJson = Annotated[bool, _output("--json", help="Print all numbers as JSON.")]
JUnit = Annotated[Path | None, _output("--junit", metavar="FILE", help="Write the thresholds as JUnit XML.")]
Force = Annotated[bool, _output("--force", help="Ask again, even if replies are stored.")]
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
    from swaymeter.flows.cli.terminal import log_to
    from swaymeter.flows.cli.views import ages
    from swaymeter.flows.cli.views import audit as view
    from swaymeter.flows.config.thresholds import thresholds_of

    began = time.monotonic()
    options = view.AuditOptions(
        file,
        Path(workspace or f"workspaces/audit-{Path(file).stem}").expanduser().absolute(),
        models=model or (),
        replies=replies or (),
        samples=samples,
        questions=questions,
        max_new_tokens=max_new_tokens,
        columns=view.columns_of(map_ or ()),
        thinking=thinking,
        neutral=neutral,
        judge=judge,
        key_from=key_from,
        revision=revision,
        max_age=ages.max_age_of(max_age),
        prompts=view.prompts_of(prompt or ()),
        decodings=decoding or (),
        passages=view.passages_of(set_ or (), order or (), passages_as),
        judgements=judgements or (),
        concurrency=concurrency,
        timeout_s=timeout,
        thresholds=thresholds_of(fail_under or (), fail_over or ()),
    )
    log_to(err if as_json else out, verbose=traceback)
    logging.getLogger(OWN_SOURCE).setLevel(logging.ERROR)  # the notes repeat these warnings
    file_and_maps = shlex.join([file, *(f"--map={pair}" for pair in map_ or ())])
    prepared = view.prepare(options, file_and_maps, baseline or old_baseline, offline=offline)
    _run(prepared, began, as_json=as_json, junit=junit, force=force, offline=offline, wait=wait)


def _run(
    prepared: "PreparedAudit",
    began: float,
    *,
    as_json: bool,
    junit: Path | None,
    force: bool,
    offline: bool,
    wait: bool,
) -> None:
    """Run an audit, print its results, and write the JUnit file; a failed step or an unmet threshold is an error."""
    from swaymeter.flows.cli.terminal import TerminalProgress, summary
    from swaymeter.flows.cli.views import ages
    from swaymeter.flows.cli.views import audit as view
    from swaymeter.flows.config.thresholds import refuse_unmet

    console, study = err if as_json else out, prepared.study
    progress = TerminalProgress(console, "" if as_json else study.study.name, len(prepared.notes))
    with stdout_to_stderr() if as_json else nullcontext():
        max_age = prepared.options.max_age
        graph, failure = ages.execute(study, progress, max_age, force=force, offline=offline, wait=wait)
    findings = None if failure or as_json else study.findings(graph)
    outcome = view.outcome_of(prepared, failure)
    if junit is not None:
        view.write_outcome(junit, prepared, outcome)
    notes = [*prepared.notes, *outcome.notes]
    description, took, outputs = study.description(graph), time.monotonic() - began, study.outputs()
    summary(console, description, progress, took, outputs, err, findings=findings, notes=notes)
    if outcome.error:  # `summary` has printed failed steps
        raise typer.Exit(WorkFailed.exit_code) if failure and progress.failures else outcome.error
    if as_json:
        print_product(view.as_json(prepared, outcome))
        for line in (*outcome.reply_lines, *notes):
            print_line(line, console)
    elif findings:
        print_line(Text("all numbers: --json", "dim"))
    for line in outcome.compared.lines:
        print_line(line, console)
    for line in outcome.compared.warnings:
        warn(line)
    refuse_unmet(outcome.checks, outcome.compared.failure)
