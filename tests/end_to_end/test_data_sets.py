"""A study of a published data set with a tiny model, from its file to the page."""

from pathlib import Path
from typing import Any

import duckdb
import yaml

from swaymeter.flows.api import Study
from swaymeter.flows.study_graph import graph_of
from tests.data.sources.layouts.samples import write
from tests.flows.small_study import run
from tests.reports.pixels import without_figures
from tests.tasks.models.tiny import save_language_model


def test_published_data_set_runs_to_the_page(tmp_path: Path) -> None:
    content = {
        "name": "published",
        "questions": {"source": "conflictqa", "file": str(write(tmp_path, "conflictqa"))},
        "models": [{"name": str(save_language_model(tmp_path / "model")), "dtype": "float32", "device": "cpu"}],
        "measures": {"answers": {"samples": 1, "max_new_tokens": 3}, "whose_answer": {}},
    }
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    study = Study.load(str(tmp_path / "study.yaml"), str(tmp_path / "workspace"))
    shared_results: dict[Any, Any] = {}
    with without_figures():
        graph = run(lambda: graph_of(study.plan, shared_results))
    assert {str(node.id): node.reason for node in graph if node.state != "done"} == {}
    with duckdb.connect(study.workspace.database, read_only=True) as database:
        counts = database.execute(
            "SELECT q.partition, w.condition, count(*) FROM whose_answer AS w JOIN questions AS q USING (question_id) "
            "WHERE w.sample = 0 GROUP BY ALL ORDER BY ALL"
        ).fetchall()
        rejected = database.execute("SELECT part, source, licence FROM rejected ORDER BY part").fetchall()
    assert counts == [
        ("PopQA", "conflicting", 12),
        ("PopQA", "none", 6),
        ("PopQA", "supporting", 12),
        ("StrategyQA", "conflicting", 8),
        ("StrategyQA", "none", 4),
        ("StrategyQA", "supporting", 8),
    ]
    origin = ("ConflictQA, Xie et al. 2023, arXiv:2305.13300", "Apache 2.0")
    assert rejected == [("line 11", *origin), ("line 12", *origin)]
    assert "ConflictQA" in (study.workspace.report / "index.html").read_text(encoding="utf-8")
