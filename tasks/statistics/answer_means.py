"""How far contexts move the sampled answers of a partition's questions, and how uncertain these are.

Groups: partitions under a context; the same by what the context did to the greedy answer. Unit of analysis: an
instance, that is a question with a context. The mean coherent persuasion of a partition has a bootstrap interval.
Beside them the mean standard error of a question's scores, over all conditions. There is no test.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from data.records.statistics import Summary
from tasks.statistics.statistic import Row, Statistic

if TYPE_CHECKING:
    import pandas as pd

_KEYS = ["model", "dtype", "condition", "partition"]
_MOVED = "coherent_persuasion"


def compute(frames: "Mapping[str, pd.DataFrame]", seed: int) -> list[Row]:
    """The rows of `Summary` for coherent persuasion, semantic entropy and their standard errors."""
    from tasks.statistics.frames import by, sorted_by
    from tasks.statistics.summary import summary

    frame = sorted_by(frames["instances"], [*_KEYS, "relation", "question_id"])
    rows = []
    for of, group in by(frame.dropna(subset=[_MOVED]), _KEYS):
        grouped = {name: of.pop(name) for name in ("condition", "partition")}
        about: dict[str, Any] = {
            "unit_of_analysis": "instance",
            "interval": True,
            "quantiles": True,
            "grouped_by": grouped,
        }
        rows.append(summary(_MOVED, "nats", of, group[_MOVED], **about))
    for entropy in ("semantic_entropy_without", "semantic_entropy_with"):
        both = frame.dropna(subset=[entropy, _MOVED])
        for of, group in by(both, [*_KEYS, "outcome"]):
            grouped = {name: of.pop(name) for name in ("condition", "partition", "outcome")}
            rows.append(summary(entropy, "nats", of, group[entropy], unit_of_analysis="instance", grouped_by=grouped))
            beside: dict[str, Any] = {"unit_of_analysis": "instance", "grouped_by": {**grouped, "beside": entropy}}
            rows.append(summary(_MOVED, "nats", of, group[_MOVED], **beside))
    answers = frames["answers_of_questions"]
    for error in ("semantic_entropy_standard_error", "coherent_persuasion_standard_error"):
        for of, group in by(answers.dropna(subset=[error]), ["model", "dtype"]):
            values = group[error].sort_values()
            rows.append(summary(error, "nats", of, values, unit_of_analysis="question under a condition"))
    return rows


STATISTIC = Statistic("answer_means", 1, Summary, ("instances", "answers_of_questions"), compute)
