"""Documents come out whole, whatever the format; what is broken is counted, or an error that names the file."""

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.sources.corpus import reading
from swaymeter.data.sources.corpus.aliases import read_aliases
from swaymeter.data.sources.corpus.reading import Reading
from swaymeter.data.sources.corpus.shards import shards

TEXTS = ["Norway, Oslo.", "", 'Zürich\nand "quotes" \\ 😀 \u2028', "third"]
ENDINGS = [".jsonl", ".jsonl.gz", ".jsonl.zst", ".json.gz", ".parquet", ".JSONL"]


def documents(shard: Reading) -> list[str]:
    found: list[str] = []
    for text, begins in shard.pieces():
        if begins:
            found.append("")
        found[-1] += text
    return found


def written(folder: Path, ending: str, content: bytes) -> Path:
    file = folder / f"shard{ending}"
    if ending.endswith(".zst"):
        half = len(content) // 2
        content = b"".join(pa.compress(part, "zstd", asbytes=True) for part in (content[:half], content[half:]))
    file.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    return file


def lines(texts: list[str], *, ascii_only: bool = True) -> bytes:
    return "\n".join(json.dumps({"id": 1, "text": text}, ensure_ascii=ascii_only) for text in texts).encode()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("block", [3, 1 << 20])
def test_every_format_gives_the_same_documents(
    ending: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "BLOCK", block)
    file = tmp_path / f"shard{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table({"text": [*TEXTS[:2], None, *TEXTS[2:]]}), file, row_group_size=2)
    else:
        written(tmp_path, ending, lines(TEXTS))
    shard = Reading(file, "text")
    assert documents(shard) == TEXTS
    assert shard.problem == ("row 3 has no text" if ending == ".parquet" else None)


@pytest.mark.parametrize("ending", [".txt", ".txt.gz", ".txt.zst"])
def test_a_text_file_is_one_document(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "BLOCK", 3)
    file = written(tmp_path, ending, "Zürich 😀\n\nsecond".encode() + b"\xff end \xc3")
    shard = Reading(file, "text")
    assert documents(shard) == ["Zürich 😀\n\nsecond\udcff end \udcc3"]
    assert shard.unreadable == 2
    assert "is not UTF-8" in (shard.problem or "")


LONG = [
    *(f'{{"a": {{"text": "no"}}, "b": [1, "x:,{{"], "text": {json.dumps("é" * n + "😀" * 9 + chr(10))}, "c": 2}}'
      for n in range(12)),
    json.dumps({"text": "\ud83d x \\\\\\\" 北京" * 9}), json.dumps({"text": "北京" * 30}, ensure_ascii=False),
]  # fmt: skip


def test_a_long_line_is_read_piece_by_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LONGEST", 30)
    content = "\n".join(line for long_line in LONG for line in (long_line, '{"text": "short"}')).encode()
    file = written(tmp_path, ".jsonl", content)
    expected = [text for line in LONG for text in (json.loads(line)["text"], "short")]
    for block in (7, 33, 100):
        monkeypatch.setattr(reading, "BLOCK", block)
        shard = Reading(file, "text")
        assert documents(shard) == expected
        assert shard.problem is None


def test_lines_behind_the_last_long_one_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LONGEST", 30)
    monkeypatch.setattr(reading, "BLOCK", 60)
    shard = Reading(written(tmp_path, ".jsonl", lines(["x" * 50, "a", "b", "c"]).replace(b'"id": 1, ', b"")), "text")
    assert documents(shard) == ["x" * 50, "a", "b", "c"]
    assert shard.problem is None


@pytest.mark.parametrize("longest", [10, 1000])
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"text": "it ends in the middle of a long wo', "is not JSON"),
        (b'{"id": "of a document that has no text at all"}', "has no text under 'text'"),
        (b'{"id": "of a document whose text is", "text": null}', "has no text under 'text'"),
        (b'{"text": "a long escape that there is not \\x"}', "is not JSON"),
        (b'{"text": "a text of bytes that \xff are none"}', "is not UTF-8"),
        (b'{"text": "a text, then other bytes", "id": "\xff"}', "is not UTF-8"),
        (b'{"text": "a text, then something"} else', "is not JSON"),
        (b'{"text": "a text, then another"}{"text": "b"}', "is not JSON"),
    ],
)
def test_a_broken_line_is_counted(
    line: bytes, problem: str, longest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LONGEST", longest)
    monkeypatch.setattr(reading, "BLOCK", 11)
    good = b'{"text": "a"}'
    shard = Reading(written(tmp_path, ".jsonl", b"\n".join([good, line, b"", good])), "text")
    found = documents(shard)
    assert (found[0], found[-1], shard.unreadable) == ("a", "a", 1)
    assert shard.problem == f"line 2 {problem}"


def test_of_two_texts_on_a_long_line_one_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LONGEST", 10)
    monkeypatch.setattr(reading, "BLOCK", 12)
    shard = Reading(written(tmp_path, ".jsonl", b'{"text": "a first text", "text": "a second"}\n{"text": "b"}'), "text")
    assert documents(shard) == ["a first text", "b"]
    assert (shard.unreadable, shard.problem) == (1, "line 1 has more than one text under 'text'")


@pytest.mark.parametrize("longest", [4, 1000])
@pytest.mark.parametrize(("ending", "content"), [(".txt", b"Norway"), (".jsonl", b'{"text": "Norway"}')])
def test_a_mark_of_byte_order_is_no_text(
    ending: str, content: bytes, longest: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "LONGEST", longest)
    shard = Reading(written(tmp_path, ending, b"\xef\xbb\xbf" + content), "text")
    assert documents(shard) == ["Norway"]
    assert shard.problem is None


def test_a_line_that_is_not_utf8_is_counted(tmp_path: Path) -> None:
    shard = Reading(written(tmp_path, ".jsonl", b'{"text": "\xff"}\n[1]\n{"text": "a"}'), "text")
    assert documents(shard) == ["a"]
    assert (shard.unreadable, shard.problem) == (2, "line 1 is not UTF-8")


def test_the_encoding_of_a_line_is_not_guessed(tmp_path: Path) -> None:
    shard = Reading(written(tmp_path, ".jsonl", '{"text": "a"}\n{"text": "b"}'.encode("utf-16-le")), "text")
    assert documents(shard) == []
    assert shard.unreadable == 2


def test_of_long_rows_few_are_held_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LONGEST", 1 << 20)
    texts, file = pa.array(os.urandom(200_000).hex() for _ in range(40)), tmp_path / "shard.parquet"
    pq.write_table(pa.table({"text": texts}), file, use_dictionary=False, compression="none", write_batch_size=1)
    before, held = pa.total_allocated_bytes(), []
    for _ in Reading(file, "text").pieces():
        held.append(pa.total_allocated_bytes() - before)
    assert len(held) == 40
    assert max(held) < texts.nbytes / 2


def test_a_group_of_rows_is_not_held_whole(tmp_path: Path) -> None:
    texts = pa.array(os.urandom(2000).hex() for _ in range(4000))
    pq.write_table(pa.table({"text": texts}), tmp_path / "shard.parquet", use_dictionary=False, compression="none")
    size, before = texts.nbytes, pa.total_allocated_bytes()
    pieces = Reading(tmp_path / "shard.parquet", "text").pieces()
    next(pieces)
    assert size > 16_000_000
    assert pa.total_allocated_bytes() - before < size / 2


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_a_row_of_parquet_that_is_not_utf8_is_counted(kind: pa.DataType, tmp_path: Path) -> None:
    file, is_packed = tmp_path / "shard.parquet", pa.types.is_dictionary(kind)
    texts = pa.array([b"a", b"\xff" if not is_packed else None, b"\xc3\xbc"]).cast(pa.large_binary()).cast(pa.binary())
    column = texts.cast(pa.string()).cast(kind) if is_packed else pa.Array.from_buffers(pa.string(), 3, texts.buffers())
    pq.write_table(pa.table({"text": column if is_packed else column.cast(kind)}), file)
    shard = Reading(file, "text")
    assert documents(shard) == ["a", "ü"]
    assert (shard.unreadable, shard.problem) == (1, "row 2 has no text" if is_packed else "row 2 is not UTF-8")


@pytest.mark.parametrize("ending", [".jsonl.zst", ".jsonl.gz", ".parquet", ".txt.zst"])
def test_a_truncated_file_is_refused(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"shard{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table({"text": TEXTS * 100}), file)
    else:
        written(tmp_path, ending, lines(TEXTS * 100))
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match=rf"shard\{ending} cannot be read to its end: .*download it again"):
        documents(Reading(file, "text"))


def test_what_cannot_be_a_corpus_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is in UTF-16; save it as UTF-8"):
        documents(Reading(written(tmp_path, ".txt", "a".encode("utf-16")), "text"))
    pq.write_table(pa.table({"content": ["a"], "id": [1]}), tmp_path / "shard.parquet")
    for column in ("text", "id"):
        with pytest.raises(InputError, match=rf"no column of texts '{column}', only content, id; name it"):
            documents(Reading(tmp_path / "shard.parquet", column))
    with pytest.raises(InputError, match=r"frequency\.corpus: .*nothing does not exist"):
        shards([str(tmp_path / "nothing")])
    with pytest.raises(InputError, match=r"has none of the formats \.jsonl"):
        shards([str(written(tmp_path, ".csv", b"text"))])
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"the folder .*empty has no \.jsonl"):
        shards([str(tmp_path / "empty")])
    with pytest.raises(InputError, match=r"are both called shard\.txt"):
        shards([str(tmp_path), str(tmp_path / "shard.txt")])
    for ending in ("jsonl.bz2", "txt.zstd", "parquet.gz", "json.tar.gz"):
        folder = tmp_path / f"of {ending}"
        folder.mkdir()
        (folder / "a.txt").write_text("text")
        (folder / f"b.{ending}").write_text("text")
        with pytest.raises(InputError, match=rf"the packing of .*b\.{ending}' is not known .*; unpack it"):
            shards([str(folder)])
    (tmp_path / "foreign").mkdir()
    Path(os.fsdecode(bytes(tmp_path / "foreign" / "x") + b"\xff.txt")).write_text("text")
    with pytest.raises(InputError, match=r"the name of '.*x\\udcff\.txt' is not UTF-8; rename it"):
        shards([str(tmp_path / "foreign")])


def test_shards_are_named_by_folder_and_file(tmp_path: Path) -> None:
    (tmp_path / "of" / "2020").mkdir(parents=True)
    for name in ("of/b.txt", "of/2020/a.jsonl.zst", "of/README.md", "of/.b.txt.crc", "own.txt"):
        (tmp_path / name).write_text("text")
    assert list(shards([str(tmp_path / "own.txt"), str(tmp_path / "of")])) == ["own.txt", "2020/a.jsonl.zst", "b.txt"]


def test_aliases_are_read_by_name(tmp_path: Path) -> None:
    file = written(tmp_path, ".csv", b"name,alias\nNorway,Norge\nNorway,Kingdom of Norway\nNorway,Norge\n")
    assert read_aliases(file) == {"Norway": ("Kingdom of Norway", "Norge")}
    file.write_text("name,alias\nNorway,\n")
    with pytest.raises(InputError, match=r"frequency\.aliases: .*line 2: alias"):
        read_aliases(file)
