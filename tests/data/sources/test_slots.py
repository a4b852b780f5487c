import pytest

from swaymeter.data.sources import slots


@pytest.mark.parametrize("answer", ["\\1", "{entity}", "$&", "[ENTITY]", "%s"])
def test_an_answer_is_text_and_never_a_pattern(answer: str) -> None:
    assert slots.fill_slot("It is [ENTITY].", answer) == f"It is {answer}."
    assert slots.replace_object("It is Oslo.", "Oslo", answer) == f"It is {answer}."


def test_only_whole_words_are_replaced() -> None:
    context = "IRAN and Iranian, Tehran-Iran, pro-iran, _Iran, ÅIran"
    assert slots.replace_object(context, "Iran", "Peru") == "Peru and Iranian, Tehran-Peru, pro-Peru, _Iran, ÅIran"


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


@pytest.mark.parametrize(
    ("snippet", "answer", "replacement"),
    [
        ("[ENTITY] is near [ENTITY].", "Oslo", "Lima"), ("Oslo Street is in [ENTITY], not in Lima.", "Oslo", "Lima"),
        ("Its country is a [ENTITY]n one, of [ENTITY]ns.", "Latvia", "Peru"),
        ("He was a [ENTITY], a film actor.", "film", "film actor"),
        ("He was a film [ENTITY], a film actor.", "film actor", "film"), ("[ENTITY][ENTITY]", "a", "aa"),
        ("[ENTITY]", "Oslo", "Lima"), ("no slot at all", "Oslo", "Lima"), ("It is [ENTITY].", "Oslo", ""),
        ("It is [ENTITY].", "", "Oslo"), ("(.*) \\1 [ENTITY] $&", "(.*)", "\\1"), ("", "Oslo", "Lima"),
    ],
)  # fmt: skip
def test_a_snippet_is_found_again_from_its_two_contexts(snippet: str, answer: str, replacement: str) -> None:
    contexts = slots.fill_slot(snippet, answer), slots.fill_slot(snippet, replacement)
    found = slots.snippet_of(*contexts, answer, replacement)
    assert found is not None
    assert (slots.fill_slot(found, answer), slots.fill_slot(found, replacement)) == contexts
    assert found == snippet or len(snippet) == len(found)


def test_equal_answers_make_every_mention_a_slot() -> None:
    context = "Iran, an Iranian state: Iran"
    assert slots.snippet_of(context, context, "Iran", "Iran") == "[ENTITY], an Iranian state: [ENTITY]"


@pytest.mark.parametrize(
    ("original", "counter_memory"),
    [
        ("It is Oslo.", "It was Lima."), ("It is Oslo.", "It is Lima"), ("It is Oslo.", "It is Lima. "),
        ("Oslo and Oslo", "Lima"), ("", "Lima and"), ("[ENTITY] Oslo", "[ENTITY] Lima"),
    ],
)  # fmt: skip
def test_contexts_that_come_from_no_snippet_have_none(original: str, counter_memory: str) -> None:
    assert slots.snippet_of(original, counter_memory, "Oslo", "Lima") is None


def test_a_long_snippet_is_found_in_no_time() -> None:
    snippet = "a [ENTITY] " * 2000
    original, changed = slots.fill_slot(snippet, "a"), slots.fill_slot(snippet, "aa")
    assert slots.snippet_of(original, changed, "a", "aa") is not None


@pytest.mark.parametrize(
    ("snippet", "flags"),
    [
        ("The seat is [ENTITY], (the [ENTITY]) and '[ENTITY]'s.", ()), ("The seat is Oslo.", (slots.NO_SLOT,)),
        ("The ENTITY band is [ENTITY].", (slots.BROKEN_SLOT,)), ("A SodaENTITY of [ENTITY].", (slots.BROKEN_SLOT,)),
        ("An entity of [ENTITY].", ()), ("The [ENTITY]ian coast.", (slots.BROKEN_SLOT,)),
        ("vo[ENTITY]bulary", (slots.BROKEN_SLOT,)), ("The ENTITY.", (slots.NO_SLOT, slots.BROKEN_SLOT)),
        ("[ENTITY], once christiania", (slots.ANSWER_LEFT_IN_CONTEXT,)), ("[ENTITY] and the Osloite", ()),
    ],
)  # fmt: skip
def test_a_snippet_s_broken_rules_are_named(snippet: str, flags: tuple[str, ...]) -> None:
    assert slots.flags_of_snippet(snippet, ["Oslo", "Christiania", ""]) == flags
