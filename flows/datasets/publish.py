"""Publication of a study: figures, tables, data, and the commands that repeat it."""

import os
import platform
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from swaymeter.data import catalog
from swaymeter.data.errors import UsageError
from swaymeter.data.storage.workspace import DATABASE
from swaymeter.flows.config.study import StudyFile, study_file
from swaymeter.flows.stages.aggregate import schema
from swaymeter.flows.stages.build import seed_part
from swaymeter.flows.stages.contents import Contents
from swaymeter.flows.stages.report import DRAW_REPORT, card_of
from swaymeter.reports.publish.publication import ModelEntry, Publication
from swaymeter.tasks.models.machine import processor


def publish(contents: Contents, study_name: str, folder: Path) -> Path:
    """Write the publication of a study completely or not at all, and return the path of its manifest.

    Args:
        contents: The study and its artifacts.
        study_name: Name or path of the study, as the user wrote it.
        folder: The folder of the publication.

    Raises:
        UsageError: The database of the study is not up to date.
        WorkspaceError: The folder has other files than a publication.
    """
    # The imports of pandas and matplotlib take seconds.
    from swaymeter.data.warehouse.warehouse import opened
    from swaymeter.reports.publish import publish as write

    folder = Path(os.path.realpath(folder))
    step = contents.graph.nodes[DRAW_REPORT.id("study")].step
    if step is None:
        raise UsageError(
            f"the study {contents.study.name} has no current database, so there is nothing to publish; run "
            f"`swaymeter run {shlex.quote(study_name)}` first"
        )
    database: Any = step.inputs["database"]
    file = study_file(study_name)
    publication = Publication(
        card=card_of(step),
        study_file=file.read_text(encoding="utf-8"),
        key=database.key,
        database=database.folder / DATABASE,
        tables=schema(),
        models=dict(_models(contents.study)),
        commands=("swaymeter run study.yaml", f"swaymeter publish study.yaml {shlex.quote(folder.name)}"),
        further=list(_scores_of_further_seeds(contents)),
        publishing_machine=_machine(),
    )
    with opened(publication.database, schema(), exports=folder.parent) as warehouse:
        return write(publication, warehouse, folder)


def _machine() -> dict[str, object]:
    """Return the hardware of this machine, which may differ from the machine that computed the scores."""
    import torch

    return {
        "system": platform.system(),
        "processor": processor(),
        "threads": os.cpu_count(),
        "gpus": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())],
    }


def _scores_of_further_seeds(contents: Contents) -> Iterator[dict[str, object]]:
    """Yield a description of each finished table of scores of a further seed."""
    parts = {seed_part(seed): seed for seed in contents.study.further_seeds}
    for node in contents.graph:
        if node.id.stage == "score" and node.id.part in parts:
            for measure, check in node.checks.items():
                if check.state == "done":
                    yield {
                        "seed": parts[node.id.part],
                        "relation": node.id.subject,
                        "model": node.id.model,
                        "dtype": node.id.dtype,
                        "measure": measure,
                        "key": node.output(measure).artifact.key,
                    }


def _models(study: StudyFile) -> Iterator[tuple[str, ModelEntry]]:
    """Yield each model with its name at the hub and its licence; a model in a folder has only the folder's name."""
    for model in study.models:
        entry = catalog.models().get(model.name)
        hub = entry.hub or entry.alias if entry else model.name
        hub_name = Path(hub).name if Path(hub).is_dir() else hub
        yield model.name, ModelEntry(hub_name, entry.licence if entry else "not stated")
