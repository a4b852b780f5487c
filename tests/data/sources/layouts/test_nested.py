"""Nested layouts of public data sets and tools: own files are recognised, and malformed rows are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.records import Question
from swaymeter.data.sources.layouts.description import nested_layouts
from swaymeter.data.sources.layouts.paths import value_at
from swaymeter.data.sources.layouts.steps import STEPS
from swaymeter.data.sources.own.rows import FileQuestions
from swaymeter.data.sources.own.source import OwnQuestions, read_questions
from swaymeter.data.sources.registry import DATA_SETS

NESTED_FILES = Path(__file__).resolve().parents[3] / "oracle" / "reports" / "27-nested-layouts"
LIBRARY, LEAFLET = "The library closes at 6 p.m.", "The old leaflet has 8 p.m. as closing time."
GARDEN, PAYLOAD, GREY = "The library has a garden.", "The Fennock 2 lifts up to 8 kg.", "It comes in grey."
Contexts = list[tuple[str, str]]


def read(file: Path) -> FileQuestions:
    return read_questions(OwnQuestions(file=str(file)))


def contexts(question: Question) -> Contexts:
    return [(context.text, context.condition) for context in question.contexts]


@pytest.mark.parametrize(
    ("name", "layout", "answers", "passages"),
    [
        (
            "hotpot_hub.jsonl",
            "HotpotQA, as on the Hugging Face hub",
            [("6 p.m.",), ("8 kg",)],
            [
                [(f"{LIBRARY} It has two floors.", "supporting"), (LEAFLET, "unknown"), (GARDEN, "unknown")],
                [(PAYLOAD, "supporting"), (GREY, "unknown")],
            ],
        ),
        (
            "squad_published.json",
            "SQuAD, as published",
            [("6 p.m.", "at 6 p.m."), ("8 kg",)],
            [[(LIBRARY, "supporting")], [(PAYLOAD, "supporting")]],
        ),
        ("msmarco_hub.jsonl", "MS MARCO, passages", [("6 p.m.",)], [[(LIBRARY, "supporting"), (GARDEN, "unknown")]]),
        (
            "llamaindex_nodes.jsonl",
            "LlamaIndex, replies with source nodes",
            [("6 p.m.",), ("8 kg",)],
            [[(LIBRARY, "supporting"), (LEAFLET, "unknown")], [(PAYLOAD, "supporting")]],
        ),
    ],
)
def test_nested_files_are_read(
    name: str, layout: str, answers: list[tuple[str, ...]], passages: list[Contexts]
) -> None:
    file_questions = read(NESTED_FILES / name)
    assert file_questions.layout == layout
    assert [question.answers for question in file_questions.questions] == answers
    assert [contexts(question) for question in file_questions.questions] == passages
    unanswered = "answers: 'No Answer Present.' means that the question has no right answer; leave the row out"
    rejected = [("line 2", unanswered)] if name == "msmarco_hub.jsonl" else []
    assert [(row.part, row.detail) for row in file_questions.rejected] == rejected


def test_details_of_passages_are_kept() -> None:
    library, _ = read(NESTED_FILES / "llamaindex_nodes.jsonl").questions
    passage = library.contexts[0].passages[0]
    assert (library.contexts[0].context_id, passage.source, passage.score) == ("n0", "a.pdf", 0.9)
    question, _ = read(NESTED_FILES / "hotpot_hub.jsonl").questions
    assert [context.passages[0].title for context in question.contexts] == ["Library", "Leaflet", "Garden"]
    assert json.loads(question.other_columns or "")["level"] == "hard"


QUESTION = {"question": "When does the library close?"}
ANSWERS = {"text": ["6 p.m."], "answer_start": [22]}
# a document as LangChain dumps it
DOCUMENT = {"lc": 1, "type": "constructor", "id": ["langchain", "Document"], "kwargs": {"page_content": LIBRARY}}
FILES: dict[str, tuple[Any, str]] = {
    "HotpotQA, as published": (
        [
            {
                **QUESTION,
                "_id": "5a",
                "answer": "6 p.m.",
                "supporting_facts": [["Library", 0]],
                "context": [["Library", [LIBRARY]], ["Garden", [GARDEN]]],
            }
        ],
        "5a",
    ),
    "SQuAD, as published": (
        {
            "data": [
                {
                    "paragraphs": [
                        {"context": LIBRARY, "qas": [{**QUESTION, "id": "q1", "answers": [{"text": "6 p.m."}]}]}
                    ]
                }
            ]
        },
        "q1",
    ),
    "SQuAD, as on the Hugging Face hub": ([{**QUESTION, "id": "q1", "context": LIBRARY, "answers": ANSWERS}], "q1"),
    "MS MARCO, passages": (
        {
            "query": {"0": "closing time"},
            "query_id": {"0": 7},
            "answers": {"0": ["6 p.m."]},
            "passages": {
                "0": [{"is_selected": 1, "passage_text": LIBRARY}, {"is_selected": 0, "passage_text": GARDEN}]
            },
        },
        "7",
    ),
    "TriviaQA, as on the Hugging Face hub": (
        [
            {
                **QUESTION,
                "question_id": "tc_1",
                "answer": {"value": "6 p.m.", "aliases": ["18:00"]},
                "entity_pages": {"title": ["Library"], "wiki_context": [LIBRARY]},
                "search_results": {"title": [], "url": [], "search_context": []},
            }
        ],
        "tc_1",
    ),
    "TriviaQA, as published": (
        {
            "Domain": "Web",
            "Data": [
                {
                    "Question": "When?",
                    "QuestionId": "tc_1",
                    "Answer": {"Value": "6 p.m.", "Aliases": []},
                    "SearchResults": [{"Title": "Library", "Description": LIBRARY}],
                }
            ],
        },
        "tc_1",
    ),
    "LlamaIndex, labelled examples": (
        {"examples": [{"query": "When?", "reference_answer": "6 p.m.", "reference_contexts": [LIBRARY, GARDEN]}]},
        "",
    ),
    "": ([{**QUESTION, "answer": "6 p.m.", "contexts": [DOCUMENT, {"page_content": GARDEN, "metadata": {}}]}], ""),
}
"""Content of a file and id of its question, by layout; "" is a file with Swaymeter's own columns."""


@pytest.mark.parametrize("layout", FILES)
def test_other_forms_of_layouts_are_read(layout: str, tmp_path: Path) -> None:
    content, identity = FILES[layout]
    (tmp_path / "mine.json").write_text(json.dumps(content))
    file_questions = read(tmp_path / "mine.json")
    (question,) = file_questions.questions
    assert (file_questions.layout, question.list_id or "", question.object) == (layout, identity, "6 p.m.")
    first, *others = contexts(question)
    assert first == (LIBRARY, "supporting")
    assert others in ([], [(GARDEN, "unknown")])


def test_only_malformed_rows_of_a_layout_are_refused(tmp_path: Path) -> None:
    lines = (NESTED_FILES / "hotpot_hub.jsonl").read_text().splitlines()
    uneven = {
        **QUESTION,
        "id": "x",
        "answer": "6 p.m.",
        "context": {"title": ["Library", "Garden"], "sentences": [[LIBRARY]]},
    }
    empty = {**QUESTION, "id": "y", "answer": "6 p.m.", "context": {"title": ["Library"], "sentences": [[]]}}
    (tmp_path / "mine.jsonl").write_text("\n".join([*lines, json.dumps(uneven), json.dumps(empty)]))
    file_questions = read(tmp_path / "mine.jsonl")
    assert len(file_questions.questions) == 2
    assert [(row.part, row.detail) for row in file_questions.rejected] == [
        ("line 3", "context is neither a list nor an object of equally long lists"),
        ("line 4", "context 1, sentences[*]: is missing"),
    ]


def test_a_rejected_question_has_its_position(tmp_path: Path) -> None:
    paragraph = {"context": LIBRARY, "qas": [{**QUESTION, "id": "q1", "answers": []}]}
    content = {"version": "v2.0", "data": [{"title": "Library", "paragraphs": [paragraph]}]}
    (tmp_path / "mine.json").write_text(json.dumps(content))
    (rejected,) = read(tmp_path / "mine.json").rejected
    assert (rejected.part, rejected.detail) == ("row 1, paragraphs 1, qas 1", "answers[*].text: is missing")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a", 1),
        ("b.c", "x"),
        ("b.c.d", None),
        ("d[1].e", 2),
        ("d[5].e", None),
        ("d[*].e", [1, 2]),
        ("f[*].g", ["p", "q"]),
        ("f[*]", [{"g": "p", "h": 1}, {"g": "q", "h": 2}]),
        ("i.j", 3),
        ("z[*].a", []),
    ],
)
def test_paths_select_values_of_cells(path: str, value: Any) -> None:
    cells = {"a": 1, "b": {"c": "x"}, "d": [{"e": 1}, {"e": 2}, {}], "f": {"g": ["p", "q"], "h": [1, 2]}, "i.j": 3}
    assert value_at(cells, path) == value


def test_every_function_of_steps_is_used() -> None:
    layouts = (*nested_layouts(), *(source.options.data_set for source in DATA_SETS))  # type: ignore[attr-defined]
    assert {form.step for layout in layouts for form in layout.forms if form.step} == STEPS.keys()
