"""A dataset: all facts that were fetched at a time, wherever they lie, and the version that tells it from others."""

import functools
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data.errors import InputError
from data.records import Fact, of_row
from data.sources.qec import read_qec
from data.tables import FACTS
from data.workspace import Stored, read_metadata

VERSION_LENGTH = 16


@dataclass(frozen=True)
class Dataset:
    """The facts of a workspace, or of a yago_qec.json; warnings: what a reader should know of how they were read."""

    path: Path
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: str | Path) -> "Dataset":
        """The dataset at a path; InputError where there is none, DamagedFile where a file of it cannot be read.

        Of a workspace all facts count, whichever studies fetched them. Where a relation has several files, made from
        other settings, the newest counts.
        """
        root = Path(path)
        if os.path.isdir(root):
            dataset = cls(root, *_of_workspace(root))
        elif os.path.isfile(root):
            read = read_qec(root)
            dataset = cls(root, tuple(fact for facts in read.facts.values() for fact in facts), read.warnings)
        else:
            raise InputError(f"{root} is not there; name a workspace with fetched facts, or a yago_qec.json")
        if not dataset.facts:
            raise InputError(f"{root} holds no facts; name a workspace with fetched facts, or a yago_qec.json")
        return dataset

    @functools.cached_property
    def version(self) -> str:
        """A digest of what the facts say: the same whatever their order, and whenever they were fetched from where."""
        rows = sorted((_in_order(fact) for fact in self.facts), key=_what_counts)
        return FACTS.digest(FACTS.of(rows))[:VERSION_LENGTH]

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the relations that it has facts of."""
        return tuple(sorted({fact.relation for fact in self.facts}))

    @property
    def sources(self) -> tuple[str, ...]:
        """Where its facts come from."""
        return tuple(sorted({fact.source for fact in self.facts}))

    @property
    def retrieved(self) -> tuple[str, str] | None:
        """When its first and its last fact were fetched (UTC, ISO 8601); None where no fact says it."""
        times = [fact.retrieved_at for fact in self.facts if fact.retrieved_at]
        return (min(times), max(times)) if times else None


def _of_workspace(root: Path) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    by_relation: dict[str, list[Stored]] = {}
    for path in sorted((root / "facts").glob("facts-*.parquet")):
        stored = _stored(path)
        by_relation.setdefault(stored.made_from["relation"], []).append(stored)
    facts: list[Fact] = []
    warnings = []
    for relation, files in sorted(by_relation.items()):
        newest = max(files, key=lambda stored: (stored.path.stat().st_mtime_ns, stored.path.name))
        if len(files) > 1:
            said = f"{relation} has {len(files)} files of facts; the newest counts, {newest.path.name}"
            warnings.append(f"{root}: {said}")
        facts += [of_row(Fact, row) for row in newest.read_as_written().to_pylist()]
    return tuple(facts), tuple(warnings)


def _stored(path: Path) -> Stored:
    made_from = read_metadata(path).get("made_from")
    if not isinstance(made_from, dict) or not isinstance(made_from.get("relation"), str):
        raise InputError(f"{path} does not say what relation it is about; remove it and fetch again")
    return Stored(path, FACTS, made_from)


def _in_order(fact: Fact) -> dict[str, Any]:
    said = {column.name: getattr(fact, column.name) for column in FACTS.columns}
    return said | {"other_objects": sorted(fact.other_objects)}


def _what_counts(row: Mapping[str, Any]) -> str:
    return json.dumps([row[column.name] for column in FACTS.columns if column.counts])
