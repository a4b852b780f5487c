"""The data described: metadata in Croissant 1.0, what each file is and each of its columns means; README.md with the
YAML header that the hub reads.

Format: http://mlcommons.org/croissant/1.0, JSON-LD over schema.org. A column that is a list of lists is declared as a
repeated text, which is as far as 1.0 goes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
import yaml

from swaymeter.data.escaping import markdown
from swaymeter.data.records.table import Column
from swaymeter.reports.frames import records
from swaymeter.reports.publish.publication import Exported, Publication, addresses, hub
from swaymeter.reports.publish.texts import grid

CONTEXT: Mapping[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{
        name: f"cr:{name}"
        for name in (
            "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet",
            "format", "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",
            "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField",
            "transform",
        )
    },
}  # fmt: skip
TYPES = {"VARCHAR": "sc:Text", "DOUBLE": "sc:Float", "BIGINT": "sc:Integer", "BOOLEAN": "sc:Boolean"}
_HOMES = {"query_id": "queries", "question_id": "questions"}
"""The table that a column of ids leads to."""


def metadata(study: Publication, files: Sequence[Exported], licences: Iterable[str]) -> dict[str, Any]:
    """The content of croissant.json."""
    card = study.card
    names = {file.table.name for file in files}
    return {
        "@context": dict(CONTEXT),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": card.name,
        "description": " ".join(
            f"{card.asked} Prompts, answers, scores and statistics of the study {card.name}.".split()
        ),
        "url": study.url or "https://example.org/not-published-yet",
        "license": addresses(licences) or ["not stated"],
        "creator": {"@type": "sc:Organization", "name": study.by},
        "citeAs": card.citation,
        "datePublished": card.made_at,
        "version": "1.0.0",
        "keywords": ["language models", "context", "persuasion", "susceptibility", "evaluation"],
        "distribution": [_file(file) for file in files],
        "recordSet": [_records(file, names) for file in files],
    }


def _file(file: Exported) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "description": f"A row is {file.table.row}.",
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file.sha256,
    }


def _records(file: Exported, names: set[str]) -> dict[str, Any]:
    table = file.table
    key = {"key": [{"@id": f"{table.name}/{name}"} for name in table.key]} if table.key else {}
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        "description": f"A row is {table.row}. {file.rows} rows.",
        **key,
        "field": [_field(file, column, names) for column in table.columns],
    }


def _field(file: Exported, column: Column, names: set[str], within: str = "") -> dict[str, Any]:
    home, path = _HOMES.get(column.name), f"{within}{column.name}"
    leads = home is not None and home != file.table.name and home in names
    parts = [_field(file, part, names, f"{path}/") for part in column.parts]
    return {
        "@type": "cr:Field",
        "@id": f"{file.table.name}/{path}",
        "name": column.name,
        "description": described(column),
        **({"subField": parts} if parts else {"dataType": TYPES[column.type.replace("[]", "")]}),
        **({"repeated": True} if column.type.endswith("[]") else {}),
        "source": {"fileObject": {"@id": file.path}, "extract": {"column": column.name}},
        **({"references": {"field": {"@id": f"{home}/{column.name}"}}} if leads else {}),
    }


def described(column: Column) -> str:
    """What a column means, with its unit, and whether it may be empty."""
    unit = f" ({column.unit})" if column.unit else ""
    return f"{column.meaning}{unit}{'; may be empty' if column.nullable else ''}"


LICENCES = "LICENSE.md"
"""The file of what each part of the data is under."""
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"),
          (10_000_000, "1M<n<10M"), (100_000_000, "10M<n<100M"))  # fmt: skip


def dataset_card(study: Publication, files: Sequence[Exported], sources: pd.DataFrame) -> str:
    """The whole card."""
    card = study.card
    licences = [str(row["licence"]) for row in records(sources)]
    rows = max((file.rows for file in files), default=0)
    name = hub(licences)
    not_run = [[work.relation, work.model, work.measure, work.reason] for work in card.not_run]
    not_run_table = ["## What was not run\n", grid(["relation", "model", "measure", "reason"], not_run)]
    header = {
        "pretty_name": card.name,
        "language": ["en"],
        "license": name,
        **({"license_name": "by-source", "license_link": LICENCES} if name == "other" else {}),
        "tags": ["language-models", "context", "persuasion", "susceptibility", "evaluation"],
        "size_categories": [next((size for most, size in _SIZES if rows < most), "n>100M")],
        "configs": [{"config_name": file.table.name, "data_files": file.path} for file in files],
    }
    parts = [
        f"---\n{yaml.safe_dump(header, sort_keys=False, allow_unicode=True)}---\n",
        f"# {markdown(card.name)}\n\n{markdown(card.asked)}\n",
        "Prompts, answers, scores and statistics of a study with Swaymeter, a Parquet file a table. `study.yaml` is\n"
        "the study; `manifest.json` says with which weights, devices, versions and seeds it was run, how to repeat it\n"
        "and has the SHA-256 of every file; `croissant.json` describes the data for programs. Logarithms are natural:\n"
        "scores are in nats.\n",
        "## Read it\n\n```python\nimport pandas\n\n"
        f'rows = pandas.read_parquet("{files[0].path if files else "data/..."}")\n```\n\n'
        "```python\nimport duckdb\n\n"
        f"duckdb.sql(\"SELECT count(*) FROM '{files[0].path if files else 'data/...'}'\")\n```\n",
        _terms(study, sources), *(not_run_table if not_run else ()), "## Tables\n", *(_table(file) for file in files),
        f"## How to cite\n\n{markdown(card.citation)}\n",
    ]
    return "\n".join(parts)


def licences_of(study: Publication, sources: pd.DataFrame) -> str:
    """The text of LICENSE.md: sources and models with their licences."""
    return f"# Licences of {markdown(study.card.name)}\n\n{_terms(study, sources)}\n"


def _terms(study: Publication, sources: pd.DataFrame) -> str:
    rows = []
    for row in records(sources):
        times = dict.fromkeys(time for time in (row["first"], row["last"]) if isinstance(time, str))
        rows.append([*(row[name] for name in ("what", "relation", "source", "licence", "rows")), " to ".join(times)])
    parts = (
        "## Sources and licences\n",
        "Each fact and each question names its source and licence in its row. What the models answered is under\n"
        "the terms of the models; scores and statistics are measurements.\n",
        grid(["what", "relation", "source", "licence", "rows", "fetched (UTC)"], rows),
        "## Models\n",
        grid(["model", "on the hub", "licence"], [[name, of.hub, of.licence] for name, of in study.models.items()]),
    )
    return "\n".join(parts)


def _table(file: Exported) -> str:
    rows = [[column.name, column.type, described(column)] for column in file.table.columns]
    head = f"### {file.table.name}\n\nA row is {markdown(file.table.row)}. {file.rows:,} rows in `{file.path}`.\n\n"
    return head + grid(["column", "type", "meaning"], rows)
