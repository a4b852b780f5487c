"""The page of answers: its data blocks, which escape every text, and its links and controls."""

import base64
import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from swaymeter.data.errors import InputError
from swaymeter.reports.answers import GROUP_HUES, write_answers
from swaymeter.reports.page.shell import script_json
from swaymeter.reports.report import write_report
from swaymeter.reports.style import THEMES
from tests.reports.frames_of_answers import SAMPLES, frames_of_answers
from tests.reports.page_parser import PageParser
from tests.reports.study import CARD, MODEL
from tests.reports.test_drawing import contrast

HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "<!-- <script> ]]> &lt; &amp;",
    "\u2028\u2029\u202e\x00\r\n\t\\u003c \"'`${1}",
)


def write_page(frames: dict[str, pd.DataFrame], folder: Path) -> PageParser:
    folder.mkdir(exist_ok=True)
    assert write_answers(frames, folder, CARD) == "answers.html"
    return PageParser((folder / "answers.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> PageParser:
    """The page of six questions."""
    return write_page(frames_of_answers(), tmp_path_factory.mktemp("answers"))


def data_of_question(page: PageParser, name: str, model: int = 0) -> dict[str, Any]:
    """Return the data of a question from the blocks, with its answers by id of the context.

    A greedy answer has a text, a log-probability, False if it was truncated, thoughts, and the reason of a missing
    text. A sampled answer also has the number of equal answers.
    """
    index, scores = page.block("index")["questions"], page.block(f"scores-{model}")
    place = index["question_id"].index(name)
    row = scores["place"].index(place)
    data: dict[str, Any] = page.block(f"answers-{model}-0")[row]
    # A context is a list: its type, and its id unless both are equal.
    ids = ["none", *(context[-1] for context in index["contexts"][place])]
    answers = {}
    for name, case, text in zip(ids, data["cases"], scores["greedy"][row], strict=True):
        answers[name] = {**case, "greedy": [text, *case["greedy"]]}
    return {**data, "answers": answers}


def test_every_answer_is_listed_with_its_count(tmp_path: Path) -> None:
    frames = frames_of_answers()
    page, rows = write_page(frames, tmp_path), frames["answers_to_read"]
    for name in frames["questions_to_read"]["question_id"]:
        for condition, shown in data_of_question(page, name)["answers"].items():
            answer_rows = rows[(rows["question_id"] == name) & (rows["condition"] == condition)]
            samples = answer_rows[answer_rows["sample"].notna()]
            columns = zip(
                samples["text"], samples["log_probability"].round(2), samples["state"] != "truncated", strict=True
            )
            answers = [tuple(answer) for group in shown["groups"] for answer in group]
            assert Counter({answer[:3]: answer[-1] for answer in answers}) == Counter(columns)
            assert len({answer[:3] for answer in answers}) == len(answers)
            assert shown["greedy"][0] == answer_rows.loc[answer_rows["sample"].isna(), "text"].item()


def test_the_largest_cluster_comes_first(tmp_path: Path) -> None:
    frames = frames_of_answers()
    rows = frames["answers_to_read"]
    is_chosen = (rows["question_id"] == "q1") & (rows["condition"] == "none") & rows["sample"].notna()
    rows.loc[is_chosen, "answer_group"] = [0, 1, 1, 2, 2, 2, 2, 1, 3, 2]
    rows.loc[is_chosen, "text"] = list("abbccdccac")
    rows.loc[is_chosen, ["log_probability", "state"]] = [-1.0, "complete"]
    groups = data_of_question(write_page(frames, tmp_path), "q1")["answers"]["none"]["groups"]
    counts = [[(answer[0], answer[-1]) for answer in group] for group in groups]
    assert counts == [[("c", 4), ("d", 1)], [("b", 2), ("c", 1)], [("a", 1)], [("a", 1)]]


def test_truncated_greedy_answers_are_counted(tmp_path: Path) -> None:
    frames = frames_of_answers()
    write_answers(frames, tmp_path, CARD)
    text = (tmp_path / "answers.html").read_text(encoding="utf-8")
    assert re.search(r"Cut off at 20 tokens: 2 of 18 greedy answers of .* \(11\.1%\)\.", text)
    assert re.search(r"Not judged: 3 of 18 greedy answers of .*, because the thoughts did not end\.", text)
    assert re.search(r"Thinking before answers: .*, enable_thinking=true\.", text)
    frames["unfinished_greedy_answers"] = frames["unfinished_greedy_answers"].iloc[:0]
    write_answers(frames, tmp_path, CARD)
    assert "greedy answers of" not in (tmp_path / "answers.html").read_text(encoding="utf-8")


def test_thoughts_are_text_without_a_probability(tmp_path: Path) -> None:
    frames = frames_of_answers()
    rows = frames["answers_to_read"]
    is_first_sample = (rows["question_id"] == "q1") & (rows["condition"] == "none") & (rows["sample"] == 0)
    rows.loc[is_first_sample, "thoughts"] = "</script><b>So"
    is_greedy = rows["sample"].isna() & (rows["question_id"] == "q1")
    rows.loc[is_greedy, ["text", "thoughts", "state", "log_probability"]] = [
        "",
        "Hm",
        "unfinished_thoughts",
        float("nan"),
    ]
    shown = data_of_question(write_page(frames, tmp_path), "q1")["answers"]["none"]
    assert shown["greedy"] == ["", None, True, "Hm", "its thoughts did not end"]
    assert "</script><b>So" in [answer[3] for group in shown["groups"] for answer in group]
    assert "</script><b>" not in (tmp_path / "answers.html").read_text(encoding="utf-8")


def test_scores_have_standard_errors_cuts_and_stand_ins(tmp_path: Path) -> None:
    frames = frames_of_answers()
    page = write_page(frames, tmp_path)
    shown = data_of_question(page, "q4")
    row = frames["answers_of_questions"].set_index(["question_id", "condition"]).loc[("q4", "original")]
    scores = shown["answers"]["original"]["scores"]
    assert scores["coherent_persuasion"] == round(row["coherent_persuasion"], 4)
    assert scores["coherent_persuasion_standard_error"] == round(row["coherent_persuasion_standard_error"], 4)
    assert (scores["context_cut"], scores["outcome"]) == (12, row["outcome"])
    assert "coherent_persuasion" not in shown["answers"]["none"]["scores"]
    assert shown["stand_ins"] == ["all-MiniLM-L6-v2 for deberta-large-mnli"]


def test_the_list_has_scores_outcomes_and_verdicts(tmp_path: Path) -> None:
    frames = frames_of_answers()
    page, scores = write_page(frames, tmp_path), frames["answers_of_questions"].set_index(["condition", "question_id"])
    index, listed = page.block("index")["questions"], page.block("scores-0")
    assert index["question"] == sorted(index["question"], key=str.casefold)
    for row, place in enumerate(listed["place"]):
        name = index["question_id"][place]
        cases = [scores.loc[(condition, name)] for condition in ("none", "original", "counter_memory")]
        assert listed["entropy"][row] == [round(case["semantic_entropy"], 4) for case in cases]
        # The list has the first letters of outcomes and verdicts, a letter for each condition.
        assert listed["outcome"][row] == "-" + "".join(case["outcome"][0] for case in cases[1:])
        assert listed["verdict"][row] == "".join(case["verdict"][0] for case in cases)


def test_list_says_how_each_greedy_answer_ended(tmp_path: Path) -> None:
    frames = frames_of_answers()
    rows = frames["answers_to_read"]
    greedy = rows["sample"].isna() & (rows["condition"] == "original")
    rows.loc[greedy & (rows["question_id"] == "q1"), "state"] = "truncated"
    rows.loc[greedy & (rows["question_id"] == "q2"), "state"] = "withheld"
    rows.loc[greedy & (rows["question_id"] == "q4"), "state"] = "not_asked"
    frames["answers_to_read"] = rows[~(greedy & (rows["question_id"] == "q3"))]
    page = write_page(frames, tmp_path)
    names = page.block("index")["questions"]["question_id"]
    ended = dict(zip(names, page.block("scores-0")["ended"], strict=True))
    # A letter for each condition: f finished, u unfinished, l lost (here withheld), - not requested.
    assert [ended[name] for name in ("q0", "q1", "q2", "q3")] == ["fff", "fuf", "flf", "f-f"]
    assert ended["q4"] == "f-f"


def test_the_list_marks_disagreements_of_judge_and_rule(tmp_path: Path) -> None:
    frames = frames_of_answers()
    page = write_page(frames, tmp_path)
    listed, names = page.block("scores-0"), page.block("index")["questions"]["question_id"]
    judged = dict(zip(names, listed["judged"], strict=True))
    for name, verdicts in zip(names, listed["verdict"], strict=True):
        # The judge's verdict is always context; a capital marks another verdict of the rule.
        expected = "".join("c" if letter == "c" else "C" for letter in verdicts)
        assert judged[name] == ("---" if name == "q1" else expected)
    assert {"c", "C"} <= set("".join(judged.values()))
    assert data_of_question(page, "q1")["answers"]["none"]["scores"]["unjudged"] == "no offered verdict"
    assert data_of_question(page, "q2")["answers"]["none"]["scores"]["judged"] == "context"
    assert "<bdi>large</bdi>" in (tmp_path / "answers.html").read_text(encoding="utf-8")


def test_flipped_replies_of_the_last_run_are_listed(tmp_path: Path) -> None:
    frames = frames_of_answers()

    def change(question: str, before: dict[str, str], now: dict[str, str]) -> dict[str, Any]:
        columns = {"run": 2, "kind": "reply", "model": MODEL, "dtype": "float32", "item": f"{question}\x1foriginal"}
        return {**columns, "state_before": json.dumps(before) if before else None, "state": json.dumps(now)}

    # `texts` stands for the digest of the texts of question and context: "b" in place of "a" is another text.
    refusal, now = {"texts": "a", "verdict": "refusal", "answer": "No <b>idea"}, {"texts": "a", "verdict": "neither"}
    frames["changes_since_last_run"] = pd.DataFrame(
        [
            change("q1", refusal, now),
            change("q2", {**refusal, "texts": "b"}, now),
            change("q3", {**refusal, **now}, now),
            change("q4", {}, now),
        ]
    )
    page = write_page(frames, tmp_path)
    names = page.block("index")["questions"]["question_id"]
    before = dict(zip(names, page.block("scores-0")["before"], strict=True))
    assert before.pop("q1") == [None, ["No <b>idea", "refusal"], None]
    assert {value for row in before.values() for value in row} == {None}


def test_without_scores_the_answers_can_still_be_read(tmp_path: Path) -> None:
    frames = frames_of_answers()
    for name in ("answers_of_questions", "judged_greedy_answers"):
        frames[name] = frames[name].iloc[:0]
    page = write_page(frames, tmp_path)
    assert page.block("scores-0").keys() == {"place", "greedy", "ended"}
    shown = data_of_question(page, "q1")
    assert (shown["answers"]["none"]["scores"], shown["stand_ins"]) == ({}, [])
    assert sum(answer[-1] for group in shown["answers"]["none"]["groups"] for answer in group) == SAMPLES


def test_a_model_lists_the_questions_that_it_answered(tmp_path: Path) -> None:
    frames = frames_of_answers(models=[(MODEL, "float32"), ("other", "bfloat16")])
    rows = frames["answers_to_read"]
    frames["answers_to_read"] = rows[(rows["model"] != "other") | rows["question_id"].isin(["q2", "q5"])]
    page = write_page(frames, tmp_path)
    index = page.block("index")
    assert index["models"] == ["other (bfloat16)", f"{MODEL} (float32)"]
    assert sorted(index["questions"]["question_id"][place] for place in page.block("scores-0")["place"]) == ["q2", "q5"]
    assert len(page.block("scores-1")["place"]) == 6
    assert "bfloat16" in json.dumps(data_of_question(page, "q5", model=0))
    assert "bfloat16" not in page.texts["answers-1-0"]


def test_blocks_hold_a_hundred_questions_in_order(tmp_path: Path) -> None:
    frames = frames_of_answers(questions=230)
    page = write_page(frames, tmp_path)
    texts = [text for number in range(3) for text in page.block(f"texts-{number}")]
    assert [len(page.block(f"answers-0-{number}")) for number in range(3)] == [100, 100, 30]
    starts = [text["contexts"][0]["text"].split(" is ")[0] for text in texts]
    assert starts == page.block("index")["questions"]["subject"]


def test_own_contexts_have_types_ids_and_scores(own_questions: dict[str, pd.DataFrame], tmp_path: Path) -> None:
    page = write_page(own_questions, tmp_path)
    index, shown = page.block("index"), data_of_question(page, "question 3")
    place = index["questions"]["question_id"].index("question 3")
    assert index["questions"]["contexts"][place] == [
        ["supporting"],
        ["conflicting", "forum"],
        ["conflicting", "shop"],
        ["irrelevant"],
        ["unknown"],
    ]
    assert list(index["conditions"]) == ["none", "supporting", "conflicting", "irrelevant", "unknown"]
    row = page.block("scores-0")["place"].index(place)
    scores = [shown["answers"][name]["scores"]["coherent_persuasion"] for name in ("forum", "shop")]
    assert page.block("scores-0")["persuasion"][row][2:4] == scores
    assert "counter" not in "".join(text for tag, text in page.texts.items() if tag != "script").lower()


def test_a_column_of_few_values_is_a_filter(tmp_path: Path) -> None:
    frames = frames_of_answers(questions=51)
    rows = [json.dumps({"few": number % 3, "one": "x", "many": f"v{number}"}) for number in range(50)]
    frames["questions_to_read"]["other_columns"] = [*rows, json.dumps({"many": "v50"})]
    index = write_page(frames, tmp_path).block("index")
    assert index["columns"] == [["few", ["0", "1", "2"]], ["many", []], ["one", []]]
    assert sum(len(others) for others in index["questions"]["others"]) == 50 * 3 + 1


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_stay_json(tmp_path: Path, text: str) -> None:
    frames = frames_of_answers()
    tame = write_page(frames, tmp_path / "tame")
    columns = ["subject", "object", "replacement", "question", "accepted", "subject_id", "partition", "relation"]
    frames["questions_to_read"][columns] = text
    frames["questions_to_read"]["other_columns"] = [json.dumps({text: f"{text} {number}"}) for number in range(6)]
    frames["contexts_to_read"]["text"] = text
    frames["answers_to_read"]["text"] = text
    frames["answers_of_questions"]["stand_in"] = text
    page = write_page(frames, tmp_path / "hostile")
    assert [tag for tag, _ in page.elements] == [tag for tag, _ in tame.elements]
    assert page.texts["script"] == tame.texts["script"]
    assert page.block("index")["questions"]["replacement"] == [text] * 6
    assert page.block("texts-0")[0]["contexts"][0]["text"] == text
    assert page.block("index")["columns"] == [[text, [f"{text} {number}" for number in range(6)]]]
    assert data_of_question(page, "q1")["answers"]["original"]["greedy"][0] == text
    for name, block in page.texts.items():
        assert name in {"script", "style"} or not re.search("[<>&\u2028\u2029]", block)


def test_nan_is_refused_in_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        script_json([float("nan")])


def test_the_policy_allows_only_its_style_and_script(page: PageParser) -> None:
    rules = page.policy()
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(page.texts[kind].encode()).digest()).decode()
        assert rules.pop(f"{kind}-src") == f"'sha256-{digest}'"
    assert rules.pop("img-src") == "data:"
    assert rules.pop("require-trusted-types-for") == "'script'"
    assert set(rules.values()) == {"'none'"}
    assert rules.keys() == {"default-src", "base-uri", "form-action", "trusted-types"}


def test_page_is_self_contained_and_reads_no_markup(page: PageParser) -> None:
    page.assert_self_contained()
    assert not re.search("HTML|document.write|eval|Function|import|fetch", page.texts["script"])


def test_controls_have_labels(page: PageParser) -> None:
    labelled = {attributes["for"] for tag, attributes in page.elements if tag == "label"}
    assert {attributes["id"] for tag, attributes in page.elements if tag in {"input", "select"}} == labelled


def test_the_report_links_the_page_of_answers(report: Path, html: str) -> None:
    assert (report / "answers.html").is_file()
    assert html.count('href="answers.html"') == 2


def test_without_answers_there_is_neither_page_nor_link(tmp_path: Path) -> None:
    frames = {"questions_to_read": frames_of_answers()["questions_to_read"]}
    index = write_report(frames, tmp_path / "report", CARD)
    assert "answers.html" not in index.read_text(encoding="utf-8")
    assert not (tmp_path / "report" / "answers.html").exists()


def test_an_answer_without_its_question_is_refused(tmp_path: Path) -> None:
    frames = frames_of_answers()
    frames["questions_to_read"] = frames["questions_to_read"].query("question_id != 'q3'")
    with pytest.raises(InputError, match="'q3'"):
        write_page(frames, tmp_path)


def test_the_script_knows_the_number_of_hues(page: PageParser) -> None:
    assert f"const HUES = {len(GROUP_HUES)};" in page.texts["script"]
    assert page.texts["style"].count(".hue-") == len(GROUP_HUES)


@pytest.mark.parametrize("hue", GROUP_HUES)
def test_hues_of_groups_contrast_with_white_letters(hue: str) -> None:
    assert contrast(hue, "#ffffff") >= 4.5
    assert min(contrast(hue, THEMES[theme]["paper"]) for theme in THEMES) >= 3
    assert GROUP_HUES.count(hue) == 1
