import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from data.records import Query, QueryType, RelationName
from data.records.tables import Column, Table
from data.storage.workspace import Stored, Workspace, read_metadata
from tasks.measurement import chunks
from tasks.measurement.chunks import Rows, Spent, compute_in_chunks, cut, cut_by_form, forget, missing, versions

TABLES = [
    Table(name, "a thing", (Column("thing", "VARCHAR", ""), Column("score", "BIGINT", ""))) for name in ("a", "b")
]
CHUNKS = cut([f"thing {number}" for number in range(5)], 2)


class Fake:
    """A measure that counts what it is asked for, and dies at one chunk."""

    def __init__(self, dies_at: Sequence[str] | None = None, factor: int = 1) -> None:
        self.asked: list[Sequence[str]] = []
        self.forward_passes = 0
        self._dies_at, self._factor = dies_at, factor

    def __call__(self, chunk: Sequence[str]) -> Rows:
        self.asked.append(chunk)
        if chunk == self._dies_at:
            raise KeyboardInterrupt
        self.forward_passes += 3
        rows = [{"thing": thing, "score": self._factor * int(thing[-1])} for thing in chunk]
        return {"a": rows, "b": [{**row, "score": -row["score"]} for row in rows]}


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


@pytest.fixture
def wanted(workspace: Workspace) -> dict[str, Stored]:
    return {table.name: workspace.scores("capital", "m", table, {"measure": table.name}) for table in TABLES}


def compute(
    workspace: Workspace, wanted: Mapping[str, Stored], fake: Fake, seen: list[tuple[int, int]] | None = None
) -> Spent:
    return compute_in_chunks(
        workspace,
        wanted,
        CHUNKS,
        fake,
        prompts=len,
        counter=fake,
        about={"device": "cpu"},
        progress=lambda done, total: None if seen is None else seen.append((done, total)),
    )


def scores(stored: Stored) -> list[Any]:
    return [row["score"] for row in stored.read().to_pylist()]


def names(workspace: Workspace) -> list[str]:
    return sorted(path.name for path in workspace.root.rglob("*") if path.is_file())


def test_chunks_hold_everything_in_order_and_the_last_is_smaller() -> None:
    assert [list(chunk) for chunk in cut([1, 2, 3, 4, 5], 2)] == [[1, 2], [3, 4], [5]]
    assert cut([], 2) == []


def query(query_type: QueryType, form: int, entity: str) -> Query:
    return Query(entity, RelationName("capital"), query_type, form, entity, None, False, "Oslo", "")


def test_queries_of_a_form_stand_together_in_their_own_order() -> None:
    types: tuple[QueryType, ...] = ("open", "closed")
    queries = [query(kind, form, name) for name in ("Norway", "Chad") for kind in types for form in (1, 2)]
    (whole,) = cut_by_form(queries, 10)
    assert [(one.query_type, one.form, one.entity) for one in whole] == [
        (kind, form, name) for kind in ("closed", "open") for form in (1, 2) for name in ("Norway", "Chad")
    ]


@pytest.mark.parametrize(("contexts", "size"), [(1, 80), (2, 50), (3, 34), (4, 30), (1000, 30), (0, 80)])
def test_a_chunk_has_so_many_prompts_and_so_many_queries_at_least(
    contexts: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "LEAST_PROMPTS", 100)
    monkeypatch.setattr(chunks, "LEAST_QUERIES", 30)
    queries = [query("open", 1, str(number)) for number in range(80)]
    assert len(cut_by_form(queries, contexts)[0]) == size


def test_chunks_become_whole_files_and_leave_no_part(workspace: Workspace, wanted: dict[str, Stored]) -> None:
    seen: list[tuple[int, int]] = []
    spent = compute(workspace, wanted, Fake(), seen)
    assert scores(wanted["a"]) == [0, 1, 2, 3, 4]
    assert scores(wanted["b"]) == [0, -1, -2, -3, -4]
    assert names(workspace) == sorted(stored.path.name for stored in wanted.values())
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]
    assert (spent.prompts, spent.forward_passes) == (5, 9)


def test_what_it_took_is_kept_beside_the_scores(workspace: Workspace, wanted: dict[str, Stored]) -> None:
    spent = compute(workspace, wanted, Fake())
    about = read_metadata(wanted["a"].path)["about"]
    assert (about["prompts"], about["forward_passes"], about["device"]) == (5, 9, "cpu")
    assert about["seconds"] == pytest.approx(spent.seconds)
    assert about["started_at"] <= about["finished_at"]


def test_what_is_done_is_not_computed_again(workspace: Workspace, wanted: dict[str, Stored]) -> None:
    compute(workspace, wanted, Fake())
    again = Fake()
    assert compute(workspace, wanted, again) == Spent()
    assert again.asked == []


def test_a_killed_run_goes_on_with_the_chunk_that_it_was_at(workspace: Workspace, wanted: dict[str, Stored]) -> None:
    with pytest.raises(KeyboardInterrupt):
        compute(workspace, wanted, Fake(dies_at=CHUNKS[1]))
    assert not any(stored.exists() for stored in wanted.values())
    again = Fake()
    spent = compute(workspace, wanted, again)
    assert again.asked == CHUNKS[1:]
    assert (spent.prompts, spent.forward_passes) == (3, 6)
    assert scores(wanted["a"]) == [0, 1, 2, 3, 4]
    assert read_metadata(wanted["a"].path)["about"]["forward_passes"] == 9


@pytest.mark.parametrize("content", [b"", b"PAR1 and then nothing"])
def test_a_damaged_part_alone_is_computed_again(
    content: bytes, workspace: Workspace, wanted: dict[str, Stored]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        compute(workspace, wanted, Fake(dies_at=CHUNKS[2]))
    workspace.part(wanted["b"], 0).path.write_bytes(content)
    again = Fake()
    compute(workspace, wanted, again)
    assert again.asked == [CHUNKS[0], CHUNKS[2]]
    assert scores(wanted["b"]) == [0, -1, -2, -3, -4]


def test_a_damaged_whole_is_named_and_computed_again_and_the_other_one_is_left(
    workspace: Workspace, wanted: dict[str, Stored], caplog: pytest.LogCaptureFixture
) -> None:
    compute(workspace, wanted, Fake())
    wanted["b"].path.write_bytes(wanted["b"].path.read_bytes()[:-30])
    with caplog.at_level(logging.WARNING):
        compute(workspace, wanted, Fake(factor=10))
    assert scores(wanted["a"]) == [0, 1, 2, 3, 4]
    assert scores(wanted["b"]) == [0, -10, -20, -30, -40]
    (warned,) = caplog.messages
    assert wanted["b"].path.name in warned
    assert "computed again" in warned


def test_a_missing_measure_of_a_family_is_made_without_touching_the_others(
    workspace: Workspace, wanted: dict[str, Stored]
) -> None:
    compute(workspace, {"a": wanted["a"]}, Fake())
    compute(workspace, wanted, Fake(factor=10))
    assert scores(wanted["a"]) == [0, 1, 2, 3, 4]
    assert scores(wanted["b"]) == [0, -10, -20, -30, -40]


def test_what_is_missing_is_what_is_not_there_or_damaged(workspace: Workspace, wanted: dict[str, Stored]) -> None:
    assert missing(wanted) == wanted
    compute(workspace, wanted, Fake())
    assert missing(wanted) == {}
    wanted["a"].path.write_bytes(b"")
    assert missing(wanted) == {"a": wanted["a"]}


def test_parts_of_another_key_are_not_taken_for_ones_own(workspace: Workspace) -> None:
    def of(seed: int) -> dict[str, Stored]:
        return {"a": workspace.scores("capital", "m", TABLES[0], {"seed": seed})}

    with pytest.raises(KeyboardInterrupt):
        compute(workspace, of(1), Fake(dies_at=CHUNKS[2]))
    other = Fake(factor=10)
    compute(workspace, of(2), other)
    assert other.asked == CHUNKS
    assert workspace.part(of(1)["a"], 0).is_done()


def test_parts_that_were_cut_in_other_places_are_computed_again(
    workspace: Workspace, wanted: dict[str, Stored]
) -> None:
    with pytest.raises(KeyboardInterrupt):
        compute(workspace, wanted, Fake(dies_at=CHUNKS[1]))
    others = cut([f"thing {number}" for number in range(5)], 3)
    again = Fake()
    compute_in_chunks(workspace, wanted, others, again, prompts=len, counter=again, about={})
    assert again.asked == others
    assert scores(wanted["a"]) == [0, 1, 2, 3, 4]


def test_to_forget_is_to_remove_wholes_and_parts_and_nothing_else(
    workspace: Workspace, wanted: dict[str, Stored]
) -> None:
    compute(workspace, {"a": wanted["a"]}, Fake())
    with pytest.raises(KeyboardInterrupt):
        compute(workspace, {"b": wanted["b"]}, Fake(dies_at=CHUNKS[2]))
    forget({"b": wanted["b"]})
    assert names(workspace) == [wanted["a"].path.name]
    forget(wanted)
    assert names(workspace) == []


def test_rows_that_break_the_table_leave_no_part(workspace: Workspace, wanted: dict[str, Stored]) -> None:
    with pytest.raises(ValueError, match="score may not be NULL"):
        compute_in_chunks(
            workspace, {"a": wanted["a"]}, CHUNKS, lambda chunk: {"a": [{"thing": "x", "score": None}]},
            prompts=len, counter=Fake(), about={},
        )  # fmt: skip
    assert names(workspace) == []


def test_versions_are_those_that_scores_hang_on() -> None:
    assert set(versions()) == {"swaymeter_version", "torch_version", "transformers_version"}
