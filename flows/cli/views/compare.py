"""Two runs side by side: how the models of one differ from those of the other on the same questions and queries."""

import json
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd
from rich.console import Console

from swaymeter.data.errors import DamagedFile, UsageError, first_line
from swaymeter.data.records import identity
from swaymeter.data.records.statistics import FEWEST_SAMPLES
from swaymeter.data.storage.notes import json_object
from swaymeter.data.storage.workspace import DATABASE, slug
from swaymeter.data.storage.writing import beside, put
from swaymeter.data.warehouse.warehouse import Limits, opened
from swaymeter.flows.cli.console import print_line, print_table
from swaymeter.flows.cli.pipeline import Selected
from swaymeter.flows.steps.aggregate import schema
from swaymeter.flows.study.thresholds import name_of
from swaymeter.reports.changes import told_apart
from swaymeter.reports.estimates import estimate, number, verdict
from swaymeter.reports.frames import where
from swaymeter.reports.history import MOVED
from swaymeter.reports.history.side_by_side import Apart, ChangedSides, Differences, changed_sides, write_side_by_side
from swaymeter.reports.models import ANSWERS_PAGE, RUNS, in_short, labelled
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.statistics.frames import by
from swaymeter.tasks.statistics.history import group_of
from swaymeter.tasks.statistics.models import BETWEEN, MODEL_QUERIES, adjusted, differences, of_models
from swaymeter.tasks.statistics.statistic import Frames
from swaymeter.tasks.statistics.summary import MODEL

Row = dict[str, Any]
ASKED_WITH, LAST = "asked_with", "states_of_last_run"
VERSIONS = r"(?:revision|server|hardware|version) of |(?:swaymeter|torch|transformers)$"
"""Settings of a run's snapshot that are versions of models, servers, measures and programs."""
NO_VALUE = {
    "context_bias": "not answered right without a context",
    "prior_bias": "not answered wrong without a context",
    "coherent_persuasion": f"without a score of {FEWEST_SAMPLES} samples",
}
"""Why a model that was asked has no value of a quantity, where it is not that the score is missing."""
NOTE = (
    "n: answers (or queries) of both, in how many subjects (questions where none is named; entities), which intervals "
    "are over. larger, smaller: p is at most 0.05 after Benjamini-Hochberg, over the verdicts on right and wrong "
    "passages, and over all others; equal: the interval lies within the margin; undecided: nothing shows that they "
    "differ, nor that they do not."
)


def database_of(run: str) -> Path:
    """The database of a run: of a study, of a workspace, or a file; UsageError where there is none."""
    path = Path(run).expanduser()
    database = path / DATABASE if path.is_dir() else path if path.suffix == ".duckdb" else None
    database = database or Selected.of(run).workspace.database
    if not database.exists():
        raise UsageError(f"{run} has no database {database}; run the study, or name a workspace")
    return database


def compared(first: Path, second: Path) -> tuple[list[Row], list[str]]:
    """The paired differences of each model of both runs with itself, and what is left out.

    Where no model is in both, every one of the first run with every one of the second. The p-values are adjusted over
    these differences alone.
    """
    frames = [_frames(path, name) for path, name in ((first, "A"), (second, "B"))]
    both = {name: pd.concat([of_run[name] for of_run in frames], ignore_index=True) for name in MODEL_QUERIES}
    parts = _parts(both)
    pairs = [
        row for part in parts for row in differences(part, 0)
        if (row["model"][0], row["against_model"][0]) == ("A", "B")
    ]  # fmt: skip
    if not any(row["n"] for row in pairs):
        raise UsageError(f"{first} and {second} have no question or query in common that both were asked")
    return adjusted([row for row in pairs if row["n"]]), [*_only_in_one(both), *_left_out(parts)]


def _of_runs(frames: Frames) -> list[set[tuple[str, str]]]:
    """The models of each run, A and B, with their dtypes."""
    known = {about for frame in frames.values() for about in zip(frame["model"], frame["dtype"], strict=True)}
    return [{(name[3:], dtype) for name, dtype in known if name.startswith(f"{run}: ")} for run in "AB"]


def _parts(frames: Frames) -> list[Frames]:
    """The rows of each model that both runs have; all rows where they have none in common."""
    a, b = _of_runs(frames)
    return [
        {query: frame[(frame["model"].str[3:] == name) & (frame["dtype"] == dtype)] for query, frame in frames.items()}
        for name, dtype in sorted(a & b)
    ] or [frames]


def _only_in_one(frames: Frames) -> list[str]:
    """The models that only one run has, where another one is in both."""
    a, b = _of_runs(frames)
    apart = ((run, sorted(of - other)) for run, of, other in (("A", a, b), ("B", b, a)))
    return [f"{run}: {name} ({dtype}), which only {run} has" for run, names in apart for name, dtype in names if a & b]


def _left_out(parts: Iterable[Frames]) -> list[str]:
    """What only one of two models has, and why; a line for all pairs of models of which the same is to be said."""
    pairs: dict[str, dict[str, list[str]]] = {}  # what is left out of each pair, by how much and why
    for frames in parts:
        _leave_out(pairs, frames)
    alike: dict[str, list[str]] = {}
    for pair, of_pair in pairs.items():
        text = "; ".join(f"{counts} ({', '.join(names)})" for counts, names in of_pair.items())
        alike.setdefault(text, []).append(pair)
    return [f"{' and '.join(of)}: {text}" for text, of in alike.items()]


def _leave_out(pairs: dict[str, dict[str, list[str]]], frames: Frames) -> None:
    """Adds what one model of a pair has alone, of all pairs of both runs."""
    answers, queries = (frames[name] for name in MODEL_QUERIES)
    asked: dict[str, set[str]] = {}  # by model: items, as `tasks.statistics.models` names them, ids of questions
    for about, rows in by(answers, MODEL):
        asked[_model(about)] = {*rows["question_id"], *(rows["question_id"].astype(str) + BETWEEN + rows["context_id"])}
    for about, rows in by(queries, MODEL):
        asked.setdefault(_model(about), set()).update(rows["query_id"])
    for quantity, group, models in of_models(frames):
        counted = {_model(about): {*of_model["item"]} for about, of_model in models}
        no_value = NO_VALUE.get(quantity, "without a score")
        for first, second in product(*([name for name in asked if name.startswith(f"{run}: ")] for run in "AB")):
            parts = [
                f"{count} of {len(counted[name])} in {name[0]} {why} in {other[0]}"
                for name, other in ((first, second), (second, first)) if name in counted
                for why, count in _why(counted[name] - counted.get(other, set()), asked[other], no_value).items()
            ]  # fmt: skip
            if parts:
                of_pair = pairs.setdefault(f"{first} against {second}", {})
                of_pair.setdefault(", ".join(parts), []).append(_named(quantity, group))


def _why(missing: Collection[str], asked: Collection[str], no_value: str) -> Counter[str]:
    """How many items that another model lacks were not asked of it, and of how many it has no value, and why."""
    return Counter(
        no_value if item in asked else "asked with other texts" if item.partition(BETWEEN)[0] in asked else "not asked"
        for item in sorted(missing)
    )


def _named(quantity: str, group: Row) -> str:
    return name_of(quantity, group_of(group))


def _frames(path: Path, name: str = "") -> dict[str, pd.DataFrame]:
    """The queries about answers and models of a run; name: of the run, before the name of each model."""
    with opened(path, schema(), limits=Limits()) as warehouse:
        frames = {query: warehouse.frame(query) for query in MODEL_QUERIES}
        frames = labelled({**frames, RUNS: warehouse.frame(RUNS)})
        texts = warehouse.frame("question_contexts")[["question_id", "context_id", "text"]]
    answers = frames["answers_of_questions"].merge(texts, on=["question_id", "context_id"], how="left")
    said = zip(answers["context_id"], answers["question"], answers["text"].fillna(""), strict=True)
    # What is asked under one id may have changed since: an item is an id with its texts.
    frames["answers_of_questions"] = answers.assign(context_id=[identity(*one) for one in said])
    named = f"{name}: " if name else ""
    models = {query: named + frames[query]["model"].astype(str) for query in MODEL_QUERIES}
    return {query: frames[query].assign(model=of_rows) for query, of_rows in models.items()}


def settings_apart(first: Path, second: Path) -> list[Apart]:
    """What two runs were asked with, and which versions answered, that is not the same, by name."""
    a, b = _asked(first), _asked(second)
    return sorted((name, *told_apart(a[name], b[name])) for name in a.keys() & b.keys() if a[name] != b[name])


def lines_of(apart: Sequence[Apart]) -> list[str]:
    """What is not the same, in a line each."""
    return [f"{name}: {in_a} in A, {in_b} in B" for name, in_a, in_b in apart]


def sides(first: Path, second: Path) -> list[ChangedSides]:
    """The greedy answers to the same texts whose verdict is another one in the second run."""
    a, b = (_frames(path)["answers_of_questions"] for path in (first, second))
    return changed_sides(a, b)


def write_page(
    file: Path | None, databases: tuple[Path, Path], rows: Sequence[Row], apart: Sequence[Apart],
    left_out: Sequence[str], flips: Sequence[ChangedSides],
) -> Path | None:  # fmt: skip
    """Writes the page of two runs, where none is named beside the second one's database, and gives its path.

    None where no page is named and that folder cannot be written. UsageError where the page cannot be.
    """
    folders, names = [database.absolute().parent for database in databases], _names(databases)
    if file is None and not os.access(folders[1], os.W_OK):
        return None
    file = file or folders[1] / f"compared-with-{slug(names[0])}.html"
    reports = [quote(os.path.relpath(folder / "report", file.absolute().parent)) for folder in folders]
    known = [
        report if database.name == DATABASE and (folder / "report" / ANSWERS_PAGE).exists() else ""
        for report, folder, database in zip(reports, folders, databases, strict=True)
    ]
    try:
        with beside(file) as temporary:
            write_side_by_side(
                temporary, names, (known[0], known[1]), flips, [*_differences(rows)], apart,
                left_out, NOTE,
            )  # fmt: skip
            put(temporary, file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror or error}; name another --page") from None
    return file


def _names(databases: tuple[Path, Path]) -> tuple[str, str]:
    """What two runs are called: by their folders, by their files where these are alike, else by their paths."""
    paths = [database.absolute() for database in databases]
    names = [path.parent.name if path.name == DATABASE else f"{path.parent.name} {path.stem}" for path in paths]
    first, second = names if names[0] != names[1] else map(str, paths)
    return first, second


def _asked(path: Path) -> dict[str, str]:
    """What a run asked with: its prompts, decodings, seeds, labels of models, parameters of measures, and versions."""
    with opened(path, schema(), limits=Limits()) as warehouse:
        asked, last = warehouse.frame(ASKED_WITH), warehouse.frame(LAST)
    asked = asked.astype(object).where(asked.notna(), None)
    texts = dict[str, str]()
    for row in asked.to_dict("records"):
        named = f"prompt {row['prompt_name']}" if row["prompt_name"] else "prompt"
        prompt = _object(path, row["prompt"] or "{}")
        texts |= {f"{named}.{key}": json.dumps(value, ensure_ascii=False) for key, value in prompt.items()}
        texts |= {f"decoding {row['decoding']}": row["decoding_parameters"] or "none"} if row["decoding"] else {}
    models = zip(asked["model"], asked["dtype"], asked["label"], strict=True)
    return {
        "seed": ", ".join(sorted({str(seed) for seed in asked["seed"]})),
        **texts,
        **_noted(where(last, kind="setting")),
        **{f"label of {model} ({dtype})": label or "none" for model, dtype, label in models},
    }


def _noted(settings: pd.DataFrame) -> dict[str, str]:
    """Which versions and which parameters of measures the last completed run had."""
    of_measures = "|".join(re.escape(f"{name}.") for name in MEASURES)
    named = settings[settings["item"].str.match(f"{VERSIONS}|{of_measures}")]
    return {str(item): str(json.loads(state)) for item, state in zip(named["item"], named["state"], strict=True)}


def _object(path: Path, text: str) -> Row:
    try:
        return json_object(text)
    except ValueError as error:
        raise DamagedFile(
            f"{path} has a prompt that is not a JSON object ({first_line(error)}); have its study run again"
        ) from None


def show(console: Console, rows: Sequence[Row], apart: Sequence[Apart] = (), left_out: Sequence[str] = ()) -> None:
    """What two runs were asked with that is not the same, and a table of the differences for every two models."""
    lines = (*(f"not the same: {line}" for line in lines_of(apart)), *(f"left out of {line}" for line in left_out))
    for line in lines:
        print_line(line, console)
    for table in _differences(rows):
        print_table(table.columns, table.rows, console, title=table.title)
    if rows:
        console.print(NOTE, highlight=False, markup=False)


def _differences(rows: Sequence[Row]) -> Iterator[Differences]:
    """A table of the differences for every two models."""
    for pair in dict.fromkeys(map(_pair, rows)):
        of_pair = [row for row in rows if _pair(row) == pair]
        cells = [
            (
                _named(row["quantity"], row),
                str(row["n"]) if row["clusters"] == row["n"] else f"{row['n']} in {row['clusters']}",
                number(row["mean"], row["unit"]), number(row["against_mean"], row["unit"]),
                estimate(row, "difference", signed=True), verdict(row),
            )
            for row in of_pair
        ]  # fmt: skip
        short = in_short(pair)
        columns = ("quantity", "n", *(short.names[name] for name in pair), "difference [95%]", "verdict")
        moved = sum(row["verdict"] in MOVED for row in of_pair)
        yield Differences(short.titled(" against ".join(columns[2:4])), columns, cells, moved)


def _pair(row: Row) -> tuple[str, str]:
    return _model(row), f"{row['against_model']} ({row['against_dtype']})"


def _model(row: Row) -> str:
    return f"{row['model']} ({row['dtype']})"


def as_json(rows: Sequence[Row], apart: Sequence[Apart], left_out: Sequence[str], flips: Sequence[ChangedSides]) -> str:
    """The differences, and what changed sides, for a program."""
    content = {
        "not_the_same": lines_of(apart), "left_out": list(left_out), "differences": rows,
        "changed_sides": list(map(asdict, flips)),
    }  # fmt: skip
    return json.dumps(content, indent=2, default=str)
