import pytest

from data.sources import slots


def test_every_slot_is_filled() -> None:
    assert slots.fill_slot("[ENTITY] is near [ENTITY].", "Oslo") == "Oslo is near Oslo."


@pytest.mark.parametrize("answer", ["\\1", "{entity}", "$&", "[ENTITY]", "%s"])
def test_an_answer_is_text_and_never_a_pattern(answer: str) -> None:
    assert slots.fill_slot("It is [ENTITY].", answer) == f"It is {answer}."
    assert slots.replace_object("It is Oslo.", "Oslo", answer) == f"It is {answer}."


def test_only_whole_words_are_replaced() -> None:
    context = "Iran and Iranian, Tehran-Iran, pro-Iran, _Iran"
    assert slots.replace_object(context, "Iran", "Peru") == "Peru and Iranian, Tehran-Peru, pro-Peru, _Iran"


def test_letters_beyond_ascii_are_part_of_a_word() -> None:
    assert slots.replace_object("Åland is not land", "land", "sea") == "Åland is not sea"


def test_case_does_not_matter() -> None:
    assert slots.replace_object("OSLO and oslo", "Oslo", "Lima") == "Lima and Lima"


@pytest.mark.parametrize(
    ("context", "answer", "changed"),
    [("C++ (1985) rules", "C++ (1985)", "Ada rules"), ("a.c", "a.c", "Ada"), ("abc", "a.c", None)],
)
def test_an_object_is_found_as_it_is_written(context: str, answer: str, changed: str | None) -> None:
    assert slots.replace_object(context, answer, "Ada") == changed


@pytest.mark.parametrize(("context", "answer"), [("It is Oslo.", "Lima"), ("It is Oslo.", ""), ("", "Oslo")])
def test_an_object_that_is_not_there_is_not_replaced(context: str, answer: str) -> None:
    assert slots.replace_object(context, answer, "Bergen") is None


def test_a_sound_question_has_no_flag() -> None:
    assert slots.flags_of("What is the capital of Norway?", ["Oslo", "Christiania"], "Oslo", "Lima") == ()


@pytest.mark.parametrize(
    ("question", "answers", "answer", "replacement", "flag"),
    [
        (" ", ["Oslo"], "Oslo", "Lima", slots.EMPTY_QUESTION),
        ("Where?", [""], "", "Lima", slots.EMPTY_ANSWER),
        ("Where?", ["Oslo"], "Oslo", "\t", slots.EMPTY_REPLACEMENT),
        ("Where?", ["Oslo", "Christiania"], "Oslo", "CHRISTIANIA ", slots.REPLACEMENT_IS_ANSWER),
        ("Where?", [], "Oslo", "oslo", slots.REPLACEMENT_IS_ANSWER),
        ("Is New York, a city?", ["New York"], "new york", "Lima", slots.QUESTION_CONTAINS_ANSWER),
    ],
)
def test_a_broken_rule_has_its_flag(
    question: str, answers: list[str], answer: str, replacement: str, flag: str
) -> None:
    assert slots.flags_of(question, answers, answer, replacement) == (flag,)


def test_an_answer_within_a_longer_word_is_not_in_the_question() -> None:
    assert slots.flags_of("Who is the Iranian singer?", ["Iran"], "Iran", "Peru") == ()


def test_nothing_at_all_breaks_three_rules_and_no_other() -> None:
    broken = {slots.EMPTY_QUESTION, slots.EMPTY_ANSWER, slots.EMPTY_REPLACEMENT}
    assert set(slots.flags_of("", [], "", "")) == broken
    assert broken < slots.UNASKABLE
