"""The headline numbers that a study watches, held against their bounds."""

from pathlib import Path

from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.steps.aggregate import schema
from swaymeter.flows.study.study import Study
from swaymeter.flows.study.thresholds import Judged, judged, measured_of, watched


def watch(study: Study, database: Path) -> Judged:
    """Each bound of the study for each model.

    Raises:
        WorkFailed: Nothing of a kind that is watched was measured.
        WorkspaceError: There is no database, or one of another version.
    """
    with opened(database, schema()) as warehouse:
        measured = measured_of(warehouse.frame("models_side_by_side"), warehouse.frame("silent_replies"))
    return judged(watched(study.watch), measured)
