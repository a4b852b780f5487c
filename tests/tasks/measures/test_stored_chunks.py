"""Chunks, parts and whole files of scores, and their recomputation after kills and damage."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import pytest

from swaymeter.data.errors import ScoreError
from swaymeter.data.records.row import Meaning, table, table_of
from swaymeter.data.records.score import Score
from swaymeter.data.storage.artifact import FORCED, TableArtifact
from swaymeter.tasks.measures import MEASURES, measure, stored_chunks
from swaymeter.tasks.measures.measure import Chunk, ComputedRows, Inputs, Measure, Row, cut, cut_by_form
from swaymeter.tasks.measures.stored_chunks import Cost, measure_relation
from swaymeter.tasks.models.progress import report_prompts
from tests.registries import added

Run = Callable[..., Cost]
Outputs = dict[str, TableArtifact]

ITEMS = [f"item {number}" for number in range(5)]


@table("first", "an item")
@dataclass(frozen=True, slots=True, kw_only=True)
class First(Score):
    """A score of an item."""

    item: Annotated[str, Meaning("the item")]
    score: Annotated[int, Meaning("its score")]


@table("second", "an item")
@dataclass(frozen=True, slots=True, kw_only=True)
class Second(First):
    """The negative score of an item."""


@dataclass
class FakeModel:
    """A model that counts its calls."""

    name = revision = dtype = device = placement = hardware = "fake"
    forward_passes: int = 0
    parameters: int = 7
    reading: str | None = None


@dataclass
class FakeMeasures:
    """Two measures of one pass. The second measure can be derived from the first.

    Attributes:
        size: number of items of a chunk.
        factor: factor of the scores.
        dies_at: number of the chunk at which the pass dies; None for no chunk.
        computed: chunks that were computed.
        derived: chunks that were derived.
        model: model of the pass.
    """

    size: int = 2
    factor: int = 1
    dies_at: int | None = None
    computed: list[Chunk] = field(default_factory=list)
    derived: list[Chunk] = field(default_factory=list)
    model: FakeModel = field(default_factory=FakeModel)

    def compute(self, inputs: Inputs, model: FakeModel, todo: Sequence[Chunk]) -> ComputedRows:
        for chunk in todo:
            if ITEMS.index(chunk[0]) // self.size == self.dies_at:
                raise KeyboardInterrupt
            self.computed.append(chunk)
            model.forward_passes += 3
            for _ in range(3):  # a chunk of two items has more reports than items
                report_prompts()
            rows = [{"item": item, "score": self.factor * int(item[-1]), "engine": "fake"} for item in chunk]
            yield {"first": rows, "second": [{**row, "score": -row["score"]} for row in rows]}

    def derive(self, inputs: Inputs, model: None, chunk: Chunk) -> Iterator[Row]:
        self.derived.append(chunk)
        yield from ({**row, "score": -row["score"]} for row in inputs.scores["first"].to_pylist())

    def measures(self) -> Iterator[Measure]:
        common: dict[str, Any] = {"version": 1, "meaning": "", "about": "queries"}
        yield Measure(
            row=First,
            compute_chunks=self.compute,
            capability="gradients",
            chunks=lambda inputs, model: cut(ITEMS, self.size),
            **common,
        )
        yield Measure(
            row=Second,
            compute=self.derive,
            needs=("first",),
            computed_with="first",
            chunks=lambda inputs, model: [ITEMS],
            **common,
        )


@pytest.fixture
def outputs(tmp_path: Path) -> Outputs:
    tables = (table_of(First), table_of(Second))
    return {table.name: TableArtifact(tmp_path, table.name, table, {"measure": table.name}) for table in tables}


@pytest.fixture
def run(outputs: Outputs) -> Run:
    def score(fake: FakeMeasures, *names: str, forced: int = 0, **options: Any) -> Cost:
        first, second = fake.measures()
        with added(MEASURES, first), added(MEASURES, second):
            selected = {name: forced_artifact(outputs[name], forced) for name in names or outputs}
            return measure_relation(Inputs("capital", 7, "digest"), selected, lambda: fake.model, **options)

    return score


def forced_artifact(artifact: TableArtifact, number: int) -> TableArtifact:
    """Return the artifact whose key has the number of a `--force`; 0 stands for a run without `--force`."""
    return replace(artifact, key_inputs={**artifact.key_inputs, FORCED: number}) if number else artifact


def scores(artifact: TableArtifact) -> list[int]:
    return [row["score"] for row in artifact.read().to_pylist()]


def files(outputs: Outputs) -> set[str]:
    return {path.name for path in outputs["first"].folder.iterdir()}


def test_chunks_become_whole_files_with_their_cost(run: Run, outputs: Outputs) -> None:
    reports: list[tuple[int, int]] = []
    cost = run(FakeMeasures(), progress=lambda done, total: reports.append((done, total)))
    assert (scores(outputs["first"]), scores(outputs["second"])) == ([0, 1, 2, 3, 4], [0, -1, -2, -3, -4])
    assert files(outputs) == {output.files()[0].name for output in outputs.values()}
    assert reports == [(0, 5), (2, 5), (4, 5), (5, 5)]
    assert (cost.prompts, cost.forward_passes) == (5, 9)
    first, second = (outputs[name].about() for name in ("first", "second"))  # the first measure has the cost of both
    assert (first["prompts"], first["forward_passes"], first["seconds"]) == (5, 9, pytest.approx(cost.seconds))
    assert (second["prompts"], second["forward_passes"], second["seconds"], second["pass"]) == (0, 0, 0, "first")
    assert first["started_at"] <= first["finished_at"]
    assert {"swaymeter_version", "torch_version", "transformers_version", "hardware", "reading"} <= first.keys()


def test_prompts_within_a_chunk_are_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    reports: list[tuple[int, int]] = []
    monkeypatch.setattr(stored_chunks, "REPORT_SECONDS", 0)
    run(FakeMeasures(size=3), progress=lambda done, total: reports.append((done, total)))
    # Each chunk has three reports within it, and a report at its end.
    assert [done for done, _ in reports] == [0, 1, 2, 3, 3, 4, 5, 5, 5]


def test_measure_with_nothing_to_compute_has_empty_table(
    run: Run, outputs: Outputs, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tests.tasks.measures.test_stored_chunks.ITEMS", [])
    assert run(FakeMeasures(), "first") == Cost()
    assert "relation capital: first has no rows, because it applies to no prompt" in caplog.text
    assert outputs["first"].read().schema == table_of(First).schema
    about, costs = outputs["first"].about(), {"prompts": 0, "forward_passes": 0, "seconds": 0}
    assert about.items() >= {"pass": "first", "hardware": "fake", **costs}.items()
    assert scores(outputs["first"]) == []


def test_complete_scores_are_not_computed_again(run: Run) -> None:
    run(FakeMeasures())
    rerun = FakeMeasures()
    assert run(rerun) == Cost()
    assert not rerun.computed


def test_a_killed_run_resumes_at_its_chunk(run: Run, outputs: Outputs) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FakeMeasures(dies_at=1))
    assert not any(output.check().state == "done" for output in outputs.values())
    rerun = FakeMeasures()
    assert run(rerun).prompts == 3
    assert rerun.computed == cut(ITEMS, 2)[1:]
    assert scores(outputs["first"]) == [0, 1, 2, 3, 4]
    assert outputs["first"].about()["forward_passes"] == 9


def test_only_the_damaged_part_is_computed_again(run: Run, outputs: Outputs) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FakeMeasures(dies_at=2))
    (part,) = outputs["second"].part(0).files()
    part.write_bytes(b"PAR1 and then nothing")
    rerun = FakeMeasures()
    run(rerun)
    assert rerun.computed == [ITEMS[:2], ITEMS[4:]]
    assert scores(outputs["second"]) == [0, -1, -2, -3, -4]


def test_parts_of_another_cut_are_computed_again(run: Run, outputs: Outputs) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(FakeMeasures(dies_at=4, size=1))
    rerun = FakeMeasures(size=3)
    run(rerun)
    assert rerun.computed == cut(ITEMS, 3)
    assert len(files(outputs)) == 2


def test_damaged_whole_is_derived_again_without_model(run: Run, outputs: Outputs) -> None:
    run(FakeMeasures())
    (path,) = outputs["second"].files()
    path.write_bytes(path.read_bytes()[:-30])
    rerun = FakeMeasures()
    run(rerun)
    assert (rerun.computed, rerun.derived) == ([], [ITEMS])
    assert scores(outputs["second"]) == [0, -1, -2, -3, -4]


def test_forced_scores_resume_after_a_kill(run: Run, outputs: Outputs) -> None:
    run(FakeMeasures())
    with pytest.raises(KeyboardInterrupt):
        run(FakeMeasures(factor=10, dies_at=1), forced=7)
    assert scores(outputs["first"]) == [0, 1, 2, 3, 4]
    rerun = FakeMeasures(factor=10)
    run(rerun, forced=7)
    assert rerun.computed == cut(ITEMS, 2)[1:]
    assert scores(forced_artifact(outputs["first"], 7)) == [0, 10, 20, 30, 40]
    assert run(rerun, forced=7) == Cost()


def test_rows_that_break_the_table_leave_no_part(run: Run, outputs: Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: FakeMeasures, inputs: Inputs, model: Any, todo: Sequence[Chunk]) -> ComputedRows:
        yield {"first": [{"item": "x", "score": None, "engine": "fake"}]}

    monkeypatch.setattr(FakeMeasures, "compute", broken)
    with pytest.raises(ScoreError, match="relation capital: table first: score may not be NULL"):
        run(FakeMeasures(), "first")
    assert files(outputs) == set()


@pytest.mark.parametrize(("prompts_a_query", "size"), [(1, 12), (2, 10), (3, 7), (4, 6), (1000, 6), (0, 12)])
def test_a_chunk_has_enough_prompts_and_queries(
    prompts_a_query: int, size: int, prompts: Inputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "LEAST_PROMPTS", 20)
    monkeypatch.setattr(measure, "LEAST_QUERIES", 6)
    assert len(prompts.queries) == 12
    chunks = cut_by_form(prompts.queries, prompts_a_query)
    assert len(chunks[0]) == size
    forms = [(query.query_type, query.form) for queries in chunks for query in queries]
    assert forms == sorted((query.query_type, query.form) for query in prompts.queries)
