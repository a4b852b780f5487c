"""Two runs side by side: how the models of one differ from those of the other on the same questions and queries."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from data.errors import UsageError
from data.records import identity
from data.storage.workspace import DATABASE
from data.warehouse.warehouse import opened
from flows.cli.pipeline import Selected
from flows.steps.aggregate import schema
from reports.frames import RUNS, labelled
from tasks.statistics.models import MODEL_QUERIES, adjusted, differences

Row = dict[str, Any]
ASKED_WITH = "asked_with"


def database_of(run: str) -> Path:
    """The database of a run: of a study, of a workspace, or a file; UsageError where there is none."""
    path = Path(run).expanduser()
    found = path / DATABASE if path.is_dir() else path if path.suffix == ".duckdb" else None
    found = found or Selected.of(run).workspace.database
    if not found.exists():
        raise UsageError(f"{run} has no database {found}; run the study, or name a workspace")
    return found


def compared(first: Path, second: Path) -> list[Row]:
    """The paired differences of every model of the first run and every one of the second, over what both were asked.

    The p-values are adjusted over these pairs alone.
    """
    frames = [_frames(path, name) for path, name in ((first, "A"), (second, "B"))]
    both = {name: pd.concat([of_run[name] for of_run in frames], ignore_index=True) for name in MODEL_QUERIES}
    pairs = [row for row in differences(both, 0) if (row["model"][0], row["against_model"][0]) == ("A", "B")]
    if not any(row["n"] for row in pairs):
        raise UsageError(f"{first} and {second} have no question or query in common that both were asked")
    return adjusted([row for row in pairs if row["n"]])


def _frames(path: Path, name: str) -> dict[str, pd.DataFrame]:
    with opened(path, schema()) as warehouse:
        frames = {query: warehouse.frame(query) for query in MODEL_QUERIES}
        frames = labelled({**frames, RUNS: warehouse.frame(RUNS)})
        texts = warehouse.frame("question_contexts")[["question_id", "context_id", "text"]]
    answers = frames["answers_of_questions"].merge(texts, on=["question_id", "context_id"], how="left")
    said = zip(answers["context_id"], answers["question"], answers["text"].fillna(""), strict=True)
    # What is asked under one id may have changed since: an item is an id with its texts.
    frames["answers_of_questions"] = answers.assign(context_id=[identity(*one) for one in said])
    models = {query: f"{name}: " + frames[query]["model"].astype(str) for query in MODEL_QUERIES}
    return {query: frames[query].assign(model=of_rows) for query, of_rows in models.items()}


def settings_apart(first: Path, second: Path) -> list[str]:
    """What two runs were asked with that is not the same, in a line each: A is the first, B the second."""
    both = [_asked(path) for path in (first, second)]
    prompts, seeds, labels = ([one[part] for one in both] for part in ("prompt", "seed", "label"))
    known = [f"seed: {seeds[0]} in A, {seeds[1]} in B"] if seeds[0] != seeds[1] else []
    texts = {**prompts[0], **prompts[1]} if all(prompts) else {}
    for key in texts:
        a, b = (json.dumps(prompt.get(key), ensure_ascii=False) for prompt in prompts)
        known += [f"prompt.{key}: {a} in A, {b} in B"] if a != b else []
    for model in labels[0].keys() & labels[1].keys():
        a, b = (of_run[model] or "none" for of_run in labels)
        known += [f"label of {model[0]} ({model[1]}): {a} in A, {b} in B"] if a != b else []
    return sorted(known)


def _asked(path: Path) -> dict[str, Any]:
    """What a run asked with: the texts of its prompt, its seeds, and the label of each model."""
    with opened(path, schema()) as warehouse:
        asked = warehouse.frame(ASKED_WITH)
    asked = asked.astype(object).where(asked.notna(), None)
    models = zip(asked["model"], asked["dtype"], strict=True)
    return {
        "prompt": json.loads(next((text for text in asked["prompt"] if text), "{}")),
        "seed": ", ".join(sorted({str(seed) for seed in asked["seed"]})),
        "label": dict(zip(models, asked["label"], strict=True)),
    }


def show(console: Console, rows: Sequence[Row], apart: Sequence[str] = ()) -> None:
    """What they were asked with that is not the same, and a table of the differences for every two models."""
    for line in apart:
        console.print(Text(f"not the same: {line}"), soft_wrap=True)
    for pair in dict.fromkeys(map(_pair, rows)):
        first, second = pair
        table = Table("quantity", "n", "first", "second", "first - second [95%]", "verdict", title_justify="left")
        table.title = Text(f"{first} against {second}")
        for row in (row for row in rows if _pair(row) == pair):
            group = row["query_type"] if row["condition"] == "all" else row["condition"]
            bounds = "" if row["low"] is None else f" [{row['low']:.2f}, {row['high']:.2f}]"
            cells = (
                f"{row['quantity']}, {group}", str(row["n"]), f"{row['mean']:.2f}", f"{row['against_mean']:.2f}",
                f"{row['difference']:.2f}{bounds}", row["verdict"] or row["untestable"] or "",
            )  # fmt: skip
            table.add_row(*map(Text, cells))
        console.print(table)


def _pair(row: Row) -> tuple[str, str]:
    return f"{row['model']} ({row['dtype']})", f"{row['against_model']} ({row['against_dtype']})"


def as_json(rows: Sequence[Row], apart: Sequence[str]) -> str:
    """The differences for a program."""
    return json.dumps({"not_the_same": list(apart), "differences": rows}, indent=2, default=str)
