"""The step that draws the report from the database."""

import functools
import inspect
import sys
from importlib import resources
from pathlib import Path

from swaymeter.data import catalog
from swaymeter.data.digests import content_key, sha256_of
from swaymeter.data.records.findings import NotRun
from swaymeter.data.warehouse.queries import NAMED_QUERIES, queries_digest
from swaymeter.flows.graph.graph import Graph, Node
from swaymeter.flows.stages.build import Built
from swaymeter.flows.stages.fetch import Fetched
from swaymeter.flows.stages.plan import Plan
from swaymeter.flows.stages.study_graph import REPORT

PRINTED = ("models.yaml", "papers.yaml", "published.csv")
"""The files of the catalog that reports print: what a model is called, what papers show, and their values."""


def report(graph: Graph, plan: Plan, fetched: Fetched, built: Built, database: Node) -> Node:
    """Adds the step."""
    not_run = tuple(
        NotRun(
            f"{node.id.subject} {node.id.part}".strip(), plan.called(node.id), measure,
            reason or "not computed yet",
        )
        for node in graph
        if node.id.stage == "score"
        for measure, state, reason in plan.measure_states(node)
        if state != "done"
    )  # fmt: skip
    facts = {f"facts: {name}": reference for name, reference in fetched.facts.items()}
    questions = {f"questions: {name}": reference for name, reference in built.questions.items()}
    return graph.add(
        REPORT, REPORT.id("study"), {"files": graph.workspace.report_artifact},
        inputs={"database": database.output("files")}, optional={**facts, **questions},
        parameters={
            "study": plan.study.model_dump(mode="json", exclude={"execution"}),
            "drawn by": _digest_of_reports(),
            "added": _added(),
            "catalog": {name: catalog.digest(name) for name in PRINTED},
            "queries": queries_digest(NAMED_QUERIES),
            "not_run": [[row.relation, row.model, row.measure, row.reason] for row in not_run],
        },
        arguments=(plan.study, not_run),
    )  # fmt: skip


def _added() -> dict[str, list[str]]:
    """The figures and tables that were added from outside, by name, with the digest of the file that draws each."""
    added = {}
    for module, name in (("swaymeter.reports.figures", "FIGURES"), ("swaymeter.reports.tables", "TABLES")):
        registry = getattr(sys.modules.get(module), name, None)  # else nobody has added any
        for item in (registry[name] for name in sorted(registry.added)) if registry else ():
            code = inspect.unwrap(getattr(item, "draw", None) or item.rows)
            file = getattr(inspect.getmodule(getattr(code, "func", code)), "__file__", None)
            added[item.name] = [*item.queries, sha256_of(Path(file)) if file else ""]
    return added


@functools.cache
def _digest_of_reports() -> str:
    """The digest of the code that draws: a figure that is added or changed is drawn, without importing any here."""
    folder = Path(str(resources.files("swaymeter.reports")))
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".html", ".css", ".js"))
    return content_key({path.relative_to(folder).as_posix(): sha256_of(path) for path in files})
