"""What eval.schema.json of Every Eval Ever, version 0.2.2, asks of the fields that are written.

Worded anew from https://github.com/evaleval/every_eval_ever (every_eval_ever/schemas/eval.schema.json), which states no
licence: names, types and rules only. It is stricter in one thing: a field that is not listed is refused.
"""

from typing import Any

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
DETAILS: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}


def of(required: str, optional: str = "", **fields: Any) -> dict[str, Any]:
    """An object with these fields; texts but for those that are given."""
    names = [*required.split(), *optional.split()]
    properties = {name: fields.get(name, TEXT) for name in names}
    return {"type": "object", "required": required.split(), "properties": properties, "additionalProperties": False}


METRIC = of(
    "lower_is_better",
    "evaluation_description metric_id metric_name metric_unit score_type min_score max_score additional_details",
    lower_is_better={"type": "boolean"}, score_type={"enum": ["binary", "continuous", "levels"]}, min_score=NUMBER,
    max_score=NUMBER, additional_details=DETAILS,
) | {"if": {"properties": {"score_type": {"const": "continuous"}}}, "then": {"required": ["min_score", "max_score"]}}

INTERVAL = of(
    "lower upper", "confidence_level method",
    lower=NUMBER, upper=NUMBER, confidence_level={"type": "number", "minimum": 0, "maximum": 1},
)  # fmt: skip
RESULT = of(
    "evaluation_name source_data metric_config score_details",
    "evaluation_result_id",
    source_data=of(
        "dataset_name source_type", "source_version additional_details",
        source_type={"const": "other"}, additional_details=DETAILS,
    ),
    metric_config=METRIC,
    score_details=of(
        "score", "uncertainty",
        score=NUMBER,
        uncertainty=of("", "num_samples confidence_interval", num_samples={"type": "integer"},
                       confidence_interval=INTERVAL),
    ),
)  # fmt: skip
SCHEMA = of(
    "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results",
    "evaluation_timestamp",
    source_metadata=of(
        "source_type source_organization_name evaluator_relationship", "source_name additional_details",
        source_type={"enum": ["documentation", "evaluation_run"]},
        evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
        additional_details=DETAILS,
    ),
    eval_library=of("name version"),
    model_info=of(
        "name id", "developer inference_engine additional_details",
        inference_engine=of("", "name version"), additional_details=DETAILS,
    ),
    evaluation_results={"type": "array", "items": RESULT},
)  # fmt: skip
