"""Made-up scores of the size of a large study, and what is done with them: each phase runs in a process of its own.

python -m benchmarks.scale_phase PHASE FOLDER
"""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from data.records import CONTEXT_KINDS, identity
from data.records.tables import CONTEXTS, QUERIES, RUNS
from data.storage.files import read_parquet, write_parquet
from data.warehouse import opened, over, update
from tasks.measures import MEASURES

PERSUASION, SUSCEPTIBILITY = MEASURES["persuasion"].table, MEASURES["susceptibility"].table
TABLES = (QUERIES, CONTEXTS, RUNS, PERSUASION, SUSCEPTIBILITY)
PHASES = ("load", "load_again", "over", "report")
ASKED_BY_A_REPORT = ("susceptibility_of_queries", "persuasion_by_kind", "example_2_most_persuasive_contexts")


def make_relation(folder: Path, number: int, queries: int, contexts: int) -> None:
    """Writes a relation's queries, contexts and made-up scores, a file each."""
    relation = f"relation{number}"
    entity = [f"entity {place // 4}" for place in range(queries)]
    about = [f"entity {place // len(CONTEXT_KINDS) % max(1, queries // 4)}" for place in range(contexts)]
    of_queries = [
        {
            "query_id": identity(relation, "query", place), "relation": relation, "form": place % 2 + 1,
            "query_type": ("open", "closed")[place // 2 % 2], "entity": entity[place], "entity_id": None,
            "invented": place >= queries // 2, "answer": "x", "text": f"Query {place} about {entity[place]}:",
            "degree": None, "relation_degree": None,
        }
        for place in range(queries)
    ]  # fmt: skip
    of_contexts = [
        {
            "context_id": identity(relation, "context", place), "relation": relation, "entity": about[place],
            "kind": CONTEXT_KINDS[place % len(CONTEXT_KINDS)], "invented": place >= contexts // 2, "object": "y",
            "text": f"Context {place} about {about[place]}.\n",
        }
        for place in range(contexts)
    ]  # fmt: skip
    scores = np.random.default_rng(number).gamma(0.7, 0.8, (queries, contexts))
    query_ids = np.array([row["query_id"] for row in of_queries])
    context_ids = np.array([row["context_id"] for row in of_contexts])
    pairs = {
        "query_id": np.repeat(query_ids, contexts),
        "context_id": np.tile(context_ids, queries),
        "relevant": (np.array(entity)[:, None] == np.array(about)[None, :]).ravel(),
        "persuasion": scores.ravel(),
    }
    means = {"query_id": query_ids, "contexts": np.full(queries, contexts), "susceptibility": scores.mean(axis=1)}
    rows = {
        QUERIES: QUERIES.of(of_queries),
        CONTEXTS: CONTEXTS.of(of_contexts),
        PERSUASION: _scores(PERSUASION, relation, pairs),
        SUSCEPTIBILITY: _scores(SUSCEPTIBILITY, relation, means),
    }
    for table, of_table in rows.items():
        write_parquet(folder / table.name, f"{table.name}-{relation}", of_table, {"table": table.name})


def _scores(table: Any, relation: str, columns: Mapping[str, Any]) -> pa.Table:
    """Made-up scores with the columns that say where they come from."""
    shared = {
        "relation": relation, "model": "made-up", "model_revision": "1", "dtype": "float32", "device": "cpu",
        "engine": "none", "dataset_version": "1", "stand_in": None,
    }  # fmt: skip
    count = len(next(iter(columns.values())))
    types = {field.name: field.type for field in table.schema}
    arrays = {name: pa.array(columns[name], types[name]) for name in columns}
    arrays |= {name: pa.repeat(pa.scalar(value, types[name]), count) for name, value in shared.items()}
    return pa.table([arrays[name] for name in types], names=list(types))


def change_one(folder: Path) -> None:
    """Gives one file of persuasion other scores, as if its relation had been scored anew."""
    path = min(folder.rglob("persuasion-*.parquet"))
    rows, metadata = read_parquet(path)
    place = rows.schema.get_field_index("persuasion")
    changed = rows.set_column(place, rows.schema.field(place), pa.array(rows["persuasion"].to_numpy() + 1.0))
    write_parquet(path.parent, path.stem.rpartition("-")[0], changed, {**metadata, "digest": path.stem})
    path.unlink()


def run_phase(name: str, folder: str) -> None:
    """One phase, in the process that is measured."""
    database = Path(folder) / "study.duckdb"
    files = {table: sorted((Path(folder) / "files" / table.name).glob("*.parquet")) for table in TABLES}
    if name == "over":
        with over(files, TABLES) as warehouse:
            warehouse.frame("persuasion_by_kind")
    elif name == "report":
        with opened(database, TABLES) as warehouse:
            for query in ASKED_BY_A_REPORT:
                warehouse.frame(query)
    else:
        update(database, name, TABLES, files)


if __name__ == "__main__":
    run_phase(*sys.argv[1:])
