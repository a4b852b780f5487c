"""The headline numbers of a study judged by its thresholds."""

from pathlib import Path

from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.config.thresholds import JudgedThresholds, judged, measured_of, thresholds_of_bounds
from swaymeter.flows.stages.aggregate import schema


def judge_thresholds(study: StudyFile, database: Path) -> JudgedThresholds:
    """Return each threshold of the study for each model.

    Raises:
        WorkFailed: No quantity of a threshold was measured.
        WorkspaceError: The database is missing, or has another version.
    """
    with opened(database, schema()) as warehouse:
        measured = measured_of(warehouse.frame("models_side_by_side"), warehouse.frame("silent_replies"))
    return judged(thresholds_of_bounds(study.thresholds), measured)
