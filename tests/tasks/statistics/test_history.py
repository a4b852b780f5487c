"""What moved from one run to the next, of runs that are made up."""

from typing import Any

import pandas as pd

from swaymeter.data.randomness import generator
from swaymeter.tasks.statistics.formulas.paired import paired_difference
from swaymeter.tasks.statistics.history import decided, frames_of, moved, states
from tests.tasks.statistics.test_models import answer

PARTS = ("original", "counter_memory", "none")
QUESTIONS = 40
VERDICTS = ("context", "context", "original", "refusal")


def run(lost: float = 0.0, *, text: str = "") -> dict[str, pd.DataFrame]:
    """A run's frames, as the step has them; lost: the share of answers to counter-memory that keep the original."""
    of_world, of_night = generator(0, "world"), generator(0, "night")
    rows = []
    for model in ("m1", "m2"):
        for number in range(QUESTIONS):
            for condition in PARTS:
                draw, is_lost = of_world.integers(4), of_night.random() < lost
                verdict = "original" if is_lost and condition == "counter_memory" else VERDICTS[int(draw)]
                row = answer(model, f"q{number}", condition, verdict)
                rows.append({**row, "question": f"What is {number}?", "text": text, "answer": verdict})
    queries = pd.DataFrame(
        columns=["model", "dtype", "query_id", "entity", "query_type", "susceptibility"], dtype="str"
    ).astype({"susceptibility": "float64"})
    return {"answers_of_questions": pd.DataFrame(rows), "susceptibility_of_queries": queries}


def changes(before: dict[str, pd.DataFrame], now: dict[str, pd.DataFrame]) -> list[dict[str, Any]]:
    return moved(*(frames_of(states(frames)) for frames in (before, now)), seed=0)


def shown(rows: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(row["model"], row["quantity"], row["verdict"]) for row in rows if row["verdict"] in ("larger", "smaller")]


def test_what_is_kept_gives_the_frames_back() -> None:
    kept = states(run())
    assert len(kept) == 2 * QUESTIONS * len(PARTS)
    again = frames_of(kept)["answers_of_questions"]
    assert sorted(again["verdict"]) == sorted(run()["answers_of_questions"]["verdict"])
    assert states(run()) == kept


def test_a_planted_change_is_found_in_its_model_and_quantity() -> None:
    before, now = run(), run(0.8)
    m2 = before["answers_of_questions"]["model"] == "m2"
    now["answers_of_questions"] = pd.concat([
        before["answers_of_questions"][m2], now["answers_of_questions"][now["answers_of_questions"]["model"] == "m1"],
    ])  # fmt: skip
    found = changes(before, now)
    assert ("m1", "follows", "smaller") in shown(found)
    assert {model for model, *_ in shown(found)} == {"m1"}
    (follows,) = [row for row in found if (row["model"], row["quantity"], row["condition"]) ==
                  ("m1", "follows", "counter_memory")]  # fmt: skip
    assert follows["n"] == QUESTIONS
    assert follows["difference"] == follows["mean"] - follows["against_mean"] < 0


def test_items_with_other_texts_are_not_paired() -> None:
    assert all(not row["n"] for row in changes(run(), run(text="It is Lima.")))
    assert shown(changes(run(), run(text="It is Lima."))) == []


def test_nights_without_a_change_show_none() -> None:
    def pair(number: int) -> list[dict[str, Any]]:
        nights = generator(number, "nights").random((8, 2, 20)) < 0.6  # quantities, nights, answers
        return [
            {"model": "m", "quantity": str(at), "unit": "share", "mean": now.mean(), "against_mean": before.mean(),
             **paired_difference(now.astype(float) - before, range(20), 0, shares=True)._asdict()}
            for at, (before, now) in enumerate(nights)
        ]  # fmt: skip

    assert sum(bool(shown(decided(pair(number)))) for number in range(100)) <= 5


def test_the_same_answers_have_moved_by_nothing() -> None:
    found = changes(run(), run())
    assert {row["difference"] for row in found if row["n"]} == {0.0}
    assert {row["p"] for row in found if row["n"] and not row["untestable"]} == {1.0}
