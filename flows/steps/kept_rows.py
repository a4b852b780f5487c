"""Rows of a table that are kept: those of the relations that are made from what they were made from before.

A table about all relations notes a digest for each; where one relation has changed, the rows of the others are taken
over from the file before.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from swaymeter.data.storage.artifact import Check, TableArtifact
from swaymeter.data.storage.keys import content_key

Done = tuple[Any, Check]
"""An artifact that is done, and how it stands."""


def relation_of(one: Done) -> str:
    """The relation that the rows of an artifact are about."""
    return str(one[0].made_from["subject"][0])


def _has_relations(one: Done) -> bool:
    return any(column.name == "relation" for column in one[0].table.columns)


def digests_of(table: TableArtifact, done: Iterable[Done]) -> dict[str, str]:
    """What the rows of each relation in a table are made from, as a digest; what names no relation is of every one."""
    common, inputs = {**table.made_from, "inputs": ()}, dict[str, list[str]]()
    of_all = [one[1].digest_of_all for one in done if not _has_relations(one)]
    for one in filter(_has_relations, done):
        inputs.setdefault(relation_of(one), [*of_all]).append(one[1].digest_of_all)
    return {relation: content_key({**common, "inputs": sorted(read)}) for relation, read in inputs.items()}


def kept_rows(table: TableArtifact, digests: Mapping[str, str], *, anew: bool) -> tuple[Any, set[str]]:
    """The rows of the relations with these digests, in whichever file they stand, and which relations these are.

    anew: whether the table is asked for anew; then nothing is kept.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    found, known = [table.table.of([])], set[str]()
    for rows, about in () if anew else table.versions():
        same = {name for name, digest in about.get("relations", {}).items() if digests.get(name) == digest} - known
        found.append(rows.filter(pc.is_in(rows["relation"], pa.array([*same], pa.string()))))
        known |= same
    return pa.concat_tables(found), known
