"""A made-up study of any size: real relations, prompts and keys, so that `swaymeter status` calls all of it done.

Facts and scores are made up: 200 pairs a relation, and persuasion drawn from a gamma distribution.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import yaml

from data import catalog
from data.records import Fact, RelationName, as_row
from data.records.table import Table
from flows.graph.graph import Graph, Node
from flows.graph.step import Run, Stage, Step
from flows.stages.resolve import study_graph, workspace_of
from flows.study.reading import read_study
from tasks.measures.run import Spent, versions
from tasks.models import identify_language_model

MODEL, DTYPE = "smollm2-135m-instruct", "float32"
PAIRS, PER_KIND = 200, 2
QUERIES, CONTEXTS = 4, 3 * PER_KIND  # of an entity
STEP_SECONDS = 0.1  # of a step that only takes its time


def write_study(folder: Path, relations: int, entities: int) -> Path:
    """Writes the study file: the first relations of YAGO's, and so many real and so many invented entities of each."""
    study = {
        "name": "made-up",
        "workspace": str(folder / "workspace"),
        "facts": {
            "source": "yago", "relations": list(catalog.relations_of_yago())[:relations], "pairs": PAIRS,
            "real_entities": entities, "invented_entities": entities, "absent_from": [], "invented": "names",
        },
        "contexts": dict.fromkeys(("base", "assertive", "negation"), PER_KIND),
        "models": [{"name": MODEL, "dtype": DTYPE}],
        "measures": {"persuasion": {}, "susceptibility": {}},
    }  # fmt: skip
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    return file


def graph_of(file: Path) -> Graph:
    """The graph of a study as its workspace is now."""
    study = read_study(str(file))
    return study_graph(study, workspace_of(study))


def write_facts(file: Path) -> None:
    """Writes what a fetch would: facts of every relation and names of every class."""
    graph = graph_of(file)
    with graph.workspace.lock():
        for node in _missing(graph, "fetch"):
            ((role, output),) = node.step.outputs.items()  # type: ignore[union-attr]
            rows = _facts(node.id.subject) if role == "facts" else _names(node.id.subject)
            output.write(output.table.of(rows))  # type: ignore[attr-defined]


def write_prompts(file: Path) -> None:
    """Builds queries and contexts."""
    graph = graph_of(file)
    for node in _missing(graph, "build"):
        assert node.step is not None
        node.step.function(node.step, Run(graph.workspace.root))


def write_scores(file: Path, seed: int = 0, relation: str | None = None) -> None:
    """Writes the scores of all relations, or new ones of one: the persuasion of every pair, then its means."""
    for group in ("persuasion", "susceptibility"):
        for number, node in enumerate(node for node in graph_of(file) if node.id.group == group):
            assert node.step is not None
            if relation in (None, node.id.subject):
                _write_scores(node.step, group, np.random.default_rng((seed, number)))


def write_model(folder: Path) -> Path:
    """Writes a folder that can be told from other models, and not be loaded."""
    folder.mkdir()
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(folder.name.encode())
    return folder


def score_in_time(step: Step, run: Run) -> Spent:
    """A step that writes made-up scores, and takes `STEP_SECONDS` unless the disk takes longer."""
    start = time.perf_counter()
    prompts = len(step.table("queries").read())
    _write_scores(step, "persuasion", np.random.default_rng(0))
    time.sleep(max(0.0, STEP_SECONDS - (time.perf_counter() - start)))
    return Spent(prompts, 0, time.perf_counter() - start)


def _missing(graph: Graph, stage: Stage) -> list[Node]:
    return [node for node in graph if node.id.stage == stage and node.state != "done"]


def _facts(relation: str) -> list[Mapping[str, Any]]:
    return [as_row(_fact(RelationName(relation), number)) for number in range(PAIRS)]


def _fact(relation: RelationName, number: int) -> Fact:
    return Fact(
        relation, f"Quell {number}", f"Vandrov {number % (PAIRS // 2)}", None, None, None,
        "made up", "CC0 1.0", subject_uri=f"http://quell.example/{number}",
        object_uri=f"http://vandrov.example/{number}", other_objects=(f"Ulv {number}", f"Morv {number}"),
        subject_degree=number, subject_relation_degree=1, object_degree=number, object_relation_degree=1,
        address="http://quell.example/query", query="SELECT " * 60, retrieved_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip


def _names(entity_class: str) -> list[Mapping[str, Any]]:
    row = {"entity_class": entity_class, "made_by": "benchmark", "absent_from": []}
    return [{**row, "name": f"Ostrem {entity_class} {number}"} for number in range(PAIRS)]


def _write_scores(step: Any, group: str, rng: np.random.Generator) -> None:
    queries, contexts = step.table("queries").read(), step.table("contexts").read()
    shape = (len(queries), len(contexts))
    if group == "persuasion":
        of_query, of_context = np.arange(shape[0]).repeat(shape[1]), np.tile(np.arange(shape[1]), shape[0])
        about, other = queries["entity"].to_numpy(), contexts["entity"].to_numpy()
        columns = {
            "query_id": queries["query_id"].take(pa.array(of_query)),
            "context_id": contexts["context_id"].take(pa.array(of_context)),
            "relevant": (about[:, None] == other[None, :]).ravel(),
            "persuasion": rng.gamma(0.7, 0.8, shape).ravel(),
        }
    else:
        scores = step.table("persuasion").read()["persuasion"].to_numpy().reshape(shape)
        means = {"contexts": np.full(shape[0], shape[1]), "susceptibility": scores.mean(axis=1)}
        columns = {"query_id": queries["query_id"], **means}
    about_file = {
        **versions(), "pass": group, "started_at": "2026-01-01T00:00:00+00:00", "seconds": 1.0,
        "finished_at": "2026-01-01T00:00:01+00:00", "forward_passes": 1, "prompts": len(columns["query_id"]),
    }  # fmt: skip
    step.table(group).write(_with_origin(step.table(group).table, step.id.subject, columns), about_file)


def _with_origin(table: Table, relation: str, columns: Mapping[str, Any]) -> pa.Table:
    """Scores with the columns that say where they come from."""
    shared = {
        "relation": relation, "model": MODEL, "model_revision": identify_language_model(MODEL).revision,
        "dtype": DTYPE, "device": "cpu", "engine": "made up", "dataset_version": "1", "stand_in": None,
    }  # fmt: skip
    count = len(columns["query_id"])
    rows = {
        field.name: pa.repeat(pa.scalar(shared[field.name], field.type), count)
        if field.name in shared
        else columns[field.name]
        for field in table.schema
    }
    return pa.table(rows, schema=table.schema)
