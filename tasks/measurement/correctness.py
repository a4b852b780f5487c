"""The family of correctness: greedy answers held against the expected ones; no model is asked again.

A disputable question without a context has no expected answer, so it has no accuracy [DynamicQA, Table 2]. An empty
answer matches nothing, not even another empty one: it is neither accurate, nor persuaded, nor stubborn.
"""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from data.storage.workspace import Workspace
from tasks.measurement.chunks import NoModel, Progress, Rows, Spent, compute_in_chunks, versions
from tasks.measurement.work import Given, Work
from tasks.scoring.accuracy import is_accurate
from tasks.scoring.persuaded import compare_answers

ENGINE = "rouge-l"


def measure_correctness(work: Work, given: Given, workspace: Workspace, progress: Progress) -> Spent:
    """Makes the wanted files of accuracy, persuaded and stubborn of a relation."""
    wanted = work.wanted
    questions = {question.question_id: question for question in given.questions}
    greedy = _greedy(given.scores["answers"])
    without = {row["question_id"]: row["text"] for row in greedy if row["condition"] == "none"}
    kept = ("model", "model_revision", "dtype", "device")

    def rows(answers: Sequence[dict[str, Any]]) -> Rows:
        made: dict[str, list[dict[str, Any]]] = {"accuracy": [], "persuaded": []}
        for answer in answers:
            question = questions[answer["question_id"]]
            expected = question.context_answer(answer["condition"])
            where = {name: answer[name] for name in ("relation", "question_id", "condition")}
            origin = {name: answer[name] for name in kept} | {
                "engine": ENGINE,
                "dataset_version": given.dataset_version,
                "stand_in": None,
            }
            if "accuracy" in wanted and not (question.partition == "disputable" and answer["condition"] == "none"):
                threshold = work.parameters("accuracy")["rouge_threshold"]
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
                threshold = work.parameters("persuaded")["rouge_threshold"]
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
        counter=NoModel(),
        about=versions(),
        progress=progress,
    )


def _greedy(answers: pa.Table) -> list[dict[str, Any]]:
    """The rows of the greedy answers, a part of a tenth or so, without their tokens."""
    kept = [name for name in answers.schema.names if name not in ("token_ids", "token_log_probs")]
    rows: list[dict[str, Any]] = answers.select(kept).filter(pc.is_null(answers["sample"])).to_pylist()
    return rows
