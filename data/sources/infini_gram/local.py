"""An infini-gram index on this machine, by the package infini-gram. How its tokens are kept follows from its files.

The package ends the process where a file is missing or of another kind, so the files are looked at before.
"""

from collections.abc import Iterator, Sequence
from math import ceil, log2
from pathlib import Path
from typing import Any

from swaymeter.data.errors import InputError
from swaymeter.data.sources.infini_gram.index import Ids, Passage, Place, Tokenizer, passage_of

KEY = "frequency.folder"
_FILES = ("tokenized", "table", "offset")
_METADATA = ("metadata", "metaoff")
_DTYPES = {1: "u8", 2: "u16", 4: "u32"}
_NEEDED = 'it needs the package infini-gram: pip install "swaymeter[infini-gram]"'


def files_of(folder: Path) -> Sequence[Path]:
    """The files of an index in order; InputError where it is none."""
    found = [sorted(folder.glob(f"{name}.*"), key=lambda file: (len(file.name), file.name)) for name in _FILES]
    numbered = [[folder / f"{name}.{part}" for part in range(len(found[0]))] for name in _FILES]
    if not found[0] or found != numbered or not all(file.is_file() for files in found for file in files):
        raise InputError(
            f"{KEY}: {folder} is no index of infini-gram, which has {', '.join(f'{name}.0' for name in _FILES)}; name "
            "the folder of one"
        )
    return [file for files in found for file in files]


def token_bytes(folder: Path) -> int:
    """How many bytes a token of an index has: 1 where it holds bytes of text, 2 or 4 where tokens of a tokenizer."""
    files = files_of(folder)
    count = len(files) // len(_FILES)
    widths = {_width(text, table) for text, table in zip(files[:count], files[count : 2 * count], strict=True)}
    wrong = [file for file in files[2 * count :] if not file.stat().st_size or file.stat().st_size % 8]
    if len(widths) > 1 or not widths <= _DTYPES.keys() or wrong or [*_stray_metadata(folder)]:
        raise InputError(f"{KEY}: the files of {folder} do not belong together, or are cut short; build it again")
    return widths.pop()


def _width(text: Path, table: Path) -> int:
    """Bytes of a token: the table has a number for each, which is as long as the text's size needs; 0 for nonsense."""
    size, entries = text.stat().st_size, table.stat().st_size
    longest = ceil(log2(size) / 8) if size > 1 else 1
    whole = entries and not size * longest % entries
    return size * longest // entries if whole else 0


def _stray_metadata(folder: Path) -> Iterator[Path]:
    """Files about documents that do not fit the index, which may have none."""
    for file in (file for name in _METADATA for file in folder.glob(f"{name}.*")):
        part = file.suffix[1:]
        about, offset = folder / f"metaoff.{part}", folder / f"offset.{part}"
        both = all((folder / f"{name}.{part}").is_file() for name in _METADATA) and offset.is_file()
        if not both or about.stat().st_size != offset.stat().st_size:
            yield file


class LocalIndex:
    """An index in a folder; as in `Index`."""

    reads = True
    longest = 20_000

    def __init__(self, folder: Path, tokenizer: Tokenizer | None = None) -> None:
        """The index, with its tokenizer, which one of bytes has not.

        InputError where it cannot be opened, or the package is not installed.
        """
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
        """The tokens of a name within a text."""
        return self._tokenizer.spellings(name)

    def alone(self, word: str) -> tuple[Ids, ...]:
        """The tokens of a word behind a space; of bytes, between two, as others tell nothing of where it ends."""
        return self.spellings(f" {word} " if self._width == 1 else word)[:1]

    def count(self, ids: Ids) -> int:
        """How often the tokens stand in the corpus; of none, how many tokens it has."""
        return int(_said(self._engine.count(list(ids)))["count"])

    def near(self, clauses: Sequence[Sequence[Ids]], tokens: int) -> int:
        """An estimate, also where the package says that it is none."""
        cnf = [[list(ids) for ids in clause] for clause in clauses]
        limits = {"max_clause_freq": 10_000_000, "max_diff_tokens": tokens}
        return int(_said(self._engine.count_cnf(cnf, **limits))["count"])

    def places(self, ids: Ids) -> Sequence[Place]:
        """Every place where the tokens stand."""
        found = _said(self._engine.find_cnf([[list(ids)]], max_clause_freq=10_000_000))
        return [Place(part, byte) for part, bytes_ in enumerate(found["ptrs_by_shard"]) for byte in bytes_]

    def passage(self, place: Place, ids: Ids, most: int) -> Passage:
        """At most so many tokens around the tokens at a place."""
        # The method around this one refuses every odd byte, also where a token is a byte.
        found = self._engine.engine.get_doc_by_ptr(s=place.part, ptr=place.byte, max_disp_len=most)
        fields = ("doc_ix", "doc_len", "needle_offset", "blocked")
        answer = {name: getattr(found, name) for name in fields} | {"token_ids": list(found.token_ids)}
        try:
            return passage_of(place, ids, self._width, most, answer)
        except ValueError as error:
            raise InputError(f"{KEY}: infini-gram gives {error}; build the index again") from None

    def text(self, ids: Ids) -> str:
        """The text of tokens."""
        return self._tokenizer.decode(ids)


def _said(answer: Any) -> Any:
    if "error" in answer:
        raise InputError(f"{KEY}: infini-gram says {answer['error']}; is `frequency.tokenizer` that of the index?")
    return answer


class _Bytes:
    """Text in UTF-8, a byte a token: a name has one spelling wherever it stands."""

    def spellings(self, name: str) -> tuple[Ids, ...]:
        return (tuple(name.encode()),)

    def decode(self, ids: Ids) -> str:
        return bytes(ids).decode(errors="replace")
