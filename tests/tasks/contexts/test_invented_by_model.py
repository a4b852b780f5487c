from collections.abc import Collection

import pytest

from swaymeter.data.catalog.name_parts import name_parts
from swaymeter.data.errors import InputError, UnknownName, UsageError
from swaymeter.data.invented import invented_names
from swaymeter.tasks.contexts import invented_by_model
from swaymeter.tasks.contexts.invented_by_model import EXAMPLES, MIN_ROUNDS, names_by_model, names_in
from swaymeter.tasks.contexts.texts import fold
from swaymeter.tasks.models import LanguageModel
from tests.tasks.contexts.conftest import SetReplies


def test_names_keep_the_order_of_the_model(set_replies: SetReplies, plain: LanguageModel) -> None:
    rounds, names = (["Velmar"], ["Ostrand\nVELMAR"], ["Kelm\nDrusk"]), ["Velmar", "Ostrand", "Kelm"]
    requests = set_replies(*rounds)
    assert names_by_model(plain, "city", 3, seed=0, existing=()) == names
    examples = invented_names("city", 3 * EXAMPLES, seed=0)
    for number, request in enumerate(requests):
        assert (request["identity"], request["seed"]) == (("invented names", "city", str(number)), 0)
        listed = [line[2:] for line in request["prompt"].splitlines() if line.startswith("- ")]
        assert listed == examples[EXAMPLES * number : EXAMPLES * (number + 1)]
    for count in range(3):  # a smaller count gives the first names
        set_replies(*rounds)
        assert names_by_model(plain, "city", count, seed=0, existing=()) == names[:count]


@pytest.mark.parametrize(
    ("reply", "existing", "names"),
    [
        ("Velmar\nOstrand\nPort  Kelm\nDrusk", {"VELMAR", "port kelm"}, ["Ostrand", "Drusk"]),
        (f"{invented_names('city', 1, seed=0)[0]}\nMade-up names of cities\nVelmar\nIty", (), ["Velmar", "Ity"]),
        ("and the other one\nVelmar\nIty", (), ["Velmar", "Ity"]),  # names of cities begin with a capital
    ],
    ids=["known", "in the prompt", "not proper"],
)
def test_unusable_names_are_left_out(
    reply: str, existing: Collection[str], names: list[str], set_replies: SetReplies, plain: LanguageModel
) -> None:
    set_replies([reply])
    assert names_by_model(plain, "city", 2, seed=0, existing=existing) == names


@pytest.mark.parametrize("entity_class", ["genre", "occupation", "material"])
def test_names_of_common_nouns_may_begin_small(
    entity_class: str, set_replies: SetReplies, plain: LanguageModel
) -> None:
    set_replies(["velmar bolero"])
    assert names_by_model(plain, entity_class, 1, seed=0, existing=()) == ["velmar bolero"]


def test_chat_and_plain_models_are_prompted_differently(
    set_replies: SetReplies, plain: LanguageModel, chat: LanguageModel
) -> None:
    requests = set_replies(["Velmar"], ["Ostrand"])
    names_by_model(chat, "tvSeries", 1, seed=0, existing=())
    assert requests[0]["prompt"].startswith("<turn>user\nWrite a list of twenty made-up names of television series. ")
    assert requests[0]["prompt"].endswith("<end>\n<turn>assistant\n-")
    names_by_model(plain, "tvSeries", 1, seed=0, existing=())
    assert requests[1]["prompt"].startswith("Made-up names of television series")
    assert requests[1]["prompt"].endswith("\n-")


def test_too_few_names_are_refused_with_class(set_replies: SetReplies, plain: LanguageModel) -> None:
    requests = set_replies(["Velmar\nOstrand"])
    message = (
        "class city: 4 invented names are requested, but tiny wrote only 2 that can be used, in 10 tries; use another"
    )
    with pytest.raises(InputError, match=message):
        names_by_model(plain, "city", 4, seed=0, existing=())
    assert len(requests) == MIN_ROUNDS + 4 // 2  # a further round for every two names


def test_unknown_class_and_negative_count_are_refused(plain: LanguageModel) -> None:
    with pytest.raises(UnknownName, match="no class of entities is named 'date'"):
        names_by_model(plain, "date", 1, seed=0, existing=())
    with pytest.raises(UsageError, match="-2 invented names"):
        names_by_model(plain, "city", -2, seed=0, existing=())


@pytest.mark.parametrize("entity_class", list(name_parts().classes))
def test_every_class_has_a_prompt(entity_class: str, set_replies: SetReplies, plain: LanguageModel) -> None:
    requests = set_replies(["Velmar"])
    names_by_model(plain, entity_class, 1, seed=0, existing=())
    assert f"names of {name_parts().classes[entity_class].called}, which" in requests[0]["prompt"]
    assert not set("{}") & set(requests[0]["prompt"])


def test_embedded_model_invents_the_same_names_again(smollm2: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(invented_by_model, "MAX_TOKENS", {"chat": 12})
    monkeypatch.setattr(invented_by_model, "SAMPLES", 2)
    names = names_by_model(smollm2, "city", 2, seed=0, existing=())
    assert len({name.casefold() for name in names}) == 2
    assert all(name == " ".join(name.split()) and name[0] == name[0].upper() for name in names)
    assert names_by_model(smollm2, "city", 1, seed=0, existing=names[:1]) == names[1:]


THREE_NAMES = ["Velmar", "Port Ostrand", "Quell-am-Tholl"]


@pytest.mark.parametrize(
    "reply",
    [
        "Velmar\nPort Ostrand\nQuell-am-Tholl",
        "1. Velmar\n2. Port Ostrand\n3. Quell-am-Tholl",
        "1) Velmar\n\n2) Port Ostrand\n\n3) Quell-am-Tholl\n",
        "(1) Velmar\n(2) Port Ostrand\n(3) Quell-am-Tholl",
        "a) Velmar\nb) Port Ostrand\nc) Quell-am-Tholl",
        "- Velmar\n* Port Ostrand\n• Quell-am-Tholl",
        "- **Velmar**\n- *Port Ostrand*\n- `Quell-am-Tholl`",
        "# Velmar\n## Port Ostrand\n### Quell-am-Tholl",
        '"Velmar",\n"Port Ostrand",\n"Quell-am-Tholl"',
        "“Velmar”\n„Port Ostrand“\n«Quell-am-Tholl»",
        "Velmar, Port Ostrand, and Quell-am-Tholl.",
        "Velmar; Port Ostrand; Quell-am-Tholl",
        "1. Velmar, 2. Port Ostrand, 3. Quell-am-Tholl",
        '["Velmar", "Port Ostrand", "Quell-am-Tholl"]',
        '[\n"Velmar",\n"Port Ostrand",\n"Quell-am-Tholl"\n]',
        "Sure! Three names:\n\n1. Velmar\n2. Port Ostrand\n3. Quell-am-Tholl\n\nI do hope that these will help!",
        "Certainly, here you go\nVelmar\nPort Ostrand\nQuell-am-Tholl",
        "1. **Velmar** - a city in the north\n2. **Port Ostrand**: known for its harbour.\n3. Quell-am-Tholl (a spa)",
        "1. Velmar. It lies far in the north\n2. Port Ostrand.\n3. Quell-am-Tholl. A spa",
        "1. Velmar is the largest city of its valley.\n2. Port Ostrand, a harbour.\n3. Quell-am-Tholl — on the Tholl",
        '1. "Velmar" stands on a hill\n2. "Port Ostrand"\n3. "Quell-am-Tholl"',
        "| Velmar | north |\n| Port Ostrand | west |\n| Quell-am-Tholl | east |",
        "<think>\nPerhaps Lund\nor Bergen, or Oslo\n</think>\nVelmar\nPort Ostrand\nQuell-am-Tholl",
        "  Velmar \t\r\nPort \u00a0 Ostrand\r\nQuell-am-Tholl",
    ],
)
def test_names_are_read_from_every_list_form(reply: str) -> None:
    assert names_in(reply, needs_capitals=True) == THREE_NAMES


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "\n\n",
        "-",
        "1.",
        "A",
        "42",
        "???",
        "{entity}",
        "The {noun} of Velmar",
        "<b>Velmar</b>",
        "[ENTITY]",
        "Vel\u200bmar",
        "\u202eramleV",
        "Vel\x00mar",
        "Vel\ufffdmar",
        "x" * 81,
        "Vel Vel Vel Vel Vel",
        "I'm sorry, but I cannot invent names.",
        "As an AI, I do not invent names",
        "Here are twenty names:",
        "These are names that nobody bears.",
        "There is no such city",
        "They were invented",
        "one two three four five six seven eight nine ten eleven twelve thirteen",
        "<think>\nVelmar\nPort Ostrand",
        '{"name": "Velmar"}',
    ],
)
def test_other_text_is_no_name(reply: str) -> None:
    assert names_in(reply) == []


def test_last_name_of_unfinished_reply_is_left_out() -> None:
    assert names_in("Velmar\nPort Ostrand\nQuell-am", is_complete=False) == THREE_NAMES[:2]
    assert names_in("Velmar, Port Ostrand, Quell-am", is_complete=False) == THREE_NAMES[:2]
    assert names_in("Velm", is_complete=False) == []


def test_proper_names_need_capitals_in_half_their_words() -> None:
    reply = "velmar glass\nVelmar\n4417 Velmar\nÉlmar\nLac de Velmar\nThe people of the sea"
    assert names_in(reply, needs_capitals=True) == ["Velmar", "4417 Velmar", "Élmar", "Lac de Velmar"]
    assert len(names_in(reply)) == 6


@pytest.mark.parametrize(
    "name",
    [
        "O'Vell-Hargrothe",
        "The Sisters of Velmar",
        "J. R. Velmar",
        "Velmar and Sons",
        "Velvet Is No Alibi",
        "QVX-4417 b",
        "Who Wakes the Heron?",
        "Vélmar-sur-Ouvre",
        "Don't Wake Velmar",
    ],
)
def test_punctuation_and_small_words_stay_in_names(name: str) -> None:
    assert names_in(f"1. {name}\n2. {name}") == [name, name]
    assert names_in(name) == [name]


def test_commas_separate_names_and_not_their_descriptions() -> None:
    six = ["Velmar", "Ostrand", "Kelm", "Drusk", "Yold", "Vint"]
    assert names_in("Velmar, Ostrand, Kelm,\nDrusk, Yold, Vint") == six
    reply = "1. Velmar, a city of salt, wind, and stone\n2. Ostrand, which is old, small, and quiet"
    assert names_in(reply) == ["Velmar", "Ostrand"]
    assert names_in("Fennimore, Thackwell and Sons\nVelmar") == ["Fennimore, Thackwell and Sons", "Velmar"]


def test_names_are_compared_in_normal_form() -> None:
    assert names_in("Ve\u0301lmar") == ["V\u00e9lmar"]
    assert fold("Port  OSTRAND") == fold("port ostrand")
    assert fold("Ve\u0301lmar") == fold("v\u00e9lmar")
