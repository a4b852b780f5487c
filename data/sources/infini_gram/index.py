"""An index of a corpus on this machine, by the package infini-gram; and what it and the API's have in common.

An index knows tokens, not words: a name is found in the spellings that they give it, behind a space and elsewhere. How
an index keeps its tokens follows from its files, which are looked at before the package opens them: it ends the process
where one is missing or of another kind.

Source: Liu et al. 2024, Infini-gram: Scaling Unbounded n-gram Language Models to a Trillion Tokens.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, log2
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from swaymeter.data.errors import InputError

Ids = tuple[int, ...]
"""Tokens, by their numbers."""
KEY = "frequency.folder"
_FILES = ("tokenized", "table", "offset")
_METADATA = ("metadata", "metaoff")
_DTYPES = {1: "u8", 2: "u16", 4: "u32"}
_NEEDED = 'it needs the package infini-gram: pip install "swaymeter[infini-gram]"'


class Place(NamedTuple):
    """Where tokens stand: in which part of the index, and at which of its bytes."""

    part: int
    byte: int


@dataclass(frozen=True)
class Passage:
    """Text around a place: its tokens, and the one of them that the place is at.

    document: of the index, by part and number. first: which token of the part it begins with. begins, ends: whether the
    document does where the passage does.
    """

    document: tuple[int, int]
    first: int
    ids: Ids
    at: int
    begins: bool
    ends: bool


class Tokenizer(Protocol):
    """The tokenizer that an index was made with."""

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """The tokens of a name within a text: behind a space first, and behind a line break, where they are others."""

    def decode(self, ids: Ids) -> str:
        """The text of tokens."""


def files_of(folder: Path) -> Sequence[Path]:
    """The files of an index in order; InputError where it is none."""
    parts = len(list(folder.glob(f"{_FILES[0]}.*")))
    files = [folder / f"{name}.{part}" for name in _FILES for part in range(parts)]
    if not parts or not all(file.is_file() for file in files):
        raise InputError(
            f"{KEY}: {folder} does not hold an index of infini-gram, which has "
            f"{', '.join(f'{name}.0' for name in _FILES)}; name the folder of one"
        )
    return files


def token_bytes(folder: Path) -> int:
    """How many bytes a token of an index has: 1 where it holds bytes of text, 2 or 4 where tokens of a tokenizer."""
    files = files_of(folder)
    count = len(files) // len(_FILES)
    widths = {_width(text, table) for text, table in zip(files[:count], files[count : 2 * count], strict=True)}
    offsets = [file.stat().st_size for file in files[2 * count :]]
    about = [file for name in _METADATA for file in folder.glob(f"{name}.*")]  # of documents; an index may have none
    fit = all(_fits(file) for file in about) and all(size and size % 8 == 0 for size in offsets)
    if len(widths) > 1 or not widths <= _DTYPES.keys() or not fit:
        raise InputError(f"{KEY}: the files of {folder} do not belong together, or are cut short; build it again")
    return widths.pop()


def _width(text: Path, table: Path) -> int:
    """Bytes of a token: the table has a number for each, which is as long as the text's size needs; 0 for nonsense."""
    size, entries = text.stat().st_size, table.stat().st_size
    longest = ceil(log2(size) / 8) if size > 1 else 1
    whole = entries and not size * longest % entries
    return size * longest // entries if whole else 0


def _fits(metadata: Path) -> bool:
    """Whether a file about documents has the other one beside it, for as many documents as the index has."""
    about, offset = metadata.with_stem("metaoff"), metadata.with_stem("offset")
    is_whole = all(file.is_file() for file in (metadata.with_stem("metadata"), about, offset))
    return is_whole and about.stat().st_size == offset.stat().st_size


class LocalIndex:
    """An index in a folder.

    per_word: about how many tokens a word has. longest: the most tokens of a passage, an even number. reads: whether it
    can give text for tokens.
    """

    reads = True
    longest = 20_000

    def __init__(self, folder: Path, tokenizer: Tokenizer | None = None) -> None:
        """The index, with the tokenizer of its tokens; InputError where it cannot be opened, or lacks the package."""
        self._width = token_bytes(folder)
        if (self._width > 1) != (tokenizer is not None):
            holds = "tokens; name their tokenizer" if self._width > 1 else "bytes and no tokens; leave it out"
            raise InputError(f"frequency.tokenizer: the index in {folder} holds {holds}")
        try:
            from infini_gram.engine import InfiniGramEngine
        except ImportError as error:
            raise InputError(f"{KEY}: {_NEEDED} ({error})") from None
        self.per_word = 6.0 if self._width == 1 else 1.35
        self._tokenizer = tokenizer or _Bytes()
        self._engine: Any = InfiniGramEngine(
            index_dir=str(folder), eos_token_id=0, vocab_size=2 ** (8 * self._width) - 1,
            token_dtype=_DTYPES[self._width], ds_prefetch_depth=0, sa_prefetch_depth=0, od_prefetch_depth=0,
        )  # fmt: skip

    def spellings(self, name: str) -> tuple[Ids, ...]:
        """The tokens of a name within a text, in each spelling that is known."""
        return self._tokenizer.spellings(name)

    def alone(self, word: str) -> tuple[Ids, ...]:
        """The tokens of a word behind a space; of bytes, between two, as others tell nothing of where it ends."""
        return self.spellings(f" {word} " if self._width == 1 else word)[:1]

    def count(self, ids: Ids) -> int:
        """How often the tokens stand in the corpus; of none, how many tokens it has."""
        return int(_checked(self._engine.count(list(ids)))["count"])

    def near(self, clauses: Sequence[Sequence[Ids]], tokens: int) -> int:
        """About how often any name of one clause stands at most so many tokens from any of the other; an estimate."""
        cnf = [[list(ids) for ids in clause] for clause in clauses]
        limits = {"max_clause_freq": 10_000_000, "max_diff_tokens": tokens}
        return int(_checked(self._engine.count_cnf(cnf, **limits))["count"])

    def places(self, ids: Ids) -> Sequence[Place]:
        """Every place where the tokens stand."""
        places = _checked(self._engine.find_cnf([[list(ids)]], max_clause_freq=10_000_000))
        return [Place(part, byte) for part, bytes_ in enumerate(places["ptrs_by_shard"]) for byte in bytes_]

    def passage(self, place: Place, ids: Ids, most: int) -> Passage:
        """At most so many tokens around the tokens at a place; `most` is even, and not larger than `longest`."""
        # The method around this one refuses every odd byte, also where a token is a byte.
        document = self._engine.engine.get_doc_by_ptr(s=place.part, ptr=place.byte, max_disp_len=most)
        fields = ("doc_ix", "doc_len", "needle_offset", "blocked")
        answer = {name: getattr(document, name) for name in fields} | {"token_ids": list(document.token_ids)}
        try:
            return passage_of(place, ids, self._width, most, answer)
        except ValueError as error:
            raise InputError(f"{KEY}: infini-gram gives {error}; build the index again") from None

    def text(self, ids: Ids) -> str:
        """The text of tokens."""
        return self._tokenizer.decode(ids)


def _checked(answer: Any) -> Any:
    if "error" in answer:
        raise InputError(f"{KEY}: infini-gram says {answer['error']}; is `frequency.tokenizer` that of the index?")
    return answer


class _Bytes:
    """Text in UTF-8, a byte a token: a name has one spelling wherever it stands."""

    def spellings(self, name: str) -> tuple[Ids, ...]:
        return (tuple(name.encode()),)

    def decode(self, ids: Ids) -> str:
        return bytes(ids).decode(errors="replace")


def passage_of(place: Place, needle: Ids, width: int, most: int, answer: dict[str, object]) -> Passage:
    """The passage in an answer of infini-gram; ValueError where it is shorter than asked, or lacks the tokens.

    A document that may not be shown is a passage that says nothing is before it, or behind it.
    Where an answer does not say at which token of it the place is, this follows from half of `most` being before; where
    the tokens are at two such places, the passage says that nothing is before it.
    """
    ids, number, length = answer["token_ids"], answer["doc_ix"], answer["doc_len"]
    if not isinstance(ids, list) or type(number) is not int or type(length) is not int:
        raise ValueError("no tokens")
    if any(type(one) is not int or not 0 <= one < 256**width for one in ids):
        raise ValueError("tokens that the index does not have")
    found, half, document = tuple(ids), most // 2, (place.part, number)
    if answer.get("blocked"):
        return Passage(document, 0, needle, 0, begins=False, ends=False)
    is_whole = len(found) == length
    offset = answer.get("needle_offset")
    starts = (offset,) if type(offset) is int else range(length) if is_whole else (half, len(found) - half)
    places = sorted({one for one in starts if one >= 0 and found[one : one + len(needle)] == needle})
    if not places:
        raise ValueError("a passage without the tokens that were asked for")
    at = places[0]
    if is_whole:
        return Passage(document, 0, found, at, begins=True, ends=True)
    if len(places) > 1:
        return Passage(document, 0, found, 0, begins=False, ends=False)
    begins, ends = at < half, len(found) - at < half
    if begins and ends:
        raise ValueError("a passage that is shorter than asked for")
    return Passage(document, place.byte // width - at, found, at, begins, ends)


def joined(passages: Iterable[Passage]) -> Iterator[Ids]:
    """The tokens of passages of which some overlap, each token once; of a document that one has whole, that one."""
    ordered = sorted(passages, key=lambda passage: (passage.document, passage.first))
    for _, group in groupby(ordered, lambda passage: passage.document):
        of_document = list(group)
        if whole := next((passage for passage in of_document if passage.begins and passage.ends), None):
            yield whole.ids
            continue
        run, first = list[int](), 0
        for passage in of_document:
            known = first + len(run) - passage.first
            if run and known >= 0:
                run += passage.ids[known:]
            else:
                if run:
                    yield tuple(run)
                run, first = list(passage.ids), passage.first
        yield tuple(run)
