"""Counts of one pass, compared with counts word by word on random documents with hard cases."""

import random
from collections.abc import Iterator

import pytest

from swaymeter.data.records import CountedPair
from swaymeter.data.sources.corpus import Piece
from swaymeter.tasks.frequency import counting
from swaymeter.tasks.frequency.counting import count
from swaymeter.tasks.frequency.words import CommonWords, Names, separate_words, words
from tests.tasks.frequency.slow_counts import slow_counts, slow_words

WINDOW = 5
RULE = CommonWords(count=50, share=0.75)
PAIRS = [
    CountedPair("New York City", "Hudson River", ("New York City", "New York", "York City Hall"), ("Hudson River",)),
    CountedPair("York", "New York", ("York",), ("New York",)),
    CountedPair("Jean-Paul's", "Zürich", ("Jean-Paul's",), ("Zürich", "Zurich")),
    CountedPair("It", "King", ("It",), ("King",)),
    CountedPair("It", "Hudson River", ("It",), ("Hudson River",)),
    CountedPair("New York New York", "York", ("New York New York",), ("York",)),
    CountedPair("北京", "It", ("北京",), ("It",)),
    CountedPair("!!!", "King", ("!!!",), ("King",)),
    CountedPair("a b a", "a b a", ("a b a", "a"), ("a b a", "a")),
]
NORWAY = [CountedPair("Norway", "Oslo", ("Norway",), ("Oslo",))]
PARTS = [
    "New",
    "York",
    "City",
    "Hall",
    "New York",
    "New York City",
    "Hudson",
    "River",
    "Hudson River",
    "Jean-Paul's",
    "Jean—Paul’s",
    "Zürich",
    "Zurich.",
    "It",
    "it",
    "IT",
    "King",
    "(King)",
    "北京",
    "a",
    "b",
    "a b a",
    "...",
    "— “",
    "word",
    "another",
    "Yorkshire",
    "NewYork",
    "\N{NO-BREAK SPACE}",
    "\x00",
    "\x1e",
    "\N{EM SPACE}King",
    "\ud800",
]
"""Parts of random documents: names, parts of names, other words and signs."""
SEPARATORS = [" ", " ", " ", "\n", ", ", "-", "  "]


def random_documents(seed: int) -> list[str]:
    rng = random.Random(seed)
    return [
        rng.choice(["", " ", ". "]).join(
            [""] + [rng.choice(PARTS) + rng.choice(SEPARATORS) for _ in range(rng.randint(0, 60))]
        )
        for _ in range(200)
    ]


def in_pieces(documents: list[str], seed: int) -> Iterator[Piece]:
    """Yield the documents in pieces of random length."""
    rng = random.Random(seed)
    for text in documents:
        begins = True
        while begins or text:
            length = rng.randint(1, 40)
            yield Piece(text[:length], begins)
            text, begins = text[length:], False


@pytest.mark.parametrize("batch", [1, 300, 2 << 20])
def test_counts_equal_counts_word_by_word(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "BATCH", batch)
    documents = random_documents(seed=batch)
    counts = count(in_pieces(documents, seed=batch), Names(PAIRS), WINDOW)
    columns = (counts.entities, counts.capitals, counts.lower_case, counts.pairs)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert rows == [slow_counts(documents, pair, WINDOW) for pair in PAIRS]
    assert counts.words == sum(len(slow_words(text)) for text in documents)
    assert counts.documents == len(documents)
    assert all(sum(column) > 100 for column in zip(*rows, strict=True))  # the documents have many occurrences


@pytest.mark.parametrize(("between", "near"), [(0, 1), (49, 1), (50, 0)])
def test_near_is_at_most_fifty_words_away(between: int, near: int) -> None:
    for text in ("Norway" + " x" * between + " Oslo", "Oslo" + " x" * between + " Norway"):
        assert count([Piece(text, True)], Names(NORWAY), 50).pairs.tolist() == [near]


def test_an_answer_in_another_document_is_not_near() -> None:
    counts = count([Piece("Norway", True), Piece("Oslo", True), Piece(" Norway Norway", False)], Names(NORWAY), 50)
    assert (counts.entities.tolist(), counts.pairs.tolist(), counts.documents) == ([3], [2], 2)


def test_very_long_word_counts_as_one_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "BATCH", 10)
    pieces = [Piece("Norway", True), *[Piece("Norway", False)] * 100, Piece(" Norway", False)]
    counts = count(pieces, Names(NORWAY), 50)
    assert (counts.entities.tolist(), counts.words) == ([1], 2)


@pytest.mark.parametrize("texts", [["Norway " * 1000], [""] * 1000])
def test_no_document_makes_a_large_batch(texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def record_size(text: bytes) -> bytes:
        sizes.append(len(text))
        return separate_words(text)

    monkeypatch.setattr(counting, "BATCH", 20)
    monkeypatch.setattr(counting, "SLICE", 20)
    monkeypatch.setattr(counting, "separate_words", record_size)
    counts = count([Piece(text, begins=True) for text in texts], Names(NORWAY), 5)
    assert (counts.entities.tolist(), counts.documents) == ([texts[0].count("Norway")], len(texts))
    assert max(sizes) < 300  # all documents together have at least 3000 bytes


def test_fast_words_equal_slow_words() -> None:
    text = "".join(map(chr, range(0xD800))) + "".join(map(chr, range(0xE000, 0x2FFFF)))
    assert words(" ".join(text).encode()).decode().split() == [
        word for character in text for word in slow_words(character)
    ]
    assert words(b"") == words(b" ,. ") == b""


@pytest.mark.parametrize(
    ("name", "capitals", "lower_case", "reason"),
    [
        ("It", 12, 39, "mostly written in small letters"),
        ("It", 12, 38, None),  # 50 occurrences
        ("It", 25, 75, None),  # three quarters, not more
        ("The Who", 0, 0, None),
        ("apple", 0, 51, "mostly written in small letters"),
        ("apple", 0, 50, None),
        ("C++", 5, 0, "a single letter or digit, signs removed"),
        ("É!", 5, 0, "a single letter or digit, signs removed"),
        ("!!!", 0, 0, "a name without letters or digits"),
    ],
)
def test_names_like_common_words_are_excluded(name: str, capitals: int, lower_case: int, reason: str | None) -> None:
    assert RULE.exclusion_reason((name,), capitals, lower_case) == reason


@pytest.mark.parametrize(
    ("names", "text", "is_excluded"),
    [
        (("Apple", "apple"), "Apple " * 10 + "apple " * 90, True),
        (("Apple", "apple"), "Apple " * 30 + "apple " * 70, False),
        (("apple", "apple tree"), "apple " * 60, True),
        (("The Who",), "The Who " * 15 + "the who " * 1000, False),
        (("The Who", "Who"), "The Who " * 15 + "who " * 1000, True),
        (("Big Apple", "Apple"), "Big Apple " * 15 + "New York " * 1000, False),
        (("1984", "北京"), "1984 北京 " * 100, False),
        (("Twitter", "X"), "Twitter X ", True),
        (("New York", "It"), "New York " * 1000 + "It " * 20 + "it " * 100, True),
    ],
)
def test_lowercase_counts_exclude_one_word_names(names: tuple[str, ...], text: str, is_excluded: bool) -> None:
    counts = count([Piece(text, begins=True)], Names([CountedPair("entity", "answer", names, ("answer",))]), 5)
    assert (RULE.exclusion_reason(names, int(counts.capitals[0]), int(counts.lower_case[0])) is not None) == is_excluded
