"""Nightly runs of a study: every planted change between two runs is found and named."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.dataset.snapshot import Comparison
from swaymeter.data.storage.history_files import last_items, snapshot_files
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.api import Study
from swaymeter.flows.cli.commands import comparisons
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.stages.aggregate import schema
from swaymeter.flows.study_graph import graph_of
from swaymeter.reports.changes import LAST_CHANGES, NUMBERS, section, source_changes
from swaymeter.tasks.statistics.changes import changes_of_run
from tests.flows.small_study import run, write_study
from tests.tasks.models.tiny import save_language_model

HOSTILE = "<script>alert(1)</script>"
CAPITALS = {"Norway": "Oslo", "Peru": "Lima", "Kenya": "Nairobi", "Italy": "Rome", "Japan": "Tokyo", "Chad": HOSTILE}


class Nights:
    """A study that runs every night; its contexts, prompt and model may change between two runs."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.model = folder, folder / "model"
        save_language_model(self.model)
        self.study: dict[str, Any] = {
            "name": "nights",
            "workspace": str(folder / "workspace"),
            "questions": {"source": "file", "file": str(folder / "questions.jsonl")},
            "models": [{"name": str(self.model), "dtype": "float32", "device": "cpu", "label": "tiny"}],
            "measures": {"answers": {"samples": 1, "max_new_tokens": 3}, "whose_answer": {}},
        }
        self.contexts = {country: f"The capital of {country} is Bern." for country in CAPITALS}

    def run(self) -> None:
        """Run every unfinished step except the report."""
        rows = (
            {
                "question": f"What is the capital of {country}?",
                "answer": capital,
                "context": self.contexts[country],
                "context_answer": "Bern",
                "kind": "conflicting",
            }
            for country, capital in CAPITALS.items()
        )
        (self.folder / "questions.jsonl").write_text("\n".join(map(json.dumps, rows)))
        study, shared_results = Study.load(write_study(self.folder, self.study)), dict[Any, Any]()
        stages = Selection(stages=("fetch", "build", "score", "aggregate"))
        graph = run(lambda: graph_of(study.plan, shared_results), stages)
        assert {node.state for node in graph if node.id.stage != "report"} == {"done"}

    def states(self) -> dict[tuple[str, str], str]:
        with opened(self.folder / "workspace" / "study.duckdb", schema()) as warehouse:
            last = warehouse.frame("states_of_last_run").query("kind != 'run'")
        return dict(zip(zip(last["kind"], last["item"], strict=True), last["state"], strict=True))

    def comparison(self, run: int) -> Comparison:
        _, changes = comparisons.select_run(comparisons.read_history(self.folder / "workspace" / "study.duckdb"), run)
        assert changes is not None
        return changes.comparison


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Nights:
    """Run the first night, two nights without a change, then one night each with a new context, prompt and model."""
    nights = Nights(tmp_path_factory.mktemp("nights"))
    nights.run()
    nights.run()  # every step is done: no snapshot
    (nights.folder / "workspace" / "history" / "manifest.json").unlink()
    nights.run()  # the database is made again, without new scores: no snapshot
    nights.contexts["Norway"] = f"In Norway the capital is Bern {HOSTILE}."
    nights.run()
    nights.study["prompt"] = {"system": "Be short."}
    nights.run()
    shutil.rmtree(nights.model)
    save_language_model(nights.model, seed=1)
    nights.run()
    return nights


def test_the_first_night_has_no_comparison(nights: Nights) -> None:
    history = comparisons.read_history(nights.folder / "workspace" / "study.duckdb")
    assert comparisons.select_run(history, 1) == (1, None)


def test_a_changed_context_is_named(nights: Nights) -> None:
    comparison = nights.comparison(2)
    assert (comparison.settings, comparison.moved) == ([], [])
    ((source, ((sign, line),)),) = source_changes(comparison.dataset_changes).items()
    assert (source, sign) == ("questions: questions", "~")
    assert "The capital of Norway is Bern." in line
    assert comparison.other_replies == {"asked with other texts": 1}


def test_a_changed_prompt_is_named(nights: Nights) -> None:
    comparison = nights.comparison(3)
    assert ([name for name, *_ in comparison.settings], comparison.dataset_changes.differs) == (
        ["prompt.system"],
        False,
    )
    # The snapshot stores a key of the prompt as JSON within JSON.
    assert json.loads(json.loads(comparison.settings[0].after or "")) == "Be short."


def test_a_changed_revision_is_named(nights: Nights) -> None:
    comparison = nights.comparison(4)
    assert ([name for name, *_ in comparison.settings], comparison.dataset_changes.differs) == (
        ["revision of tiny (float32)"],
        False,
    )
    assert comparison.other_replies.total() + len(comparison.flips) > 0


def test_a_snapshot_has_the_parameters_of_measures(nights: Nights) -> None:
    states = nights.states()
    assert states["setting", "answers.max_new_tokens"] == "3"
    assert states["setting", "answers.samples"]


def test_the_page_names_changes_and_escapes_texts(nights: Nights) -> None:
    with opened(nights.folder / "workspace" / "study.duckdb", schema()) as warehouse:
        names = (LAST_CHANGES, NUMBERS, comparisons.CHANGES_OF_RUNS)
        last, numbers, changes = (warehouse.frame(name) for name in names)
    assert "revision of tiny (float32)" in section(changes_of_run(last, numbers))
    text = section(changes_of_run(changes.query("run == 2"), numbers))
    assert "alert(1)" in text
    assert "<script" not in text


def test_a_damaged_snapshot_is_not_read(nights: Nights, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shutil.copytree(nights.folder / "workspace" / "history", tmp_path / "history")
    files = snapshot_files(tmp_path / "history")
    assert len(files) == 4
    number, items = last_items(files)
    assert number == 4
    assert {(kind, item): state for (kind, _, _, item), state in items.items() if kind == "setting"} == {
        (kind, item): state for (kind, item), state in nights.states().items() if kind == "setting"
    }
    files[0].write_bytes(files[0].read_bytes()[:-1])
    (tmp_path / "history" / "items-000001-0.parquet").touch()  # a name of an earlier version
    assert snapshot_files(tmp_path / "history") == files[1:]
    assert "was made by an earlier version; a new history begins with this run" in caplog.text
