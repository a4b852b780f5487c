"""What lies in the score files is what the scoring functions say, at the right query and context."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from data.errors import DamagedFile, MissingFile, ModelError
from data.measures import FAMILIES, MEASURES
from data.records import Context, Query, is_relevant, of_row
from data.storage.keys import content_key
from tasks.measurement import chunks, measure
from tasks.measurement.chunks import Spent
from tasks.measurement.measure import do
from tasks.models import load_language_model
from tasks.scoring.persuasion import persuasion as score_persuasion
from tests.tasks.measurement.conftest import Prepared, rows


def test_persuasion_is_scored_at_its_query_and_its_context(prepared: Prepared, models: dict[str, str]) -> None:
    work = prepared.works["persuasion"]
    spent = do(work, prepared.workspace)
    queries = [of_row(Query, row) for row in rows(work.inputs["queries"])]
    contexts = [of_row(Context, row) for row in rows(work.inputs["contexts"])]
    assert len(queries) > chunks.LEAST_QUERIES
    assert spent.prompts == len(queries) * len(contexts)
    model = load_language_model(models["language"], dtype="float32", device="cpu")
    found = {(row["query_id"], row["context_id"]): row for row in rows(work.wanted["persuasion"])}
    sums = {row["query_id"]: row for row in rows(work.wanted["susceptibility"])}
    assert len(found) == len(queries) * len(contexts)
    for query in queries:
        direct = score_persuasion(model, [context.text for context in contexts], [query.text])
        scores = [found[query.query_id, context.context_id]["persuasion"] for context in contexts]
        np.testing.assert_allclose(scores, direct.scores[0], rtol=1e-4, atol=1e-6)
        assert sums[query.query_id]["susceptibility"] == pytest.approx(np.mean(scores), rel=1e-3)
        assert sums[query.query_id]["contexts"] == len(contexts)
        relevant = [found[query.query_id, context.context_id]["relevant"] for context in contexts]
        assert relevant == [is_relevant(context, query) for context in contexts]
        assert any(relevant)
        assert not all(relevant)
    assert len({round(row["persuasion"], 6) for row in found.values()}) > len(found) / 2


def test_scores_say_where_they_come_from(measured: Prepared, models: dict[str, str]) -> None:
    engines = {"correctness": "rouge-l", "answers": "slots", "fisher": "autograd"}
    for family, work in measured.works.items():
        version = content_key({name: stored.digest() for name, stored in work.inputs.items()})[:12]
        for name, stored in work.wanted.items():
            assert rows(stored), name
            for row in rows(stored):
                assert (row["model"], row["dtype"], row["device"]) == (models["language"], work.dtype, "cpu")
                assert row["engine"] == engines.get(family, "prefix tree")
                assert row["dataset_version"] == version
                assert row["stand_in"] is None
                assert row["relation"] == "capital" or MEASURES[name].inputs == "questions"


def test_what_is_done_asks_no_model(measured: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure, "load_language_model", lambda *_, **__: pytest.fail("a model was loaded"))
    for work in measured.works.values():
        assert do(work, measured.workspace) == Spent()


def test_force_computes_all_of_it_again_with_the_same_scores(measured: Prepared) -> None:
    for work in measured.works.values():
        before = {name: rows(stored) for name, stored in work.wanted.items()}
        times = {name: stored.path.stat().st_mtime_ns for name, stored in work.wanted.items()}
        spent = do(work, measured.workspace, force=True)
        assert (spent.prompts > 0) == (not work.needs)
        assert {name: rows(stored) for name, stored in work.wanted.items()} == before
        assert all(stored.path.stat().st_mtime_ns > times[name] for name, stored in work.wanted.items())


def test_force_takes_no_part_of_a_run_that_was_killed(prepared: Prepared) -> None:
    work = prepared.works["persuasion"]

    def kill(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(work, prepared.workspace, progress=kill)
    assert prepared.workspace.part(work.wanted["persuasion"], 0).is_done()
    prompts = len(rows(work.inputs["queries"])) * len(rows(work.inputs["contexts"]))
    assert do(work, prepared.workspace, force=True).prompts == prompts


def test_a_killed_run_gives_the_same_scores_in_the_end(
    prepared: Prepared, prepare: Callable[[Path], Prepared], tmp_path: Path
) -> None:
    def kill(done: int, total: int) -> None:
        if done == 1:
            raise KeyboardInterrupt

    other = prepare(tmp_path / "other")
    for family in ("persuasion", "memorization", "answer_set", "fisher", "answers"):
        with pytest.raises(KeyboardInterrupt):
            do(prepared.works[family], prepared.workspace, progress=kill)
        do(prepared.works[family], prepared.workspace)
        do(other.works[family], other.workspace)
        for name, stored in prepared.works[family].wanted.items():
            assert rows(stored) == rows(other.works[family].wanted[name])


@pytest.mark.parametrize("family", ["entity_independent", "correctness"])
def test_scores_that_are_not_there_are_named_with_what_needs_them(family: str, prepared: Prepared) -> None:
    work = prepared.works[family]
    (need,) = work.needs
    with pytest.raises(MissingFile, match=f"the scores of {need} that {family} needs are not there; score them first"):
        do(work, prepared.workspace)


def test_every_family_is_computed_from_a_model_or_from_scores() -> None:
    needing = {
        one.family for one in MEASURES.values() if any(MEASURES[need].family != one.family for need in one.needs)
    }
    assert measure.FROM_SCORES.keys() == needing
    assert measure.FROM_A_MODEL.keys() == set(FAMILIES) - needing


def test_a_model_that_is_gone_keeps_what_was_computed_with_it(measured: Prepared) -> None:
    work = replace(measured.works["persuasion"], model="/no/such/model")
    before = rows(work.wanted["persuasion"])
    with pytest.raises(ModelError, match="no such folder"):
        do(work, measured.workspace, force=True)
    assert rows(work.wanted["persuasion"]) == before


def test_prompts_that_cannot_be_read_stop_the_work_and_keep_its_scores(measured: Prepared) -> None:
    work = measured.works["persuasion"]
    work.inputs["contexts"].path.write_bytes(b"")
    with pytest.raises(DamagedFile, match="contexts-"):
        do(work, measured.workspace, force=True)
    assert all(stored.is_done() for stored in work.wanted.values())
