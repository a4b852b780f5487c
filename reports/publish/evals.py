"""Results as records of Every Eval Ever, version 0.2.2 of its schema: a file for each model and precision.

Schema: https://github.com/evaleval/every_eval_ever, eval.schema.json. It asks of every metric whether less is better,
and of a number which values it can have. How far a context sways a model is neither good nor bad: each record says so.
Quantities without a largest value are left out, and named.
"""

import math
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import pandas as pd

from swaymeter.data.digests import uuid_of
from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.frames import records
from swaymeter.reports.models import Model, asked_model, file_slug, models, rows_of
from swaymeter.reports.publish.publication import Known, Publication

SCHEMA_VERSION = "0.2.2"
_BETTER = frozenset({"correct"})
"""Quantities of which more is better."""
_RANGES = {"continuous_utilisation": (-1.0, 1.0)}


def evaluations(study: Publication, frames: Mapping[str, pd.DataFrame]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where the record of each model and precision with results goes in the datastore of the schema, and the record."""
    results = frames["models_side_by_side"]
    for model in models(results):
        content = _record(study, model, {name: rows_of(frame, model) for name, frame in frames.items()})
        if content["evaluation_results"]:
            developer, _, name = content["model_info"]["id"].rpartition("/")
            folders = (file_slug(study.card.name), file_slug(developer or "unknown"), file_slug(name))
            record_id = uuid_of(content["evaluation_id"])
            yield "/".join(("data", *folders, f"{record_id}.json")), content


def _record(study: Publication, model: Model, frames: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
    card = study.card
    runs, origins = records(frames["runs"]), records(frames["origins_in_short"])
    known = study.models.get(asked_model(model.name), Known(model.name, "not stated"))
    ended = max((str(run["finished_at"]) for run in runs), default=card.made_at)
    rows = records(frames["models_side_by_side"])
    ranges = {row["quantity"]: _range(row["quantity"], row["unit"], frames) for row in rows}
    left_out = sorted({str(row["quantity"]) for row in rows if ranges[row["quantity"]] is None})
    details = {
        "dtype": model.dtype,
        "revision": _each(origins, "model_revision"),
        "device": _each(origins, "device"),
        "engine": _each(origins, "engine"),
        "licence": known.licence,
        "deployment_type": "self_deployed",
        "model_availability": "open_weights",
    }
    first = runs[0] if runs else {}
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{file_slug(card.name)}/{known.hub}/{model.dtype}/{study.key[:12]}",
        "evaluation_timestamp": ended,
        "retrieved_timestamp": f"{datetime.fromisoformat(card.made_at).timestamp():.0f}",
        "source_metadata": {
            "source_name": card.name,
            "source_type": "evaluation_run",
            "source_organization_name": study.by,
            "evaluator_relationship": "third_party",
            "additional_details": {
                "asked": card.asked,
                "left_out_without_a_largest_value": ", ".join(left_out) or "none",
            },
        },
        "eval_library": {"name": "swaymeter", "version": str(first.get("swaymeter_version", "unknown"))},
        "model_info": {
            "name": str(model),
            "id": known.hub,
            **({"developer": known.hub.partition("/")[0]} if "/" in known.hub else {}),
            "inference_engine": {"name": "transformers", "version": str(first.get("transformers_version", "unknown"))},
            "additional_details": details,
        },
        "evaluation_results": [
            _result(study, row, limits) for row in rows if (limits := ranges[row["quantity"]]) is not None
        ],
    }


def _each(rows: list[dict[str, Any]], column: str) -> str:
    return ", ".join(sorted({str(row[column]) for row in rows})) or "unknown"


def _range(quantity: str, unit: str, frames: Mapping[str, pd.DataFrame]) -> tuple[float, float] | None:
    """The least and the largest value that a quantity can have; None where it has no largest."""
    if quantity in _RANGES:
        return _RANGES[quantity]
    if unit == SHARE:
        return 0.0, 1.0
    coverage = records(frames["coverage_of_susceptibility"])
    if quantity == "susceptibility" and coverage:  # a mean of divergences from their mixture
        return 0.0, math.log(int(coverage[0]["most_contexts"]))
    return None


def _result(study: Publication, row: Mapping[str, Any], limits: tuple[float, float]) -> dict[str, Any]:
    quantity, group = str(row["quantity"]), str(row["group"])
    uncertainty: dict[str, Any] = {"num_samples": int(row["n"])}
    if pd.notna(row["low"]) and pd.notna(row["high"]):
        uncertainty["confidence_interval"] = {
            "lower": float(row["low"]), "upper": float(row["high"]), "confidence_level": 0.95,
            "method": f"{'Wilson, by cluster' if row['unit'] == SHARE else 'percentile bootstrap'}, over "
            f"{row['interval_over']}",
        }  # fmt: skip
    judged = quantity in _BETTER
    return {
        "evaluation_result_id": f"{quantity}/{group}",
        "evaluation_name": f"swaymeter.{quantity}.{group}",
        "source_data": {
            "dataset_name": study.card.name,
            "source_type": "other",
            "source_version": study.key[:16],
            "additional_details": {"sources": "; ".join(study.card.sources)},
        },
        "metric_config": {
            "evaluation_description": f"{quantity.replace('_', ' ')}, {group.replace('_', ' ')}",
            "metric_id": f"swaymeter.{quantity}",
            "metric_name": quantity.replace("_", " "),
            "metric_unit": "proportion" if row["unit"] == SHARE else str(row["unit"]),
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": limits[0],
            "max_score": limits[1],
            "additional_details": {"direction": "more is better" if judged else "neither more nor less is better"},
        },
        "score_details": {"score": float(row["mean"]), "uncertainty": uncertainty},
    }
