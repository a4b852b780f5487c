"""How a step reaches services: by the study's settings, in the sessions of its process."""

from data.sources.access import Access
from data.storage.workspace import Workspace
from flows.graph.step import Run, Step
from flows.study.study import Study


def access_for_keys(study: Study, workspace: Workspace) -> Access:
    """Access that knows addresses and downloaded files; nothing is requested."""
    return study.access(workspace.downloads, offline=True)


def access_for(study: Study, step: Step, run: Run) -> Access:
    """Access for a step of a run."""
    return study.access(
        Workspace(run.workspace).downloads, offline=run.offline, not_before=step.not_before, refreshed=step.refreshed
    )
