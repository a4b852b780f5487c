"""The commands `audit`, does a model follow the passages of a file, and `label`, which kinds are they."""

import shlex
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from swaymeter.data.errors import SwaymeterError, WorkFailed
from swaymeter.flows.cli import options
from swaymeter.flows.cli.console import err, out, print_line, print_product, printing_aside, warn

audits = typer.Typer()
OwnFile = Annotated[str, typer.Argument(metavar="FILE", help="Questions with contexts: CSV, JSON or Parquet.")]
Map = Annotated[
    list[str] | None, typer.Option("--map", help="What a column is called: question=query; may be repeated.")
]
Model = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        help="An alias, hub id or folder, perhaps with :bfloat16 or another dtype; NAME@URL of a model server, such "
        "as smol@http://127.0.0.1:8000/v1; or your application, FILE.py:FUNCTION or MODULE:FUNCTION; may be repeated.",
    ),
]
Replies = Annotated[
    list[str] | None,
    typer.Option("--replies", metavar="COLUMN", help="A column of recorded replies in FILE; may be repeated."),
]
Concurrency = Annotated[
    int | None,
    typer.Option("--concurrency", min=1, max=1000, help="Calls of a function at once; default: 1, async 8."),
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", min=0.001, max=36_000, help="Seconds for a reply of a function or server; default: 600."),
]
Under = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-under", help="Such as follow.supporting=0.9, or .low=0.9 for its whole interval; may be repeated."
    ),
]
Over = Annotated[
    list[str] | None,
    typer.Option(
        "--fail-over", help="Such as follow.conflicting=0.3, or .high=0.3 for its whole interval; may be repeated."
    ),
]
Workspace = Annotated[
    str | None,
    typer.Option("--workspace", help="The folder of the audit's files; default: workspaces/audit-NAME, of NAME.csv."),
]
Samples = Annotated[
    int,
    typer.Option("--samples", min=0, max=1000, help="Sampled answers beside the greedy one; persuasion needs 5."),
]
Questions = Annotated[int | None, typer.Option("--questions", min=1, help="Only so many, drawn by a fixed seed.")]
Tokens = Annotated[
    int, typer.Option("--max-new-tokens", min=1, max=1000, help="The limit of tokens at which an answer is cut off.")
]
Thinking = Annotated[
    str,
    typer.Option(
        "--thinking",
        help="off: only models without a switch think before they answer; on: all do; or the most tokens of thoughts.",
    ),
]
Neutral = Annotated[
    bool,
    typer.Option("--neutral", help="Ask with a passage that says nothing, too: keep.neutral beside keep.irrelevant."),
]
Revision = Annotated[
    str,
    typer.Option(
        "--revision", help="Which version the server or application has, in your words: another one is asked anew."
    ),
]
MaxAge = Annotated[
    str | None,
    typer.Option(
        "--max-age",
        help="Ask a server again when its stored answers are older, such as 24h, 30m or 7d; off: never. "
        "Default: 24h if the environment variable CI is set, else off.",
    ),
]
JudgeName = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="NAME[@URL]",
        help="Decides replies that the rule cannot: a language or entailment model, NAME@URL at a server, or "
        "FILE.py:FUNCTION.",
    ),
]
KeyFrom = Annotated[
    str, typer.Option("--key-from", help="The environment variable that holds the key of the model servers.")
]
Prompt = Annotated[
    list[str] | None,
    typer.Option(
        "--prompt",
        help="A way to ask: default, strict, abstain, cite, conflict_aware, role, or a YAML file of keys of `prompt`; "
        "repeated, each is asked and they are compared.",
    ),
]
Decoding = Annotated[
    list[str] | None,
    typer.Option(
        "--decoding",
        help="How answers are decoded: greedy, cad, adacad or coiecd; repeated, each is asked and they are compared.",
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="The contexts of a question are passages, and these are asked together: supporting+conflicting, "
        "supporting+3 irrelevant, all; may be repeated.",
    ),
]
Order = Annotated[
    list[str] | None,
    typer.Option(
        "--order",
        help="The order of a set's passages: given, right_first, wrong_first, rotations, random; may be repeated. "
        "Without --set, all passages of a question are asked together.",
    ),
]
PassageForm = Annotated[
    str,
    typer.Option(
        "--passages-as",
        help="How each passage of a set is written: plain, numbered, titled or cited. Without --set, all passages of a "
        "question are asked together.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        "--fail-if-worse-than",  # the old name stays for one release
        metavar="WORKSPACE|FILE",
        help="The workspace, database or study of an earlier run; not this run's own workspace. Fail where a number is "
        "worse on the questions of both: the interval of the change is on the wrong side of 0, and p at most 0.05 "
        "after Benjamini-Hochberg over all numbers of the table; and where there are fewer than 6 questions, so that "
        "nothing can be tested.",
    ),
]
Judgements = Annotated[
    list[str] | None,
    typer.Option("--judgements", help="A file of people's judgements, .csv or .xlsx; may be repeated."),
]
JUnit = Annotated[Path | None, typer.Option("--junit", help="Write the thresholds as JUnit XML.")]


@audits.command()
def audit(
    file: OwnFile,
    model: Model = None,
    replies: Replies = None,
    workspace: Workspace = None,
    fail_under: Under = None,
    fail_over: Over = None,
    baseline: Baseline = None,
    samples: Samples = 0,
    questions: Questions = None,
    map_: Map = None,
    max_new_tokens: Tokens = 32,
    thinking: Thinking = "off",
    neutral: Neutral = False,
    judge: JudgeName = None,
    judgements: Judgements = None,
    prompt: Prompt = None,
    decoding: Decoding = None,
    set_: Set = None,
    order: Order = None,
    passages_as: PassageForm = "plain",
    key_from: KeyFrom = "",
    revision: Revision = "",
    max_age: MaxAge = None,
    concurrency: Concurrency = None,
    timeout: Timeout = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
    junit: JUnit = None,
    offline: options.Offline = False,
    wait: options.Wait = False,
    traceback: options.Traceback = False,
) -> None:
    """Run questions with contexts of your own, without a study file; exit code 1 where a threshold is not met.

    Example: [bold]swaymeter audit own-questions --model smollm2-135m-instruct --fail-under follow.supporting=0.9[/bold]
    """
    from swaymeter.data.sources.own.named_file import wrong_rows
    from swaymeter.flows.api import Study
    from swaymeter.flows.cli.terminal import TerminalProgress, log_to, summary
    from swaymeter.flows.cli.views import ages
    from swaymeter.flows.cli.views import audit as view
    from swaymeter.flows.cli.views import baseline as earlier
    from swaymeter.flows.cli.views.refusals import leaving_nothing
    from swaymeter.flows.study import thresholds as checks

    began = time.monotonic()
    thresholds = checks.thresholds_of(fail_under or (), fail_over or ())
    folder = Path(workspace or f"workspaces/audit-{Path(file).stem}").expanduser().absolute()
    oldest = ages.max_age_of(max_age)
    forgotten = earlier.forgotten_judgements(folder, judgements or ())
    console = err if as_json else out
    log_to(console, verbose=traceback)
    with leaving_nothing(folder):
        study = view.write_study(
            file, model or (), folder, samples=samples, questions=questions, max_new_tokens=max_new_tokens,
            columns=view.columns_of(map_ or ()), thinking=thinking, neutral=neutral, judge=judge,
            key_from=key_from, revision=revision, max_age=oldest, judgements=judgements or (),
            prompts=view.prompts_of(prompt or ()), decodings=decoding or (),
            passages=view.passages_of(set_ or (), order or (), passages_as), replies=replies or (),
            concurrency=concurrency, timeout_s=timeout, thresholds=thresholds,
        )  # fmt: skip
        selected = Study.load(str(study))
        before = earlier.baseline(baseline, selected.workspace.database) if baseline else None
        selected.check_models("run")
        read = view.read_rows(selected.study, thresholds, folder, selected.plan.judgements)
        selected.check("run", offline=offline)
    progress = TerminalProgress(console)
    with printing_aside() if as_json else nullcontext():
        graph, message = ages.execute(selected, progress, oldest, force=force, offline=offline, wait=wait)
    found = None if message or as_json else selected.findings(graph)
    outcome: checks.Judged = []
    compared = earlier.Gate()
    notes: list[str] = []
    error: SwaymeterError | None = WorkFailed(message) if message else None
    if not error:
        results = view.results_of(selected)
        notes = view.about_answers(results)
        try:
            outcome = checks.judged(thresholds, results.measured)
            if before:
                compared = earlier.against(before, selected.workspace.database)
        except SwaymeterError as why:  # also of a baseline that cannot be compared
            error = why
    if junit is not None:
        name, unused = selected.study.name, wrong_rows(read.rejected)
        checks.write_junit(
            junit, name, outcome, notes=notes, unused=unused, compared=compared.cases(), error=str(error or "")
        )
    named = shlex.join([file, *(f"--map={pair}" for pair in map_ or ())])
    of_rows = (*view.about_rows(read, Path(file), folder), read.about_kinds(named), read.about_sets())
    asked_at = () if error else (*results.not_asked, *ages.lines_of(results.servers))
    about_run = [line for line in (*of_rows, *asked_at, forgotten) if line]
    description, took, outputs = selected.description(graph), time.monotonic() - began, selected.outputs()
    summary(console, description, progress, took, outputs, err, findings=found, notes=about_run)
    if error:
        raise typer.Exit(WorkFailed.exit_code) if message and progress.failures else error
    if as_json:
        print_product(view.as_json(selected, results, read, outcome, compared.numbers))
        for line in (*notes, *about_run):
            print_line(line, console)
    elif found:
        print_line(Text("all numbers: --json", "dim"))
    for line in compared.lines:
        print_line(line, console)
    for line in compared.warnings:
        warn(line)
    checks.refuse_unmet(outcome, compared.failure)


@audits.command()
def label(
    file: OwnFile,
    annotator: Annotated[str, typer.Option("--annotator", help="Who judges: the same name every time.")],
    to: Annotated[
        Path | None, typer.Option("--to", help="The judgements to write; default: FILE-judgements.csv.")
    ] = None,
    map_: Map = None,
    everything: Annotated[bool, typer.Option("--all", help="Ask about every context, also those with a kind.")] = False,
    traceback: options.Traceback = False,
) -> None:
    """Ask for the kinds of contexts that have none, one by one; stopped at any time, the same command goes on.

    Example: [bold]swaymeter label mine.csv --annotator ada[/bold]
    """
    from swaymeter.flows.cli.views import audit
    from swaymeter.flows.cli.views import label as view

    path = audit.questions_file(file)
    work = view.labelling(path, to, audit.columns_of(map_ or ()), annotator, everything=everything)
    if not work.contexts:
        print_line("every context has a kind, or one that follows from its text; --all asks about each")
        return
    view.ask(work, print_line, input)
    if work.target.exists():
        print_line(f"next: swaymeter audit {shlex.join([file, '--judgements', str(work.target)])} --model MODEL")
