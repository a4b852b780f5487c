"""The named questions behind the page to read the answers."""

from pathlib import Path

import pandas as pd

from data.records.tables import QUESTIONS
from tests.data.warehouse.small_study import ANSWERS, CLUSTERS, row, warehouse_of

ASKED = {"relation": "P36", "question_id": "w1", "model": "m", "dtype": "float32", "condition": "none"}


def frames(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both, of a study with two questions of which one was answered, the answers stored in no good order."""
    study = {
        "questions": [
            row(QUESTIONS, relation="P36", question_id="w2"),
            row(QUESTIONS, relation="P36", question_id="w1", answers=["Oslo", "Kristiania"], object_id="Q585"),
        ],
        "answers": [
            row(ANSWERS, **ASKED, sample=10, text="", finished=False, token_log_probs=[-1.0, -2.5]),
            row(ANSWERS, **ASKED, sample=2, text="Oslo", token_log_probs=[-0.25, -0.5]),
            row(ANSWERS, **ASKED, sample=None, text="Oslo", token_log_probs=[-0.25]),
        ],
        "clusters": [row(CLUSTERS, **ASKED, sample=sample, cluster=cluster) for sample, cluster in ((10, 1), (2, 0))],
    }
    with warehouse_of(folder, study) as warehouse:
        return warehouse.frame("answers_to_read"), warehouse.frame("questions_to_read")


def test_answers_come_greedy_first_with_the_sum_of_their_tokens(tmp_path: Path) -> None:
    answers, _ = frames(tmp_path)
    assert answers["sample"].isna().tolist() == [True, False, False]
    assert answers["sample"].tolist()[1:] == [2, 10]
    assert answers["log_probability"].tolist() == [-0.25, -0.75, -3.5]
    assert answers["text"].tolist() == ["Oslo", "Oslo", ""]
    assert answers["finished"].tolist() == [True, True, False]
    assert answers["answer_group"].isna().tolist() == [True, False, False]


def test_questions_are_those_that_were_answered_each_once(tmp_path: Path) -> None:
    _, questions = frames(tmp_path)
    assert questions["question_id"].tolist() == ["w1"]
    only = questions.iloc[0]
    assert (only["accepted"], only["object_id"]) == ("Oslo; Kristiania", "Q585")
    assert pd.isna(only["subject_id"])
