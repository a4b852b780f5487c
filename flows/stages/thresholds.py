"""Comparison of the headline numbers of a study with its thresholds."""

from pathlib import Path

from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.config.thresholds import (
    ThresholdOutcomes,
    compare_with_thresholds,
    measured_quantities,
    thresholds_of_bounds,
)
from swaymeter.flows.stages.aggregate import schema


def study_threshold_outcomes(study: StudyFile, database: Path) -> ThresholdOutcomes:
    """Return each threshold of the study with the quantity of each model, and the reason if it is not met.

    Raises:
        WorkFailed: A model lacks the quantity of a threshold, or the interval whose end a threshold bounds.
        WorkspaceError: The database is missing, or has another version.
    """
    with opened(database, schema()) as warehouse:
        measured = measured_quantities(warehouse.frame("models_side_by_side"), warehouse.frame("silent_replies"))
    return compare_with_thresholds(thresholds_of_bounds(study.thresholds), measured)
