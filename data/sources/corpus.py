"""A corpus of text: its files (shards) and their documents, which are read in bounded memory.

A document is a line of JSON, a row of Parquet, or a whole text file of any length. Unreadable documents are counted
and left out; a truncated file is an error.
"""

import codecs
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from swaymeter.data.errors import InputError, first_line, is_text

KEY = "frequency.corpus"
BLOCK = 1 << 20
"""Bytes per read."""
LONGEST_LINE = 256 << 20
"""Limit of the bytes of a line of JSON; a longer line counts as unreadable."""
JSON_LINES, PARQUET, TEXT = (".jsonl", ".ndjson", ".json"), (".parquet",), (".txt",)
"""Endings of the files of each format; a .json file is read as JSON lines."""
PACKED = {".zst": "zstd", ".gz": "gzip"}
"""Endings of compressed files, each with pyarrow's name of the compression."""
BATCH_ROWS, BATCH_BYTES = 64, 8 << 20
"""Limits of the rows and the bytes of a batch of Parquet rows."""
_BYTES = pa.large_binary()
LEAVE_OUT = "leave the file out of `frequency.corpus`, or move the file out of the folder that this key names"


class Piece(NamedTuple):
    """A part of a document; `begins` is True for the first part."""

    text: str
    begins: bool


@dataclass
class Reading:
    """The reading of a shard.

    Attributes:
        file: The shard.
        column: The key of the text in a line of JSON, or the column of Parquet.
        progress: Called with the MiB of the file that are read so far, and the MiB of the whole file.
        read: Number of decompressed bytes that are read so far.
        unreadable: Number of documents that were left out; in a text file, number of bytes that are not UTF-8.
        problem: Location and problem of the first unreadable document.
    """

    file: Path
    column: str
    progress: Callable[[int, int], None] = lambda done, total: None
    read: int = 0
    unreadable: int = 0
    problem: str | None = None

    def pieces(self) -> Iterator[Piece]:
        """Yield the text of every document; InputError if the file cannot be read to its end."""
        ending = format_of(self.file)
        try:
            if ending in PARQUET:
                yield from self._rows()
            elif ending in TEXT:
                yield from self._text()
            else:
                yield from self._lines()
        except (OSError, pa.ArrowException) as error:
            problem = f"cannot be read to its end: {first_line(error)}; download the file again, or {LEAVE_OUT}"
            raise InputError(f"{self.file} {problem}") from None

    def _blocks(self) -> Iterator[bytes]:
        with pa.OSFile(str(self.file)) as opened:
            packing = PACKED.get(self.file.suffix.lower())
            source: Any = pa.CompressedInputStream(opened, packing) if packing else opened
            while block := source.read(BLOCK):
                self.read += len(block)
                self.progress(opened.tell() >> 20, opened.size() >> 20)
                yield block

    def _text(self) -> Iterator[Piece]:
        decoder = codecs.getincrementaldecoder("utf-8-sig")("surrogateescape")
        is_first = True
        for block in chain(self._blocks(), [b""]):
            if is_first:
                self._refuse_utf_16(block)
            text = decoder.decode(block, final=not block)
            if invalid := _invalid_bytes(text):
                self._note(f"byte {self.read - len(block):,} or later", "is not UTF-8", invalid)
            yield Piece(text, is_first)
            is_first = False

    def _refuse_utf_16(self, first_block: bytes) -> None:
        if first_block.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise InputError(f"{self.file} is in UTF-16; save it as UTF-8")

    def _lines(self) -> Iterator[Piece]:
        parts: list[bytes] = []  # of the unfinished line
        size = 0  # number of bytes of these parts
        number = 0  # number of lines before the unfinished line
        for block in chain(self._blocks(), [b"\n"]):  # the line break ends the last line
            if not number and not size:
                self._refuse_utf_16(block)
            *lines, rest = block.split(b"\n")
            for line in lines:
                number += 1
                if size + len(line) > LONGEST_LINE:
                    self._note(f"line {number:,}", f"has more than {LONGEST_LINE >> 20} MiB")
                else:
                    yield from self._line(b"".join((*parts, line)), number)
                parts, size = [], 0
            size += len(rest)
            if size <= LONGEST_LINE:
                parts.append(rest)

    def _line(self, line: bytes, number: int) -> Iterable[Piece]:
        if not line.strip():
            return ()
        try:
            row = json.loads(line.decode("utf-8-sig", "surrogatepass"))  # json would guess the encoding of bytes
        except (ValueError, RecursionError) as error:
            expected = "UTF-8" if isinstance(error, UnicodeDecodeError) else "JSON"
            self._note(f"line {number:,}", f"is not {expected}")
            return ()
        text = row.get(self.column) if isinstance(row, dict) else None
        if not isinstance(text, str):
            self._note(f"line {number:,}", f"has no text under {self.column!r}")
            return ()
        return (Piece(text, begins=True),)

    def _rows(self) -> Iterator[Piece]:
        with pq.ParquetFile(self.file, pre_buffer=False, buffer_size=BLOCK) as opened:
            schema, number = opened.schema_arrow, 0
            kind = schema.field(self.column).type if self.column in schema.names else None
            if kind is not None and pa.types.is_dictionary(kind):
                kind = kind.value_type
            if kind is None or not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
                names = ", ".join(schema.names)
                raise InputError(
                    f"{self.file} has no text column {self.column!r}; the file has the columns {names}; name a text "
                    "column in `frequency.column`"
                )
            groups = (opened.metadata.row_group(index) for index in range(opened.num_row_groups))
            row_size = max((group.total_byte_size // max(1, group.num_rows) for group in groups), default=0)
            batch_size = max(1, min(BATCH_ROWS, BATCH_BYTES // max(1, row_size)))
            for batch in opened.iter_batches(batch_size, columns=[self.column], use_threads=False):
                self.read += batch.nbytes
                # Rows are cast to bytes, because one text that is not UTF-8 would stop the reading of the file.
                for content in (row.as_py() for row in batch.column(0).cast(kind).cast(_BYTES)):
                    number += 1
                    try:
                        if content is None:
                            self._note(f"row {number:,}", "has no text")
                        else:
                            yield Piece(content.decode(), begins=True)
                    except UnicodeDecodeError:
                        self._note(f"row {number:,}", "is not UTF-8")

    def _note(self, location: str, problem: str, count: int = 1) -> None:
        self.unreadable += count
        self.problem = self.problem or f"{location} {problem}"


def _invalid_bytes(text: str) -> int:
    """Return the number of bytes that were not UTF-8; surrogateescape has put a surrogate in place of each."""
    try:
        text.encode()
        return 0
    except UnicodeEncodeError:
        return sum("\udc80" <= character <= "\udcff" for character in text)


def format_of(file: Path) -> str | None:
    """Return the ending that decides a file's format, such as ".jsonl" of "a.JSONL.gz"; None if unsupported."""
    endings = [ending.lower() for ending in file.suffixes]
    is_packed = bool(endings) and endings[-1] in PACKED
    if is_packed and len(endings) > 1:
        endings.pop()
    ending = endings[-1] if endings else ""
    if ending in PARQUET:
        return None if is_packed else ending
    return ending if ending in (*JSON_LINES, *TEXT) else None


_FORMATS = f"{', '.join((*JSON_LINES, *TEXT))}, each also with {' or '.join(PACKED)}; {', '.join(PARQUET)}"


def shards(paths: Iterable[str]) -> Mapping[str, Path]:
    """Return the files of a corpus by name, in the order of `paths`, which name files and folders.

    Raises:
        InputError: A path or folder has no file of a supported format, or two files have the same name.
    """
    files: dict[str, Path] = {}
    for path in map(Path, paths):
        for name, file in _files(path):
            if not is_text(str(file)):
                raise InputError(f"{KEY}: the name of {str(file)!a} is not UTF-8; rename the file")
            if name in files:
                raise InputError(f"{KEY}: {files[name]} and {file} are both called {name}; rename one of the two files")
            files[name] = file
    return files


def _files(path: Path) -> list[tuple[str, Path]]:
    """Return the name and path of a file, or of each shard in a folder, named by its path within the folder."""
    if path.is_dir():
        all_files = sorted(file for file in path.rglob("*") if file.is_file())
        unsupported = [file for file in all_files if not (file.name.startswith(".") or format_of(file))]
        for file in unsupported:
            if not {ending.lower() for ending in file.suffixes}.isdisjoint((*JSON_LINES, *TEXT, *PARQUET)):
                raise InputError(
                    f"{KEY}: {str(file)!r} is compressed in an unsupported way; unpack it or move it out of the "
                    f"folder; files other than Parquet may also be compressed as {' or '.join(PACKED)}"
                )
        files = list(filter(format_of, all_files))
        if not files:
            raise InputError(
                f"{KEY}: the folder {path} has no file in a supported format ({_FORMATS}); name another folder"
            )
        return [(file.relative_to(path).as_posix(), file) for file in files]
    if not path.is_file():
        raise InputError(f"{KEY}: {path} does not exist; correct the path or get the file")
    if not format_of(path):
        raise InputError(f"{KEY}: {path} is in no supported format ({_FORMATS}); convert it, or name another file")
    return [(path.name, path)]
