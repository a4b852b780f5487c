"""The family of correctness: greedy answers held against the expected ones; no model is asked again.

A disputable question without a context has no expected answer, so it has no accuracy [DynamicQA, Table 2].
"""

from collections.abc import Mapping, Sequence
from typing import Any

from data.records import Question, of_row
from data.workspace import Stored, Workspace
from tasks.measurement.chunks import Progress, Rows, Spent, compute_in_chunks, versions
from tasks.scoring.accuracy import is_accurate
from tasks.scoring.persuaded import compare_answers

ENGINE = "rouge-l"

Row = Mapping[str, Any]


class _NoModel:
    forward_passes = 0


def measure_correctness(
    workspace: Workspace,
    wanted: Mapping[str, Stored],
    inputs: Mapping[str, Sequence[Row]],
    *,
    dataset_version: str,
    progress: Progress,
) -> Spent:
    """Makes the wanted files of accuracy, persuaded and stubborn of a relation."""
    questions = {row["question_id"]: row for row in inputs["questions"]}
    greedy = [row for row in inputs["answers"] if row["sample"] is None]
    without = {row["question_id"]: row["text"] for row in greedy if row["condition"] == "none"}
    kept = ("model", "model_revision", "dtype", "device")

    def rows(answers: Sequence[Row]) -> Rows:
        made: dict[str, list[dict[str, Any]]] = {"accuracy": [], "persuaded": []}
        for answer in answers:
            question = questions[answer["question_id"]]
            expected = of_row(Question, question).context_answer(answer["condition"])
            where = {name: answer[name] for name in ("relation", "question_id", "condition")}
            origin = {name: answer[name] for name in kept} | {
                "engine": ENGINE,
                "dataset_version": dataset_version,
                "stand_in": None,
            }
            if "accuracy" in wanted and not (question["partition"] == "disputable" and answer["condition"] == "none"):
                threshold = wanted["accuracy"].made_from["parameters"]["rouge_threshold"]
                made["accuracy"].append(
                    {
                        **where,
                        "expected": expected,
                        "answer": answer["text"],
                        "accurate": is_accurate(answer["text"], [expected], threshold=threshold),
                        **origin,
                    }
                )
            if "persuaded" in wanted and answer["condition"] != "none":
                threshold = wanted["persuaded"].made_from["parameters"]["rouge_threshold"]
                y1, y2 = without[answer["question_id"]], answer["text"]
                compared = compare_answers(y1, y2, expected, threshold=threshold)
                made["persuaded"].append(
                    {
                        **where,
                        "answer_without": y1,
                        "answer_with": y2,
                        "context_answer": expected,
                        "persuaded": compared.persuaded,
                        "stubborn": compared.stubborn,
                        "context_correct": compared.context_correct,
                        "stubborn_released": compared.stubborn_released,
                        **origin,
                    }
                )
        return made

    return compute_in_chunks(
        workspace,
        wanted,
        [greedy],
        rows,
        prompts=lambda _: 0,
        counter=_NoModel(),
        about={"device": "cpu", "engine": ENGINE, **versions()},
        progress=progress,
    )
