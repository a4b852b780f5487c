"""Made-up scores of a step: persuasion from a gamma distribution, and susceptibility as its mean over contexts.

This module imports little, because a worker of a cluster imports the module of its first step.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from swaymeter.data.records.table import Table
from swaymeter.flows.graph.graph import RunSettings, Step
from swaymeter.tasks.measures.stored_chunks import Cost, versions

MODEL, DTYPE = "smollm2-135m-instruct", "float32"
STEP_SECONDS = 0.1  # duration of score_in_time


def score_in_time(step: Step, settings: RunSettings) -> Cost:
    """Write made-up scores, and wait until the step has taken `STEP_SECONDS`; return its cost."""
    start = time.perf_counter()
    prompts = len(step.table("queries").read())
    write_made_up(step, "persuasion", np.random.default_rng(0))
    time.sleep(max(0.0, STEP_SECONDS - (time.perf_counter() - start)))
    return Cost(prompts, 0, time.perf_counter() - start)


def write_made_up(step: Any, group: str, rng: np.random.Generator) -> None:
    """Write the scores of a step.

    Args:
        step: The step; a step of susceptibility has scores of persuasion as an input.
        group: "persuasion" or "susceptibility".
        rng: Generator of the scores of persuasion.
    """
    queries, contexts = step.table("queries").read(), step.table("contexts").read()
    shape = (len(queries), len(contexts))
    if group == "persuasion":
        query_rows, context_rows = np.arange(shape[0]).repeat(shape[1]), np.tile(np.arange(shape[1]), shape[0])
        about, other = queries["entity"].to_numpy(), contexts["entity"].to_numpy()
        columns = {
            "query_id": queries["query_id"].take(pa.array(query_rows)),
            "context_id": contexts["context_id"].take(pa.array(context_rows)),
            "relevant": (about[:, None] == other[None, :]).ravel(),
            "persuasion": rng.gamma(0.7, 0.8, shape).ravel(),
        }
    else:
        scores = step.table("persuasion").read()["persuasion"].to_numpy().reshape(shape)
        means = {"contexts": np.full(shape[0], shape[1]), "susceptibility": scores.mean(axis=1)}
        columns = {"query_id": queries["query_id"], **means}
    about_file = {
        **versions(),
        "pass": group,
        "started_at": "2026-01-01T00:00:00+00:00",
        "seconds": 1.0,
        "finished_at": "2026-01-01T00:00:01+00:00",
        "forward_passes": 1,
        "prompts": len(columns["query_id"]),
    }
    model = step.table(group).key_inputs["parameters"]["model"]
    step.table(group).write(_with_origin(step.table(group).table, step.id.subject, model, columns), about_file)


def _with_origin(table: Table, relation: str, model: str, columns: Mapping[str, Any]) -> pa.Table:
    """Return the scores with the columns on their origin, such as model and device."""
    shared = {
        "relation": relation,
        "variant": f"{model}/{DTYPE}",
        "model": model,
        "model_revision": "made up",
        "dtype": DTYPE,
        "device": "cpu",
        "engine": "made up",
        "dataset_version": "1",
        "stand_in": None,
    }
    count = len(columns["query_id"])
    rows = {
        field.name: pa.repeat(pa.scalar(shared[field.name], field.type), count)
        if field.name in shared
        else columns[field.name]
        for field in table.schema
    }
    return pa.table(rows, schema=table.schema)
