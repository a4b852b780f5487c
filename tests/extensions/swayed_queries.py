"""Stage `report`: a CSV file with the five most swayed queries of each relation."""

from collections.abc import Mapping
from typing import Any

from swaymeter.data.storage.artifact import FilesArtifact, write_manifest
from swaymeter.data.storage.workspace import DATABASE
from swaymeter.data.warehouse.queries import queries_digest
from swaymeter.flows.graph.graph import Graph, PlannedStep, RunSettings, Step, StepKind
from swaymeter.flows.stages.aggregate import schema

COUNT, QUERY = 5, "susceptibility_of_queries"


def write_swayed_queries(step: Step, settings: RunSettings) -> None:
    """Write the queries of highest susceptibility, for each relation under each model."""
    from swaymeter.data.warehouse.warehouse import opened  # takes seconds to import
    from swaymeter.reports.report import write_csv

    artifact: Any = step.outputs["files"]
    with opened(step.inputs["database"].folder / DATABASE, schema()) as warehouse:
        rows = warehouse.frame(QUERY)
    groups = ["model", "dtype", "relation"]
    ordered = rows.sort_values([*groups, "susceptibility", "query_id"], ascending=[True, True, True, False, True])
    largest = ordered.groupby(groups)
    file = artifact.folder / "swayed-queries.csv"
    file.parent.mkdir(exist_ok=True)
    write_csv(file, largest.head(step.arguments))
    write_manifest(artifact.manifest, artifact.key, [file])


WRITE_SWAYED_QUERIES = StepKind("report", "swayed queries", makes=("files",), function=write_swayed_queries)


def add_swayed_queries(graph: Graph, database: PlannedStep) -> PlannedStep:
    """Add the step, which needs the database."""

    def files(key_inputs: Mapping[str, Any]) -> FilesArtifact:
        return FilesArtifact(graph.workspace.report.with_name("swayed-queries") / "manifest.json", key_inputs)

    return graph.add(
        WRITE_SWAYED_QUERIES,
        WRITE_SWAYED_QUERIES.id("study"),
        {"files": files},
        inputs={"database": database.output("files")},
        parameters={"count": COUNT, "queries": queries_digest([QUERY])},
        arguments=COUNT,
    )
