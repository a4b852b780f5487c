"""Croissant 1.0 metadata of the data: what each file is, and what each of its columns means.

Format: http://mlcommons.org/croissant/1.0, JSON-LD over schema.org. A column that is a list of lists is declared as a
repeated text, which is as far as 1.0 goes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from swaymeter.data.records.table import Column
from swaymeter.reports.publish.publication import Exported, Publication, addresses

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
