import pytest

from swaymeter.tasks.contexts.listed_names import folded, names_in

THREE = ["Velmar", "Port Ostrand", "Quell-am-Tholl"]


@pytest.mark.parametrize(
    "answer",
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
def test_names_are_found_in_every_form_of_a_list(answer: str) -> None:
    assert names_in(answer, proper=True) == THREE


@pytest.mark.parametrize(
    "answer",
    [
        "", "\n\n", "-", "1.", "A", "42", "???", "{entity}", "The {noun} of Velmar", "<b>Velmar</b>", "[ENTITY]",
        "Vel\u200bmar", "\u202eramleV", "Vel\x00mar", "Vel\ufffdmar", "x" * 81, "Vel Vel Vel Vel Vel",
        "I'm sorry, but I cannot invent names.", "As an AI, I do not invent names", "Here are twenty names:",
        "These are names that nobody bears.", "There is no such city", "They were invented",
        "one two three four five six seven eight nine ten eleven twelve thirteen",
        "<think>\nVelmar\nPort Ostrand", '{"name": "Velmar"}',
    ],
)  # fmt: skip
def test_what_is_no_name_is_left_out(answer: str) -> None:
    assert names_in(answer) == []


def test_the_last_name_of_a_cut_answer_is_left_out() -> None:
    assert names_in("Velmar\nPort Ostrand\nQuell-am", ended=False) == THREE[:2]
    assert names_in("Velmar, Port Ostrand, Quell-am", ended=False) == THREE[:2]
    assert names_in("Velm", ended=False) == []


def test_half_the_words_of_proper_names_are_capitalised() -> None:
    answer = "velmar glass\nVelmar\n4417 Velmar\nÉlmar\nLac de Velmar\nThe people of the sea"
    assert names_in(answer, proper=True) == ["Velmar", "4417 Velmar", "Élmar", "Lac de Velmar"]
    assert len(names_in(answer)) == 6


@pytest.mark.parametrize(
    "name",
    ["O'Vell-Hargrothe", "The Sisters of Velmar", "J. R. Velmar", "Velmar and Sons", "Velvet Is No Alibi", "QVX-4417 b",
     "Who Wakes the Heron?", "Vélmar-sur-Ouvre", "Don't Wake Velmar"],
)  # fmt: skip
def test_what_belongs_to_a_name_stays(name: str) -> None:
    assert names_in(f"1. {name}\n2. {name}") == [name, name]
    assert names_in(name) == [name]


def test_commas_separate_names_and_not_their_descriptions() -> None:
    assert names_in("Velmar, Ostrand, Kelm,\nDrusk, Yold, Vint") == [
        "Velmar",
        "Ostrand",
        "Kelm",
        "Drusk",
        "Yold",
        "Vint",
    ]
    answer = "1. Velmar, a city of salt, wind, and stone\n2. Ostrand, which is old, small, and quiet"
    assert names_in(answer) == ["Velmar", "Ostrand"]
    assert names_in("Fennimore, Thackwell and Sons\nVelmar") == ["Fennimore, Thackwell and Sons", "Velmar"]


def test_names_are_compared_in_one_form() -> None:
    assert names_in("Ve\u0301lmar") == ["V\u00e9lmar"]
    assert folded("Port  OSTRAND") == folded("port ostrand")
    assert folded("Ve\u0301lmar") == folded("v\u00e9lmar")
