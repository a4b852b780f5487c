"""The pages in a browser: themes, search, order, filters, keys, downloads and hostile texts."""

import csv
import io
import json
from pathlib import Path

import pandas as pd
import pytest

from swaymeter.data.sources.judgements import read_judgements
from swaymeter.reports.answers import write_answers
from swaymeter.reports.figures import FIGURES
from tests.reports.browser import CHROMIUM, Browser
from tests.reports.frames_of_answers import frames_of_answers
from tests.reports.study import CARD, MODEL
from tests.reports.test_answers_page import HOSTILE

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")

LAYOUT = """[document.documentElement.scrollWidth, innerWidth,
getComputedStyle(document.documentElement).backgroundColor,
[...document.images].filter(image => image.complete && image.naturalWidth > 0).length]"""
LISTED = "[...document.querySelectorAll('#rows h3 a')].map(one => one.textContent)"
COUNT = "document.getElementById('count').textContent"
OPENED = "document.getElementById('reader').hidden ? '' : document.getElementById('question').textContent"
HUES = """[...document.querySelector('.groups').children].map(one => getComputedStyle(one).borderLeftColor)"""
RECORD_FILES = "Object.assign(window, {made: []}); URL.createObjectURL = one => (made.push(one), 'data:,')"
# In an address of the page, `open` is the open question, and `beside` is all (side by side) or empty (one model).
NONSENSE = ("#sort=__proto__&page=-3", "#at=x&open=no&under=1&beside=no", "#%&=&search", "#index", "#constructor=1")


@pytest.fixture(scope="module")
def frames() -> dict[str, pd.DataFrame]:
    """Answers of two models to 120 questions; question q7 has names to search for."""
    models = [(MODEL, "float32"), ("another", "bfloat16")]
    study = frames_of_answers(models, 120)
    questions, answers = study["questions_to_read"], study["answers_to_read"]
    is_q7 = questions["question_id"] == "q7"
    is_answer = (answers["model"] == MODEL) & (answers["question_id"] == "q7")
    questions.loc[is_q7, ["question", "replacement"]] = ["Where was Łukasz Müller born?", "Bełchatów"]
    answers.loc[is_answer & (answers["sample"] == 3), "text"] = "in Saint-Étienne, perhaps"
    answers.loc[is_answer & (answers["sample"] == 4), "thoughts"] = "Gdańsk?\n<b>No.</b>"
    is_greedy = is_answer & answers["sample"].isna()
    answers.loc[is_greedy, ["text", "thoughts", "state"]] = ["", "Let me see", "unfinished_thoughts"]
    return study


@pytest.fixture(scope="module")
def answers(frames: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("answers")
    return folder / write_answers(frames, folder, CARD)


def test_a_link_to_a_folded_table_opens_it(browser: Browser, report: Path) -> None:
    browser.emulate(1400, "light")
    browser.open(report / "index.html", "#shares-persuaded-and-stubborn")
    assert browser.ask("document.getElementById('shares-persuaded-and-stubborn').closest('details').open") is True


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize(("part", "fragment"), [("figures", ""), ("list", ""), ("reader", "#open=q4")])
def test_pages_have_no_errors_requests_or_sideways_scrolling(
    browser: Browser, report: Path, answers: Path, part: str, fragment: str, width: int, theme: str
) -> None:
    browser.emulate(width, theme)
    browser.open(report / "index.html" if part == "figures" else answers, fragment)
    browser.ask("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert browser.ask(f"document.getElementById('{part}').getBoundingClientRect().height") > 500
    scroll, inner, paper, pictures = browser.ask(LAYOUT)
    assert scroll <= inner == width
    assert (paper == "rgb(20, 23, 28)") is (theme == "dark")
    # The study lacks the figures precision, over-time, front-of-variants and tests-by-model.
    assert pictures == (len(FIGURES) - 4 if part == "figures" else 0)
    assert browser.trouble() == []


def test_a_search_ignores_case_and_accents(browser: Browser, answers: Path) -> None:
    browser.emulate(1400, "light")
    browser.open(answers, "#model=" + f"{MODEL} (float32)".replace(" ", "+"))
    for words in ("lukasz MULLER", "belchatow", "saint-etienne", "Étienne born"):
        browser.choose("search", words)
        browser.wait(f"{COUNT} === '1 of 120 questions'")
        assert browser.ask(LISTED) == ["Where was Łukasz Müller born?"]
    browser.choose("search", "lukasz capital")
    browser.wait(f"{COUNT} === '0 of 120 questions'")
    browser.choose("search", "")
    assert browser.ask(COUNT) == "120 of 120 questions"
    browser.choose("model", "another (bfloat16)")
    browser.choose("search", "étienne")
    browser.wait(f"{COUNT} === '0 of 120 questions'")


@pytest.mark.parametrize("order", ["descending", "ascending"])
@pytest.mark.parametrize("sort", ["persuasion", "persuasion_original", "entropy_counter_memory"])
def test_the_list_has_the_chosen_order(
    browser: Browser, answers: Path, frames: dict[str, pd.DataFrame], sort: str, order: str
) -> None:
    browser.open(answers)
    browser.choose("sort", sort)
    browser.choose("order", order)
    scores = frames["answers_of_questions"]
    scores = scores[(scores["model"] == "another") & scores["condition"].isin(["original", "counter_memory"])]
    measure, _, condition = sort.partition("_")
    name = {"persuasion": "coherent_persuasion", "entropy": "semantic_entropy"}[measure]
    keys = scores[scores["condition"] == condition] if condition else scores
    largest = keys.groupby("question_id")[name].max().sort_values(ascending=order == "ascending")
    words = frames["questions_to_read"].set_index("question_id")["question"]
    first = browser.ask(LISTED)
    assert first == [words[question] for question in largest.index[: len(first)]]


def test_the_list_shows_answers_their_verdicts_and_marks(browser: Browser, answers: Path) -> None:
    browser.emulate(1400, "light")
    browser.open(answers, "#sort=question&order=ascending&search=subject+5?")
    heads = browser.ask("[...document.querySelector('#rows thead').querySelectorAll('th')].map(one => one.textContent)")
    lines = browser.ask(
        "[...document.querySelector('#rows tbody').rows].map(one => one.innerText.replace(/\\s+/g, ' ').trim())"
    )
    assert heads == ["another (bfloat16)", f"{MODEL} (float32)"]
    starts = ["no context Oslo ", "original It is Oslo ", "counter-memory · Bergen Bergen "]
    assert [text[: len(start)] for text, start in zip(lines, starts, strict=True)] == starts
    table_body = "document.querySelector('#rows tbody')"
    marks = browser.ask(f"[...{table_body}.lastChild.querySelectorAll('mark')].map(one => one.className)")
    assert set(marks) == {"replacement"}
    verdicts = browser.ask(f"[...{table_body}.querySelectorAll('.verdict')].map(one => one.textContent)")
    assert len(verdicts) == 6
    assert set(verdicts) <= {
        "original answer",
        "the context's answer",
        "a conflicting context's answer",
        "another or none",
    }


def test_narrow_list_names_the_model_beside_each_reply(browser: Browser, answers: Path) -> None:
    browser.emulate(390, "light")
    browser.open(answers, "#search=subject+5?")
    cells = "[...document.querySelector('#rows tbody tr').querySelectorAll('td')]"
    assert browser.ask(f"{cells}.map(one => getComputedStyle(one, '::before').content)") == [
        '"another (bfloat16)"',
        f'"{MODEL} (float32)"',
    ]


def test_equal_answers_of_many_models_are_merged(browser: Browser, tmp_path: Path) -> None:
    frames = frames_of_answers([(f"m · {name}", "float32") for name in "abcd"], 3)
    frames["answers_of_questions"]["verdict"] = "neither"
    browser.emulate(1400, "light")
    browser.open(tmp_path / write_answers(frames, tmp_path, CARD), "#beside=all")
    groups = browser.ask("[...document.querySelectorAll('#rows .said')].map(one => one.textContent)")
    assert len(groups) < 4 * 3 * 3  # models, questions and conditions
    for text in groups:  # only a reply of a single model comes with its entropy
        assert ("entropy" in text) == (", " not in text.split(":")[0] and not text.startswith("all"))


def test_only_visible_rows_are_in_the_document(browser: Browser, tmp_path: Path) -> None:
    frames = frames_of_answers([("m", "float32")], 3000)
    frames["answers_to_read"] = frames["answers_to_read"].loc[lambda rows: rows["sample"].isna()]
    browser.emulate(1400, "light")
    browser.open(tmp_path / write_answers(frames, tmp_path, CARD), "#sort=question&order=ascending")
    row_numbers = "[...document.querySelectorAll('#rows article')].map(one => one.ariaPosInSet - 1)"
    next_frame = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    for share in (0.5, 1, 0.2):
        browser.ask(f"scrollTo({{top: document.body.scrollHeight * {share}, behavior: 'instant'}}), {next_frame}")
        places = browser.ask(row_numbers)
        assert places == list(range(places[0], places[-1] + 1))
        assert len(places) < 40
        boxes = "[...document.querySelectorAll('#rows article')].map(one => one.getBoundingClientRect())"
        assert browser.ask(f"{boxes}.some(one => one.top < innerHeight / 2 && one.bottom > innerHeight / 2)")
    assert browser.trouble() == []


def test_a_print_has_every_row(browser: Browser, answers: Path) -> None:
    browser.emulate(1400, "light")
    browser.open(answers)
    row_count = "document.querySelectorAll('#rows article').length"
    browser.ask("dispatchEvent(new Event('beforeprint'))")
    assert browser.ask(row_count) == 120
    assert browser.ask("document.getElementById('rows').style.padding") == "0px"
    browser.ask("dispatchEvent(new Event('afterprint'))")
    assert browser.ask(row_count) < 40


@pytest.mark.parametrize("under", ["", "original", "counter_memory"])
@pytest.mark.parametrize("outcome", ["persuaded", "agreed", "stubborn", "other"])
def test_filters_leave_the_questions_with_an_outcome(
    browser: Browser, answers: Path, frames: dict[str, pd.DataFrame], outcome: str, under: str
) -> None:
    browser.open(answers)
    browser.choose("outcome", outcome)
    browser.choose("under", under)
    browser.choose("partition", "static")
    scores = frames["answers_of_questions"].query(
        "model == 'another' and partition == 'static' and condition != 'none'"
    )
    scores = scores[scores["condition"] == under] if under else scores
    matching = scores[scores["outcome"] == outcome]
    assert browser.ask(COUNT) == f"{matching['question_id'].nunique()} of 120 questions"
    browser.ask("document.getElementById('clear').click()")
    assert browser.ask(COUNT) == "120 of 120 questions"
    assert browser.ask("document.getElementById('clear').hidden")


def test_the_list_shows_where_judge_and_rule_differ(
    browser: Browser, answers: Path, frames: dict[str, pd.DataFrame]
) -> None:
    browser.open(answers)
    judged = frames["judged_greedy_answers"].query("model == 'another'")
    both = judged.dropna(subset=["verdict", "rule"])
    differ = both.loc[both["verdict"] != both["rule"], "question_id"].nunique()
    assert 0 < differ < 120
    for choice, count in (("differs", differ), ("agrees", 120 - differ)):
        browser.choose("judge", choice)
        assert browser.ask(COUNT) == f"{count} of 120 questions"
    browser.open(answers, "#open=q1&beside=")
    assert "States, by the judge\t– (no offered verdict)" in browser.ask("document.querySelector('.scores').innerText")


def test_thoughts_are_folded_text_that_a_search_finds(browser: Browser, answers: Path) -> None:
    browser.emulate(1400, "light")
    browser.open(answers, "#open=q7&beside=&model=" + f"{MODEL} (float32)".replace(" ", "+"))
    thoughts = "[...document.querySelectorAll('details.thoughts')].map(one => [one.open, one.lastChild.textContent])"
    shown = browser.ask(thoughts)
    assert [False, "Let me see"] in shown
    assert [False, "Gdańsk?\n<b>No.</b>"] in shown
    assert "its thoughts did not end" in browser.ask("document.querySelector('.greedy').innerText")
    browser.open(answers, "#model=" + f"{MODEL} (float32)".replace(" ", "+"))
    browser.choose("search", "gdansk")
    browser.wait(f"{COUNT} === '1 of 120 questions'")


def test_a_question_shows_its_groups_contexts_and_scores(
    browser: Browser, answers: Path, frames: dict[str, pd.DataFrame]
) -> None:
    browser.emulate(1400, "light")
    browser.open(answers, "#open=q0&beside=")
    assert browser.ask("[...document.querySelectorAll('.conditions h3')].map(one => one.textContent)") == [
        "Without a context",
        "With the original context",
        "With the counter-memory context",
    ]
    groups = browser.ask("[...document.querySelector('.groups').children].map(one => one.innerText)")
    lines = [[line for line in group.splitlines() if line] for group in groups]
    assert [line[0] for line in lines] == ["A 6 of 10", "B 2 of 10", "C 2 of 10"]
    assert lines[0][1:3] == ["Oslo", "6 times · −1.00 nats"]
    assert groups[2].count("unfinished") == groups[2].count("empty answer") == 1
    assert len(set(browser.ask(HUES))) == 3
    marks = "[...document.querySelectorAll('blockquote mark')].map(one => [one.className, one.textContent])"
    assert browser.ask(marks) == [["original", "Oslo"], ["replacement", "Bergen"]]
    assert browser.ask("[...document.querySelectorAll('.cut')].map(one => one.textContent)") == [
        "Context cut by 12 tokens"
    ]
    links = "[...document.querySelectorAll('dl a')].map(one => one.href)"
    assert browser.ask(links) == [f"https://www.wikidata.org/wiki/{page}" for page in ("Q20", "Property:P36", "Q585")]
    score = frames["answers_of_questions"].query(
        "model == 'another' and question_id == 'q0' and condition == 'original'"
    )
    persuasion = f"{score['coherent_persuasion'].item():.2f} ± {score['coherent_persuasion_standard_error'].item():.2f}"
    assert persuasion in browser.ask("document.querySelector('.scores').innerText")
    assert "all-MiniLM-L6-v2 for deberta-large-mnli" in browser.ask("document.querySelector('.known').innerText")


def test_the_address_names_the_view_and_back_works(browser: Browser, answers: Path) -> None:
    browser.emulate(1400, "light")
    browser.open(answers)
    browser.choose("sort", "entropy_none")
    browser.choose("partition", "temporal")
    browser.choose("search", "capital")
    address, listed = browser.ask("location.hash"), browser.ask(LISTED)
    browser.ask("document.querySelectorAll('#rows h3 a')[2].click()")
    browser.wait(f"({OPENED}) === {json.dumps(listed[2])}")
    browser.ask("document.querySelector('#ways li:nth-child(3) a').click()")
    browser.wait(f"({OPENED}) === {json.dumps(listed[3])}")
    question_address = browser.ask("location.hash")
    for opened in (listed[2], ""):
        browser.ask("history.back()")
        browser.wait(f"({OPENED}) === {json.dumps(opened)}")
    assert browser.ask("location.hash") == address
    assert browser.ask(LISTED)[: len(listed)] == listed
    browser.open(answers, question_address)
    assert browser.ask(OPENED) == listed[3]
    browser.ask("document.querySelector('#ways a').click()")
    browser.wait(f"({OPENED}) === ''")
    assert browser.ask(LISTED)[: len(listed)] == listed
    assert browser.ask("document.getElementById('search').value") == "capital"
    assert browser.ask("document.getElementById('sort').value") == "entropy_none"


def test_keys_move_through_the_list_and_back(browser: Browser, answers: Path) -> None:
    browser.emulate(1400, "light")
    browser.open(answers)
    focused = "document.activeElement.querySelector('h3')?.textContent"
    order = browser.ask(LISTED)
    for key, name in (("j", order[0]), ("j", order[1]), ("ArrowDown", order[2]), ("k", order[1])):
        browser.press(key)
        assert browser.ask(focused) == name
    address = browser.ask("location.hash")
    browser.press("Enter")
    browser.wait(f"({OPENED}) === {json.dumps(order[1])}")
    assert browser.ask("document.activeElement.id") == "question"
    browser.press("j")
    browser.wait(f"({OPENED}) === {json.dumps(order[2])}")
    browser.press("Escape")
    browser.wait(f"({OPENED}) === ''")
    assert browser.ask(focused) == order[2]
    browser.press("/")
    assert browser.ask("document.activeElement.id") == "search"
    browser.open(answers, address)
    assert browser.ask(focused) == order[1]
    for _ in range(60):
        browser.press("j")
    box = "document.activeElement.getBoundingClientRect()"
    assert browser.ask(f"document.activeElement.ariaPosInSet === '62' && {box}.top >= 0 && {box}.top < innerHeight")


@pytest.mark.parametrize("file", ["csv", "jsonl"])
def test_the_listed_answers_are_saved(browser: Browser, tmp_path: Path, file: str) -> None:
    frames = frames_of_answers(questions=4)
    texts = ['=1+1, "x"', "a;@SUM(1)", "line\n+1", "\u202e-2"]
    rows = frames["answers_to_read"]
    greedy = rows["sample"].isna() & (rows["condition"] == "original")
    rows.loc[greedy, "text"] = texts
    browser.open(tmp_path / write_answers(frames, tmp_path, CARD), "#under=original&sort=question&order=ascending")
    browser.ask(RECORD_FILES)
    browser.ask(f"document.getElementById('save-{file}').click()")
    text = browser.ask("made[0].text()")
    if file == "csv":
        saved = list(csv.DictReader(io.StringIO(text)))
        shown = ['\'=1+1, "x"', "a;'@SUM(1)", "line\n'+1", "'\u202e-2"]
    else:
        saved, shown = [json.loads(line) for line in text.splitlines()], texts
    assert [row["answer"] for row in saved if row["context_type"] == "original"] == shown
    assert len(saved) == 12
    assert {*saved[0]} >= {"question_id", "question", "expected_answer", "context", "model", "verdict", "ended"}


def test_downloaded_judgements_can_be_read(browser: Browser, tmp_path: Path) -> None:
    frames = frames_of_answers(questions=2)
    text = '=1+1; @x\n"-2", _x0041_ \u202e</script>'
    unused = {
        "number": 1,
        "file": "v.csv",
        "row": 2,
        "question_id": "q1",
        "context_id": "none",
        "field": "verdict",
        "judged": "007",
        "value": "both",
        "annotator": "Ben",
        "note": "",
        "variant": "",
        "sample": "",
        "answers": 0,
        "unused": "no answer has these words",
    }
    earlier = {**unused, "question_id": "q0", "judged": text, "answers": 1, "unused": None}
    frames["judgements_to_read"] = pd.DataFrame(
        [unused, {**earlier, "number": 2, "row": 3}, {**earlier, "number": 3, "row": 4, "annotator": "Ada"}]
    )
    rows = frames["answers_to_read"]
    rows.loc[rows["sample"].isna() & (rows["question_id"] == "q0"), "text"] = text
    browser.open(tmp_path / write_answers(frames, tmp_path, CARD), "#open=q0")
    assert "no answer has these words" in browser.ask("document.getElementById('list').textContent")
    browser.ask("localStorage.clear()")
    choice = "document.querySelector('.greedy .judging select')"
    browser.ask(f"{choice}.value = 'refusal'; {choice}.dispatchEvent(new Event('change'))")
    browser.ask(RECORD_FILES)
    browser.ask("document.getElementById('save-judgements').click()")
    assert browser.ask("made.length") == 0, "the annotator is not named"
    browser.ask("document.getElementById('annotator').value = 'Ada'")
    browser.ask("document.getElementById('save-judgements').click()")
    file = tmp_path / "judgements.csv"
    file.write_text(browser.ask("made[0].text()"), encoding="utf-8-sig", newline="")
    # Ada's earlier verdict on the same words is replaced, Ben's is not.
    unmatched, earlier_of_ben, new = read_judgements([file])
    assert (earlier_of_ben.question_id, earlier_of_ben.value, earlier_of_ben.annotator) == ("q0", "both", "Ben")
    assert (unmatched.question_id, unmatched.judged, unmatched.value, unmatched.annotator) == (
        "q1",
        "007",
        "both",
        "Ben",
    )
    assert (new.question_id, new.context_id, new.judged) == ("q0", "none", text)
    assert (new.field, new.value, new.annotator, new.problem) == ("verdict", "refusal", "Ada", earlier_of_ben.problem)
    browser.open(tmp_path / "answers.html", "#beside=")
    assert "your judgement, not in the study yet" in browser.ask("document.getElementById('rows').innerText")
    browser.open(tmp_path / "answers.html", "#open=q0")
    # Ada's verdict in the study is the same.
    browser.ask(f"{choice}.value = 'both'; {choice}.dispatchEvent(new Event('change'))")
    browser.open(tmp_path / "answers.html", "#beside=")
    assert "not in the study yet" not in browser.ask("document.getElementById('rows').innerText")
    browser.ask("document.getElementById('discard-judgements').click()")
    assert browser.ask("document.getElementById('judgements').hidden")


def test_two_filters_apply_to_the_same_answer(browser: Browser, answers: Path, frames: dict[str, pd.DataFrame]) -> None:
    scores = frames["answers_of_questions"].query("model == 'another' and verdict == 'context'")
    both = scores.query("condition == 'original' and outcome == 'stubborn'")
    browser.open(answers, "#verdict=context&outcome=stubborn&under=original")
    assert browser.ask(COUNT) == f"{len(both)} of 120 questions"
    assert browser.ask("document.querySelectorAll('#rows .hit').length >= document.querySelectorAll('#rows h3').length")
    verdicts = frames["answers_of_questions"].groupby(["question_id", "condition"])["verdict"].nunique()
    differ = verdicts[verdicts > 1].reset_index()["question_id"].nunique()
    browser.open(answers, "#variants=differ")
    assert browser.ask(COUNT) == f"{differ} of 120 questions"


@pytest.mark.parametrize("fragment", NONSENSE)
def test_an_address_with_nonsense_opens_the_list(browser: Browser, answers: Path, fragment: str) -> None:
    browser.open(answers)
    first_rows = browser.ask(LISTED)
    browser.open(answers, fragment)
    assert browser.ask(COUNT) == "120 of 120 questions"
    assert browser.ask(LISTED) == first_rows != []
    assert browser.trouble() == []


def test_hostile_texts_are_shown_and_do_nothing(browser: Browser, tmp_path: Path) -> None:
    frames = frames_of_answers(questions=3)
    text = "".join(HOSTILE)
    columns = ["subject", "object", "replacement", "question", "accepted", "relation", "partition"]
    frames["questions_to_read"][[*columns, "subject_id"]] = text
    frames["contexts_to_read"]["text"] = text
    frames["answers_to_read"]["text"] = text
    frames["answers_of_questions"]["stand_in"] = text
    browser.open(tmp_path / write_answers(frames, tmp_path, CARD), "#open=q0")
    assert browser.ask("[document.images.length, document.scripts.length]") == [0, 5]  # the script and four blocks
    assert browser.ask("document.querySelector('.answer .words').textContent") == text
    assert browser.ask("document.querySelector('blockquote').textContent") == text
    assert browser.ask("[...document.querySelectorAll('dl a')].length") == 2
    assert browser.trouble() == []


@pytest.mark.parametrize("width", [390, 1400])
def test_own_contexts_are_listed_and_read(
    browser: Browser, own_questions: dict[str, pd.DataFrame], tmp_path: Path, width: int
) -> None:
    browser.emulate(width, "light")
    browser.open(tmp_path / write_answers(own_questions, tmp_path, CARD), "#beside=")
    heads = browser.ask("[...document.querySelector('#rows tbody').rows].map(one => one.cells[0].textContent)")
    assert [head.split(" · ")[0] for head in heads][:3] == ["no context", "right passage", "wrong passage"]
    browser.choose("sort", "persuasion_conflicting")
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    scores = own_questions["answers_of_questions"].query(f"model == '{MODEL}' and condition == 'conflicting'")
    largest = scores.groupby("question")["coherent_persuasion"].max().sort_values(ascending=False)
    listed = browser.ask(LISTED)
    assert listed == list(largest.index)[: len(listed)]
    browser.ask("document.querySelector('#rows h3 a').click()")
    browser.wait(f"({OPENED}) === {json.dumps(largest.index[0])}")
    sections = browser.ask("[...document.querySelectorAll('.conditions h3')].map(one => one.textContent)")
    assert sections[:3] == ["Without a context", "With the right passage", "With the wrong passage · forum"]
    terms = "[...document.querySelectorAll('dt')].map(one => one.textContent)"
    assert browser.ask(terms) == ["Model", "Group", "Right answer", "Counts as right", "chapter"]
    browser.ask("[...document.querySelectorAll('#models a')].at(-1).click()")
    # Two models answer without a context and with each of five contexts.
    browser.wait("document.querySelectorAll('.models h4').length === 12")
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")
    assert browser.trouble() == []


@pytest.mark.parametrize("name", ["chapter", "__proto__", "constructor", "search", '"><script>alert(1)</script>'])
def test_a_column_of_any_name_filters_questions(browser: Browser, tmp_path: Path, name: str) -> None:
    frames = frames_of_answers(questions=6)
    values = ["<i>one</i>", "a  two\r\n&amp;", "<i>one</i>", "__proto__", "<i>one</i>", "zwölf"]
    frames["questions_to_read"]["other_columns"] = [json.dumps({name: value}) for value in values]
    page = tmp_path / write_answers(frames, tmp_path, CARD)
    browser.emulate(1400, "light")
    browser.open(page)
    browser.choose("search", "zwolf")
    browser.wait(f"{COUNT} === '1 of 6 questions'")
    browser.choose("search", "")
    for value in set(values):
        browser.choose(f"column.{name}", value)
        assert browser.ask(COUNT) == f"{values.count(value)} of 6 questions"
        assert browser.ask("document.getElementById('clear').hidden") is False
    browser.choose(f"column.{name}", values[0])
    filter_address = browser.ask("location.hash")
    browser.open(page, filter_address + "&open=q0")
    assert browser.ask("[...document.querySelectorAll('dt, dd')].slice(-2).map(one => one.textContent)") == [
        name,
        values[0],
    ]
    browser.ask("document.querySelector('#ways a').click()")
    browser.wait(f"{COUNT} === '3 of 6 questions'")
    assert browser.ask("document.querySelectorAll('#answers script, #answers i').length") == 0
    assert browser.trouble() == []


def test_a_printed_question_has_no_controls(browser: Browser, answers: Path) -> None:
    browser.emulate(794, "dark", media="print")  # the width of A4 paper
    browser.open(answers, "#open=q0&beside=")
    assert browser.ask("getComputedStyle(document.documentElement).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.ask("['ways', 'controls'].map(id => document.getElementById(id).getClientRects().length)") == [0, 0]
    assert browser.ask("document.querySelectorAll('.group').length") == 9  # three in each of three conditions
    assert browser.ask("document.documentElement.scrollWidth <= innerWidth")


def frames_of_published_size() -> dict[str, pd.DataFrame]:
    """Return 5,689 questions with two contexts of about 600 characters and eleven answers a condition."""
    study = frames_of_answers([("m", "float32")], 5689)
    contexts, answers = study["contexts_to_read"], study["answers_to_read"]
    contexts["text"] *= 12
    # Each number from 0 to 9972 is in at most 19 answers.
    answers["text"] = "The capital is number " + (pd.Series(answers.index) % 9973).astype(str) + " of them all"
    return study


def test_study_of_published_size_is_searched_and_read(browser: Browser, tmp_path: Path) -> None:
    browser.emulate(1400, "light")
    page = tmp_path / write_answers(frames_of_published_size(), tmp_path, CARD)
    assert page.stat().st_size < 40_000_000
    browser.open(page)
    assert browser.ask(COUNT) == "5,689 of 5,689 questions"
    browser.choose("search", "number 9972")
    browser.wait(f"!{COUNT}.includes('still')")
    listed = browser.ask(LISTED)
    assert 0 < len(listed) < 20
    browser.ask("document.querySelector('#rows h3 a').click()")
    browser.wait(f"({OPENED}) === {json.dumps(listed[0])}")
    assert "number 9972 of them all" in browser.ask("document.getElementById('reader').innerText")
