"""The data-set card: README.md with the YAML header that the hub reads, and LICENSE.md."""

from collections.abc import Sequence

import pandas as pd
import yaml

from swaymeter.data.escaping import markdown
from swaymeter.data.records.table import Column
from swaymeter.reports.frames import records
from swaymeter.reports.publish.publication import ExportedTable, Publication, hub_licence
from swaymeter.reports.publish.texts import grid

LICENCES = "LICENSE.md"
"""File with the licence of each part of the data."""


def _meaning(column: Column) -> str:
    unit = f" ({column.unit})" if column.unit else ""
    return f"{column.meaning}{unit}{'; may be empty' if column.nullable else ''}"


_SIZE_CATEGORIES = (  # bound on the rows of the largest table, and the hub's name for fewer rows
    (1_000, "n<1K"),
    (10_000, "1K<n<10K"),
    (100_000, "10K<n<100K"),
    (1_000_000, "100K<n<1M"),
    (10_000_000, "1M<n<10M"),
    (100_000_000, "10M<n<100M"),
)


def dataset_card(study: Publication, files: Sequence[ExportedTable], sources: pd.DataFrame) -> str:
    """Return the text of README.md."""
    card = study.card
    licences = [str(row["licence"]) for row in records(sources)]
    largest_table = max((file.rows for file in files), default=0)
    first_path = files[0].path if files else "data/..."
    licence_id = hub_licence(licences)
    not_run = [[work.relation, work.model, work.measure, work.reason] for work in card.not_run]
    not_run_table = ["## What was not run\n", grid(["relation", "model", "measure", "reason"], not_run)]
    header = {
        "pretty_name": card.name,
        "language": ["en"],
        "license": licence_id,
        **({"license_name": "by-source", "license_link": LICENCES} if licence_id == "other" else {}),
        "tags": ["language-models", "context", "persuasion", "susceptibility", "evaluation"],
        "size_categories": [next((size for bound, size in _SIZE_CATEGORIES if largest_table < bound), "n>100M")],
        "configs": [{"config_name": file.table.name, "data_files": file.path} for file in files],
    }
    parts = [
        f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---\n",
        f"# {markdown(card.name)}\n\n{markdown(card.question)}\n",
        "Prompts, answers, scores and statistics of a study with Swaymeter, one Parquet file a table. The study\n"
        "is `study.yaml`; `manifest.json` has the weights, devices, versions and seeds of the study's run, the\n"
        "commands that repeat the run, and the SHA-256 of every file. Logarithms are natural: scores are in nats.\n",
        "## Read a table\n\n```python\nimport pandas\n\n"
        f'rows = pandas.read_parquet("{first_path}")\n```\n\n'
        "```python\nimport duckdb\n\n"
        f"duckdb.sql(\"SELECT count(*) FROM '{first_path}'\")\n```\n",
        _terms(study, sources),
        *(not_run_table if not_run else ()),
        "## Tables\n",
        *(_table(file) for file in files),
        f"## How to cite\n\n{markdown(card.citation)}\n",
    ]
    return "\n".join(parts)


def licences_of(study: Publication, sources: pd.DataFrame) -> str:
    """Return the text of LICENSE.md: sources and models with their licences."""
    return f"# Licences of {markdown(study.card.name)}\n\n{_terms(study, sources)}\n"


def _terms(study: Publication, sources: pd.DataFrame) -> str:
    rows = []
    for row in records(sources):
        times = dict.fromkeys(time for time in (row["first"], row["last"]) if isinstance(time, str))
        rows.append([*(row[name] for name in ("what", "relation", "source", "licence", "rows")), " to ".join(times)])
    models = [[name, entry.hub, entry.licence] for name, entry in study.models.items()]
    parts = (
        "## Sources and licences\n",
        "Each fact and each question names its source and licence in its row. The models' answers are under the terms\n"
        "of the models; scores and statistics are measurements.\n",
        grid(["what", "relation", "source", "licence", "rows", "fetched (UTC)"], rows),
        "## Models\n",
        grid(["model", "on the hub", "licence"], models),
    )
    return "\n".join(parts)


def _table(file: ExportedTable) -> str:
    rows = [[column.name, column.type, _meaning(column)] for column in file.table.columns]
    head = f"### {file.table.name}\n\nA row is {markdown(file.table.row)}. {file.rows:,} rows in `{file.path}`.\n\n"
    return head + grid(["column", "type", "meaning"], rows)
