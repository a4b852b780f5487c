import pickle
from dataclasses import replace

import pyarrow as pa

from swaymeter.data.errors import UsageError
from swaymeter.flows.graph.graph import PlannedStep, StepId, upstream
from tests.flows.graph.toy import (
    BUILD_A,
    BUILD_B,
    FETCH_A,
    FETCH_B,
    NUMBERS,
    PAGE,
    SCORE_A,
    SCORE_B,
    STEPS_A,
    TOTAL,
    Toy,
    kind_of,
)


def key(node: PlannedStep) -> str:
    assert node.step is not None
    return node.step.outputs["numbers"].key


def test_only_steps_without_needed_inputs_have_keys(toy: Toy) -> None:
    nodes = toy.graph().nodes
    assert {identity for identity, node in nodes.items() if node.step} == {FETCH_A, FETCH_B, TOTAL}
    assert {node.state for node in nodes.values()} == {"missing", "blocked"}
    assert not toy.root.exists()


def test_a_blocked_step_names_the_first_step_upstream(toy: Toy) -> None:
    blocked = toy.graph().nodes[SCORE_A]
    assert (blocked.state, blocked.blocked_by, blocked.reason) == ("blocked", FETCH_A, f"waits for {FETCH_A}")
    toy.failing = {BUILD_A}
    toy.run()
    assert toy.graph().nodes[SCORE_A].blocked_by == BUILD_A


def test_a_failed_step_has_a_reason(toy: Toy) -> None:
    toy.failing = {FETCH_A}
    toy.run()
    failed = toy.graph().nodes[FETCH_A]
    assert (failed.state, failed.reason) == ("failed", f"RuntimeError: {FETCH_A} cannot be computed")


def test_a_damaged_output_is_named(toy: Toy) -> None:
    toy.run()
    (file,) = toy.root.glob("numbers/build-a-*")
    file.write_bytes(b"PAR1")  # the first bytes of a Parquet file
    states = [toy.states()[step] for step in (FETCH_A, BUILD_A, SCORE_A, SCORE_B)]
    assert states == ["done", "damaged", "blocked", "done"]
    assert str(file) in toy.graph().nodes[BUILD_A].reason


def test_equal_inputs_and_parameters_give_equal_keys(toy: Toy) -> None:
    toy.run()
    fetched = toy.graph().nodes[FETCH_A]
    scoring = StepId("score", "a", "other")

    def key_of(identity: StepId = scoring, **options: object) -> str:
        return key(toy.add(toy.graph(), identity, [fetched], **options))  # type: ignore[arg-type]

    assert key_of() == key_of() == key_of(parameters={}) == key_of(resource="services")
    others = [replace(scoring, subject="b"), replace(scoring, part="x")]
    assert len({key_of(), key_of(version=2), key_of(parameters={"seed": 1}), *map(key_of, others)}) == 5


def test_only_the_digested_rows_decide_keys(toy: Toy) -> None:
    toy.run()
    fetched = toy.graph().nodes[FETCH_A].output("numbers")
    before = key(toy.add(toy.graph(), StepId("score", "a", "x"), [replace(fetched, rows_digest="some rows")]))
    toy.world["a"] = 5
    toy.force()
    toy.run()
    changed = toy.graph().nodes[FETCH_A].output("numbers")
    assert changed.check != fetched.check
    assert key(toy.add(toy.graph(), StepId("score", "a", "x"), [replace(changed, rows_digest="some rows")])) == before


def test_a_refused_step_has_failed_and_blocks_others(toy: Toy) -> None:
    graph = toy.graph()
    identity = StepId("score", "a", "x")
    refused = graph.add_refused(kind_of(identity), identity, UsageError("no such model"), inputs=[graph.nodes[BUILD_A]])
    below = toy.add(graph, StepId("score", "a", "y"), [refused])
    assert (refused.state, refused.reason) == ("failed", "no such model")
    assert (below.state, below.blocked_by) == ("blocked", refused.id)


def test_a_placeholder_waits_for_unknown_content(toy: Toy) -> None:
    graph = toy.graph()
    identity = StepId("score", "a", "x")
    waiting = graph.add_placeholder(kind_of(identity), identity, graph.nodes[BUILD_A])
    assert (waiting.state, waiting.blocked_by) == ("blocked", FETCH_A)


def test_upstream_follows_needed_inputs_alone(toy: Toy) -> None:
    nodes = toy.graph().nodes
    assert upstream([nodes[SCORE_A]]) == set(STEPS_A)
    assert upstream([nodes[PAGE]]) == {PAGE, TOTAL}


def test_a_function_runs_once_for_equal_rows(toy: Toy) -> None:
    toy.run()
    calls = []

    def compute(rows: pa.Table) -> int:
        calls.append(rows.num_rows)
        return len(calls)

    for _ in range(2):
        graph = toy.graph()
        assert graph.read_once(graph.nodes[BUILD_A].output("numbers"), compute) == 1
    assert graph.read_once(graph.nodes[BUILD_B].output("numbers"), compute) == 2


def test_a_deleted_artifact_is_missing_after_a_recheck(toy: Toy) -> None:
    toy.run()
    (file,) = toy.root.glob("numbers/score-b-*")
    file.unlink()
    graph = toy.graph()
    assert graph.nodes[SCORE_B].state == "done"
    graph.recheck(graph.nodes[SCORE_B])
    assert toy.graph().nodes[SCORE_B].state == "missing"


def test_a_pickled_step_is_equal(toy: Toy) -> None:
    toy.run()
    for node in toy.graph():
        loaded = pickle.loads(pickle.dumps(node.step))
        assert loaded == node.step
        assert loaded.table("numbers").table == NUMBERS


def test_a_step_has_a_readable_name() -> None:
    assert str(StepId("score", "x", "answers", "", "m", "float32")) == "score · x · answers · m (float32)"
    assert str(StepId("fetch", "disputable", "disputes", "Tea")) == "fetch · disputable · Tea · disputes"
