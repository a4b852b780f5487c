"""Published data sets: rows become questions, and files in other forms are refused."""

import json
import logging
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.records import Question
from swaymeter.data.sources.layouts.source import PublishedFile, read_questions
from swaymeter.data.sources.own.rows import FileQuestions
from swaymeter.data.sources.own.source import unusable_message
from swaymeter.data.sources.registry import DATA_SETS, QUESTION_SOURCES
from tests.data.sources.layouts.samples import Row, rows_of, write

ContextFields = tuple[str, str, tuple[str, ...], str | None]


def options(name: str, path: Path, **keys: Any) -> PublishedFile:
    options_class = QUESTION_SOURCES[name].options
    assert issubclass(options_class, PublishedFile)
    return options_class.model_validate({"file": str(path), **keys})


def read(folder: Path, name: str) -> FileQuestions:
    return read_questions(options(name, write(folder, name)))


def contexts_of(question: Question) -> list[ContextFields]:
    """Return the id, kind, answers and text of each context."""
    return [(context.context_id, context.condition, context.answers, context.text) for context in question.contexts]


def by_text(sample: FileQuestions) -> dict[str, Question]:
    assert len({question.question_id for question in sample.questions}) == len(sample.questions)
    return {question.question: question for question in sample.questions}


COUNTS = {
    "cub": {"CounterFact": (4, 3), "NQ": (4, 3), "DRUID": (2, 6)},
    "faitheval": {"counterfactual": (4, 1), "inconsistent": (4, 3), "unanswerable": (4, 1)},
    "clasheval": {"records": (2, 4), "years": (2, 4)},
    "ramdocs": {"questions": (4, 4)},
    "conflictqa": {"PopQA": (6, 4), "StrategyQA": (4, 4)},
    "nq-swap": {"questions": (4, 2)},
    "rgb": {"questions": (12, 3)},
    "wikicontradict": {"Explicit": (6, 2), "Implicit (reasoning required)": (6, 2)},
    "popqa": {"country": (4, 2), "capital of": (4, 2), "color": (4, 1)},
}
"""Number of questions, and of contexts of a question, in each group of each sample."""


@pytest.mark.parametrize("name", COUNTS)
def test_samples_have_their_questions_and_contexts(name: str, tmp_path: Path) -> None:
    sample = read(tmp_path, name)
    groups = Counter(question.partition for question in sample.questions)
    contexts = {question.partition: len(question.contexts) for question in sample.questions}
    assert {group: (count, contexts[group]) for group, count in groups.items()} == COUNTS[name]
    assert [row.part for row in sample.rejected] == (["line 11", "line 12"] if name == "conflictqa" else [])
    data_set = options(name, tmp_path).data_set
    assert {(question.source, question.licence) for question in sample.questions} == {
        (f"{data_set.title}, {data_set.citation}", data_set.licence)
    }


def test_all_registered_data_sets_have_a_sample() -> None:
    assert [source.name for source in DATA_SETS] == [*COUNTS]


def test_cub_has_three_parts(tmp_path: Path) -> None:
    questions = by_text(read(tmp_path, "cub"))
    question = questions["Which name or word completes this sentence? Vimmar lies on the river …"]
    assert (question.object, contexts_of(question)) == (
        "Belt",
        [
            ("1_gold", "supporting", ("Belt",), "Vimmar lies on the river Belt."),
            ("1_edited", "conflicting", ("Arn",), "Vimmar lies on the river Arn."),
            ("1_irrelevant", "irrelevant", (), "The Vell is in Norrland."),
        ],
    )
    question = questions["which river does Ostrel lie on"]
    assert [context[1:] for context in contexts_of(question)] == [
        ("supporting", ("Arn",), "Ostrel lies on the Arn."),
        ("conflicting", ("Eddle",), "Ostrel lies on the Eddle."),
        ("irrelevant", (), "Ostrel is old."),
    ]
    beginning = "Is this claim of Ada Quill True, Half True or False, or is it not known (None)?"
    question = questions[f"{beginning} Vimmar is older than its river."]
    assert question.object == "Half True"
    assert Counter((kind, answers) for _, kind, answers, _ in contexts_of(question)) == {
        ("supporting", ("Half True",)): 2,
        ("conflicting", ("None",)): 2,
        ("irrelevant", ()): 2,
    }


def test_faitheval_has_three_tasks(tmp_path: Path) -> None:
    questions = by_text(read(tmp_path, "faitheval"))
    question = questions["What is Ostrel made of? (Choose one: stone; salt; wood)"]
    assert (question.list_id, contexts_of(question)) == (
        "counterfactual Q_Ostrel",
        [
            ("supporting", "supporting", ("salt",), "Surveys find that Ostrel is made of salt."),
        ],
    )
    assert [context[:3] for context in contexts_of(questions["Which river does Quenby lie on?"])] == [
        ("both documents", "unknown", ()),
        ("supporting", "supporting", ("Cress",)),
        ("conflicting", "conflicting", ("Eddle",)),
    ]
    assert contexts_of(questions["Which river does Quenby lie on?"])[2][3] == "Quenby lies on the Eddle."
    question = questions["Who founded Vimmar?"]
    assert (question.object, contexts_of(question)[0][:3]) == ("unanswerable", ("irrelevant", "irrelevant", ()))


def test_clasheval_joins_the_rows_of_a_question(tmp_path: Path) -> None:
    question = by_text(read(tmp_path, "clasheval"))["How many bridges does Vimmar have?"]
    assert contexts_of(question) == [
        ("supporting", "supporting", ("5",), "Vimmar has 5 bridges."),
        ("changed: 1.0", "conflicting", ("15",), "Vimmar has 15 bridges."),
        ("changed: 2.0", "conflicting", ("25",), "Vimmar has 25 bridges."),
        ("changed: 3.0", "conflicting", ("35",), "Vimmar has 35 bridges."),
    ]


def test_ramdocs_has_a_context_for_each_document(tmp_path: Path) -> None:
    question = by_text(read(tmp_path, "ramdocs"))["Which river does Ostrel lie on?"]
    assert question.answers == ("Arn", "Upper Arn")
    assert [context[1:3] for context in contexts_of(question)] == [
        ("supporting", ("Arn", "Upper Arn")),
        ("supporting", ("Upper Arn", "Arn")),
        ("conflicting", ("Eddle",)),
        ("irrelevant", ()),
    ]


def test_conflictqa_names_the_right_answer(tmp_path: Path) -> None:
    sample = read(tmp_path, "conflictqa")
    questions = by_text(sample)
    # the memory is wrong, and the counter-memory right
    assert contexts_of(questions["What is Ivo Marsh by trade?"]) == [
        ("supporting", "supporting", ("miller", "grinder"), "It is denied: Ivo Marsh is a grinder."),
        ("supporting 2", "supporting", ("miller", "grinder"), "A letter: Ivo Marsh is a grinder."),
        ("conflicting", "conflicting", ("baker", "Ivo Marsh is a baker."), "It is remembered: Ivo Marsh is a baker."),
        ("conflicting 2", "conflicting", ("baker", "Ivo Marsh is a baker."), "A book: Ivo Marsh is a baker."),
    ]
    wrong_answers = {text: contexts_of(question)[2][2] for text, question in questions.items()}
    assert wrong_answers["What is Ada Quill by trade?"] == ("baker of bread", "Ada Quill is a baker of bread.")
    assert [
        (question.object, question.contexts[0].text) for text, question in questions.items() if "float" in text
    ] == [
        ("yes", "It is remembered: Ostrel does float."),
        ("no", "It is denied: Vimmar does not float."),
        ("yes", "It is denied: Quenby does float."),
        ("no", "It is remembered: Tollask does not float."),
    ]
    assert [row.detail for row in sample.rejected] == [
        "ground_truth: neither memory_answer nor counter_answer states the true answer",
        "memory_answer, counter_answer: both say no to the question; exactly one of the two answers must say no",
    ]


@pytest.mark.parametrize(
    ("question", "memory", "counter", "memory_says"),
    [
        ("Is it impossible to swim?", "It is possible to swim.", "It is impossible to swim.", "no"),
        ("Is it impossible to swim?", "It is impossible to swim.", "It is not impossible to swim.", "yes"),
        ("Could it run without a mill?", "It cannot run without a mill.", "It could run without a mill.", "no"),
        ("Would she never swim?", "She would swim.", "She would never swim.", "no"),
        ("Isn't it old?", "It's old.", "It isn't old.", "yes"),
    ],
)
def test_conflictqa_understands_negated_questions(
    question: str, memory: str, counter: str, memory_says: str, tmp_path: Path
) -> None:
    file = tmp_path / "conflictQA-strategyQA-gpt4.json"
    row = {
        "question": question,
        "memory_answer": memory,
        "parametric_memory": memory,
        "counter_answer": counter,
        "counter_memory": counter,
    }
    for truth, answer in (("True", "yes"), ("False", "no")):
        file.write_text(
            json.dumps({**rows_of("conflictqa/conflictQA-popQA-chatgpt.json")[0], **row, "ground_truth": [truth]})
        )
        (read_question,) = read_questions(options("conflictqa", file)).questions
        right = memory if memory_says == answer else counter
        assert (read_question.object, read_question.contexts[0].text.endswith(right)) == (answer, True)


def test_nq_swap_has_a_passage_and_its_substitution(tmp_path: Path) -> None:
    question = by_text(read(tmp_path, "nq-swap"))["which river does Tollask lie on"]
    assert contexts_of(question) == [
        ("supporting", "supporting", ("Dune", "River Dune"), "<P> Tollask lies on the Dune. </P>"),
        ("conflicting", "conflicting", ("Eddle",), "<P> Tollask lies on the Eddle. </P>"),
    ]


def test_rgb_joins_the_parts_of_an_answer(tmp_path: Path) -> None:
    questions = by_text(read(tmp_path, "rgb"))
    assert [context[1:3] for context in contexts_of(questions["Which river does Ostrel lie on?"])] == [
        ("supporting", ("Arn", "River Arn")),
        ("supporting", ("Arn", "River Arn")),
        ("irrelevant", ()),
    ]
    assert [context[1:] for context in contexts_of(questions["Who rules Ostrel?"])] == [
        ("supporting", ("Ada Quill",), "Ada Quill rules Ostrel."),
        ("conflicting", ("Ivo Marsh",), "Ivo Marsh rules Ostrel."),
        ("irrelevant", (), "Ostrel has a market."),
    ]
    question = questions["Who rules Ostrel and on which river is it?"]
    assert question.answers == ("Ada Quill and Arn", "A. Quill and Arn")
    assert [context[1:] for context in contexts_of(question)] == [
        ("supporting", question.answers, "Ada Quill rules Ostrel.\n\nOstrel lies on the Arn."),
        ("irrelevant", (), "Ostrel has a market."),
    ]


def test_messages_number_rows_as_in_the_file(tmp_path: Path) -> None:
    file = write(tmp_path, "nq-swap")
    first = rows_of("nq-swap/dev-00000-of-00001.parquet.jsonl")[0]
    rows = [first, {**first, "sub_context": "On the Dune.", "sub_answer": ["Dune"]}]
    late = {**first, "org_answer": ["Arn", "Dune"], "org_context": "On both.", "sub_context": "On the Moss."}
    pq.write_table(pa.Table.from_pylist([*rows, *rows, late]), file)
    sample = read_questions(options("nq-swap", file))
    assert [len(question.contexts) for question in sample.questions] == [3]
    assert unusable_message(file, sample) == (
        f"{file}: 1 of 5 rows cannot be used: row 5: answer: Dune is the right answer and the answer of a "
        "conflicting context; correct one of the two answers"
    )


def test_clasheval_leaves_unchanged_contexts_out(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    first, second, *_ = rows_of("clasheval/dataset.pqt.jsonl")
    same_context = {**second, "context_mod": second["context_original"]}
    same_answer = {**same_context, "answer_mod": second["answer_original"], "mod_degree": "0.0"}
    file.write_text("".join(json.dumps(row) + "\n" for row in (first, same_context, same_answer)))
    sample = read_questions(options("clasheval", file))
    assert [context.context_id for context in sample.questions[0].contexts] == ["supporting", "changed: 1.0"]
    assert [(row.part, row.detail) for row in sample.rejected] == [
        ("line 2", "context_mod: equals context_original, but answer_mod differs from answer_original")
    ]


def test_wikicontradict_joins_equal_passages(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    row = rows_of("wikicontradict/WikiContradict_dataset_v1_rag_qa.csv")[0]
    passage = "It was founded in 1200, and in 1300."
    file.write_text(json.dumps({**row, "context1": passage, "context2": f"{passage} "}))
    (question,) = read_questions(options("wikicontradict", file)).questions
    assert contexts_of(question) == [("both passages", "unknown", (), passage)]


def test_wikicontradict_has_two_passages(tmp_path: Path) -> None:
    (question,) = (row for row in read(tmp_path, "wikicontradict").questions if row.list_id == "1")
    assert contexts_of(question) == [
        ("supporting", "supporting", ("1201",), "Vimmar was founded in 1201."),
        ("conflicting", "conflicting", ("1301",), "It was founded in 1301."),
    ]
    assert {passage.title for context in question.contexts for passage in context.passages} == {"Vimmar"}


def test_popqa_has_two_sentences_as_contexts(tmp_path: Path) -> None:
    sample = read(tmp_path, "popqa")
    questions = {question.list_id: question for question in sample.questions}
    supporting, conflicting = contexts_of(questions["1"])
    assert supporting[1:] == ("supporting", ("Belt", "the Belt"), "The country of Vimmar is Belt.")
    assert conflicting[1] == "conflicting"
    assert conflicting[2][0] in {"Arn", "Cress", "Dune"}
    assert conflicting[3] == f"The country of Vimmar is {conflicting[2][0]}."
    assert contexts_of(questions["103"])[0][3] == "Tollask is the capital of Dune."
    assert [context[1] for context in contexts_of(questions["200"])] == ["supporting"]  # no row has another colour
    again = read_questions(options("popqa", tmp_path / "popqa" / "popQA.tsv"))
    assert again == sample  # the draw of the wrong answer repeats


OTHER_FORM = '{"question": "Who?", "passage": "He.", "gold": "him"}\n'


@pytest.mark.parametrize("name", COUNTS)
def test_a_file_of_another_form_is_refused(name: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text(OTHER_FORM)
    settings = options(name, file)
    with pytest.raises(InputError) as raised:
        read_questions(settings)
    message = str(raised.value)
    assert message.startswith(f"{file} does not have the form of {settings.data_set.title}")
    assert ": the file lacks the column" in message
    assert message.endswith(
        f"; the file has question, passage, gold; download {settings.data_set.file} from "
        f"{settings.data_set.address}, and name the downloaded file"
    )


def test_rgb_needs_a_passage_of_each_part(tmp_path: Path) -> None:
    file = tmp_path / "en_int.json"
    row = {"id": 0, "query": "Who and where?", "answer": ["Ada", "Arn"], "positive": [["Ada."], []], "negative": ["x"]}
    file.write_text(json.dumps(row))
    (rejected,) = read_questions(options("rgb", file)).rejected
    assert rejected.detail == (
        "positive: must have a list of passages for each part of the answer, but one of these lists is empty"
    )


def test_the_nearest_form_is_named(tmp_path: Path) -> None:
    file = tmp_path / "mine.jsonl"
    file.write_text('{"qid": "1", "question": "Who?", "context": "He."}\n')
    with pytest.raises(
        InputError, match="of FaithEval, inconsistent or unanswerable: the file lacks the column answers; the file has"
    ):
        read_questions(options("faitheval", file))


def test_a_folder_leaves_other_files_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = write(tmp_path, "rgb")
    (folder / "mine.jsonl").write_text(OTHER_FORM)
    (folder / ".git").mkdir()
    (folder / ".git" / "mine.json").write_text(OTHER_FORM)
    with caplog.at_level(logging.WARNING):
        sample = read_questions(options("rgb", folder))
    assert len(sample.questions) == 12
    (warning,) = caplog.messages
    assert "mine.jsonl does not have the form of RGB" in warning
    for file in folder.glob("en_*.json"):
        file.unlink()
    with pytest.raises(InputError, match="does not have the form of RGB"):
        read_questions(options("rgb", folder))
    (folder / "mine.jsonl").unlink()
    with pytest.raises(InputError, match=r"ends in .*; download data/en_refine\.json, .* from github\.com/"):
        read_questions(options("rgb", folder))


BROKEN: dict[str, tuple[Row, str]] = {
    "cub/counterfact_test.jsonl": ({"context_type": "golden"}, "context_type: 'golden' is none of gold, edited"),
    "faitheval/counterfactual.jsonl": ({"answerKey": "Z"}, "answerKey: Z is not one of the labels A, B, C"),
    "clasheval/dataset.pqt.jsonl": ({"answer_mod": None}, "answer_mod: is missing"),
    "ramdocs/RAMDocs_test.jsonl": (
        {"documents": [{"type": "gossip", "text": "So they say."}]},
        "documents 1, type: 'gossip' is none of",
    ),
    "conflictqa/conflictQA-popQA-chatgpt.json": ({"ground_truth": []}, "ground_truth: is missing"),
    "nq-swap/dev-00000-of-00001.parquet.jsonl": (
        {"sub_answer": ["River Arn"]},
        "conflicting, but the context states the right answer",
    ),
    "rgb/en_refine.json": ({"answer": [["Arn"], []]}, "answer: is missing, or a part of the answer has no text"),
    "wikicontradict/WikiContradict_dataset_v1_rag_qa.csv": ({"context2": "  "}, "context2: is missing"),
    "popqa/popQA.tsv": ({"possible_answers": '["red'}, "possible_answers: is not a list that can be read"),
}
"""Broken values for the first row of a sample's file, and the reason why the row cannot be used."""


@pytest.mark.parametrize("sample_file", BROKEN)
def test_a_broken_row_is_rejected_with_reason(sample_file: str, tmp_path: Path) -> None:
    change, reason = BROKEN[sample_file]
    first, *rows = rows_of(sample_file)[:4]  # the last rows of ConflictQA's sample are rejected, too
    file = tmp_path / "mine.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in [{**first, **change}, *rows]))
    (rejected,) = read_questions(options(sample_file.partition("/")[0], file)).rejected
    assert (rejected.part, reason in str(rejected.detail)) == ("line 1", True), rejected.detail


def test_a_template_of_cub_is_filled_or_rejected(tmp_path: Path) -> None:
    (gold,) = (row for row in rows_of("cub/counterfact_test.jsonl") if row["id"] == "1_gold")

    def questions(**changes: Any) -> FileQuestions:
        file = tmp_path / "mine.jsonl"
        file.write_text(json.dumps(gold | changes))
        return read_questions(options("cub", file))

    changes = {"template": "<subject-w-space>lies on", "template_w_context": "<target_true> it is.\n<subject> lies on"}
    (question,) = questions(**changes).questions
    assert contexts_of(question)[0][3] == "Belt it is."
    reasons = {
        "<place> it is.\n<subject>": "the slot <place> of `template` or `template_w_context` has no value in the row",
        "<|user|>\n<subject>": "template_w_context: is a chat prompt; use a file without instruct_template in its name",
        "<subject> lies on the river": (
            "template_w_context: has only the sentence of `template`, without a fact; put the fact before the sentence"
        ),
    }
    for template, reason in reasons.items():
        assert [row.detail for row in questions(template_w_context=template).rejected] == [reason]


def test_a_study_may_set_title_and_licence(tmp_path: Path) -> None:
    file = write(tmp_path, "ramdocs")
    settings = options("ramdocs", file, title="Mine", licence="CC0", per_partition=2, passages={"sets": ["all"]})
    assert settings.origin == ("Mine, Wang et al. 2025, arXiv:2504.13079", "CC0")
    (context,) = settings.arrange(read_questions(settings).questions)[0].contexts
    assert (context.condition, len(context.passages)) == ("mixed", 4)


def test_the_key_depends_on_content_and_licence(tmp_path: Path) -> None:
    source, partition, access = QUESTION_SOURCES["rgb"], "own", None
    folder = write(tmp_path, "rgb")
    assert source.key is not None

    def key(**keys: Any) -> Any:
        return source.key(options("rgb", folder, **keys), partition, access)  # type: ignore[misc, arg-type]

    before = key()
    assert key(per_partition=3) == key(neutral=True) == before != key(licence="CC0")
    (folder / "en_int.json").unlink()
    assert key() != before
