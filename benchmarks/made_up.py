"""A study of any size with made-up facts and scores, which `swaymeter status` shows as done.

Its relations, prompts and keys are those of a real study. A relation has 200 made-up pairs, and persuasion is drawn
from a gamma distribution.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from benchmarks.made_up_scores import DTYPE, MODEL, write_made_up
from swaymeter.data import catalog
from swaymeter.data.records import Fact, RelationName, as_row
from swaymeter.flows import study_graph
from swaymeter.flows.config.study import read_study
from swaymeter.flows.graph.graph import Graph, PlannedStep, RunSettings, Stage
from swaymeter.flows.stages.plan import plan_of, workspace_of

PAIRS, PER_KIND = 200, 2
# Of an entity: a query for each of the four templates, and PER_KIND contexts of each of the three types.
QUERIES, CONTEXTS = 4, 3 * PER_KIND


def write_study(folder: Path, relations: int, entities: int, models: int = 1) -> Path:
    """Write the study file and return its path.

    Args:
        folder: Folder of the study file, of the workspace and of the models.
        relations: Number of relations, the first ones of YAGO in the catalog.
        entities: Number of real entities of a relation, and of invented ones.
        models: Number of models. All models after the first are folders that cannot be loaded.
    """
    others = [str(write_model(folder / f"model-{number}")) for number in range(1, models)]
    study = {
        "name": "made-up",
        "workspace": str(folder / "workspace"),
        "facts": {
            "source": "yago",
            "relations": list(catalog.relations_of_yago())[:relations],
            "pairs": PAIRS,
            "real_entities": entities,
            "invented_entities": entities,
            "absent_from": [],
            "invented": "names",
        },
        "contexts": dict.fromkeys(("base", "assertive", "negation"), PER_KIND),
        "models": [{"name": name, "dtype": DTYPE} for name in (MODEL, *others)],
        "measures": {"persuasion": {}, "susceptibility": {}},
    }
    file = folder / "study.yaml"
    file.write_text(yaml.safe_dump(study), encoding="utf-8")
    return file


def graph_of(file: Path) -> Graph:
    """Return the graph of a study in the present state of its workspace."""
    study = read_study(str(file))
    return study_graph.graph_of(plan_of(study, workspace_of(study)))


def write_facts(file: Path) -> None:
    """Write made-up facts of every relation and names of every class of entities, as if they had been fetched."""
    graph = graph_of(file)
    with graph.workspace.lock():
        for node in _missing(graph, "fetch"):
            ((role, output),) = node.step.outputs.items()  # type: ignore[union-attr]
            rows = _facts(node.id.subject) if role == "facts" else _names(node.id.subject)
            output.write(output.table.of(rows))  # type: ignore[attr-defined]


def write_prompts(file: Path) -> None:
    """Build the queries and contexts of all relations."""
    graph = graph_of(file)
    for node in _missing(graph, "build"):
        assert node.step is not None
        node.step.function(node.step, RunSettings(graph.workspace.root))


def write_scores(file: Path, seed: int = 0, relation: str | None = None) -> None:
    """Write the scores of all relations: the persuasion of all pairs, and susceptibility.

    Args:
        file: The study file.
        seed: Seed of the scores.
        relation: A relation that gets new scores of the first model; None for all relations and models.
    """
    for group in ("persuasion", "susceptibility"):
        for number, node in enumerate(node for node in graph_of(file) if node.id.product == group):
            assert node.step is not None
            if relation is None or (relation == node.id.subject and MODEL in str(node.id)):
                write_made_up(node.step, group, np.random.default_rng((seed, number)))


def write_model(folder: Path) -> Path:
    """Write a folder that counts as a further model, because it has a digest of its own; it cannot be loaded."""
    folder.mkdir()
    (folder / "config.json").write_text("{}", encoding="utf-8")
    (folder / "model.safetensors").write_bytes(folder.name.encode())
    return folder


def _missing(graph: Graph, stage: Stage) -> list[PlannedStep]:
    """Return the steps of a stage that are not done."""
    return [node for node in graph if node.id.stage == stage and node.state != "done"]


def _facts(relation: str) -> list[Mapping[str, Any]]:
    return [as_row(_fact(RelationName(relation), number)) for number in range(PAIRS)]


def _fact(relation: RelationName, number: int) -> Fact:
    return Fact(
        relation,
        f"Quell {number}",
        f"Vandrov {number % (PAIRS // 2)}",
        None,
        None,
        None,
        "made up",
        "CC0 1.0",
        subject_uri=f"http://quell.example/{number}",
        object_uri=f"http://vandrov.example/{number}",
        other_objects=(f"Ulv {number}", f"Morv {number}"),
        subject_degree=number,
        subject_relation_degree=1,
        object_degree=number,
        object_relation_degree=1,
        address="http://quell.example/query",
        query="SELECT " * 60,
        retrieved_at="2026-01-01T00:00:00+00:00",
    )


def _names(entity_class: str) -> list[Mapping[str, Any]]:
    row = {"entity_class": entity_class, "made_by": "benchmark", "absent_from": []}
    return [{**row, "name": f"Ostrem {entity_class} {number}"} for number in range(PAIRS)]
