"""Documents of a corpus: every format gives the same documents, broken lines are counted, and errors name the file."""

import gzip
import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.sources import corpus
from swaymeter.data.sources.corpus import Reading, shards
from swaymeter.data.sources.own.named_file import read_aliases

TEXTS = ["Norway, Oslo.", "", 'Zürich\nand "quotes" \\ 😀 \u2028', "third"]
ENDINGS = [".jsonl", ".jsonl.gz", ".jsonl.zst", ".json.gz", ".parquet", ".JSONL"]


def documents(shard: Reading) -> list[str]:
    texts: list[str] = []
    for text, begins in shard.pieces():
        if begins:
            texts.append("")
        texts[-1] += text
    return texts


def write_shard(folder: Path, ending: str, content: bytes) -> Path:
    file = folder / f"shard{ending}"
    if ending.endswith(".zst"):
        middle = len(content) // 2  # a file may join several compressed parts
        content = b"".join(pa.compress(part, "zstd", asbytes=True) for part in (content[:middle], content[middle:]))
    file.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    return file


def jsonl(texts: list[str]) -> bytes:
    return "\n".join(json.dumps({"id": 1, "text": text}) for text in texts).encode()


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("block", [3, 1 << 20])
def test_every_format_gives_the_same_documents(
    ending: str, block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "BLOCK", block)
    file = tmp_path / f"shard{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table({"text": [*TEXTS[:2], None, *TEXTS[2:]]}), file, row_group_size=2)
    else:
        write_shard(tmp_path, ending, jsonl(TEXTS))
    shard = Reading(file, "text")
    assert documents(shard) == TEXTS
    assert shard.problem == ("row 3 has no text" if ending == ".parquet" else None)


@pytest.mark.parametrize("ending", [".txt", ".txt.gz", ".txt.zst"])
def test_a_text_file_is_one_document(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "BLOCK", 3)
    file = write_shard(tmp_path, ending, b"\xef\xbb\xbf" + "Zürich 😀\n\nsecond".encode() + b"\xff end \xc3")
    shard = Reading(file, "text")
    assert documents(shard) == ["Zürich 😀\n\nsecond\udcff end \udcc3"]
    assert shard.unreadable == 2
    assert "is not UTF-8" in (shard.problem or "")


BROKEN = {
    b'{"text": "it ends in the middle of a wo': "is not JSON",
    b'{"text": "a text, then something"} else': "is not JSON",
    b'{"id": "of a document without a text"}': "has no text under 'text'",
    b'{"id": "with no text", "text": null}': "has no text under 'text'",
    b"[1]": "has no text under 'text'",
    b'{"text": "a text of bytes that \xff are none"}': "is not UTF-8",
    json.dumps({"text": "x" * 100}).encode(): "has more than 0 MiB",  # the test's limit of 90 bytes, in MiB
}


@pytest.mark.parametrize(("line", "problem"), BROKEN.items())
@pytest.mark.parametrize("block", [11, 1 << 20])
@pytest.mark.parametrize("rest", [b"", b'\n\n{"text": "a"}'])
def test_a_broken_line_is_counted(
    line: bytes, problem: str, block: int, rest: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "LONGEST_LINE", 90)
    monkeypatch.setattr(corpus, "BLOCK", block)
    shard = Reading(write_shard(tmp_path, ".jsonl", b'\xef\xbb\xbf{"text": "a"}\n' + line + rest), "text")
    assert documents(shard) == ["a"] * (2 if rest else 1)
    assert (shard.unreadable, shard.problem) == (1, f"line 2 {problem}")


def test_the_encoding_of_a_line_is_not_guessed(tmp_path: Path) -> None:
    shard = Reading(write_shard(tmp_path, ".jsonl", '{"text": "a"}\n{"text": "b"}'.encode("utf-16-le")), "text")
    assert documents(shard) == []
    assert shard.unreadable == 2


def test_few_long_rows_are_in_memory_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "BATCH_BYTES", 1 << 20)
    texts, file = pa.array(os.urandom(200_000).hex() for _ in range(40)), tmp_path / "shard.parquet"
    pq.write_table(pa.table({"text": texts}), file, use_dictionary=False, compression="none", write_batch_size=1)
    before, allocated = pa.total_allocated_bytes(), []
    for _ in Reading(file, "text").pieces():
        allocated.append(pa.total_allocated_bytes() - before)
    assert len(allocated) == 40
    assert max(allocated) < texts.nbytes / 2


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())])
def test_a_parquet_row_without_readable_text_is_counted(kind: pa.DataType, tmp_path: Path) -> None:
    if pa.types.is_dictionary(kind):
        texts, problem = pa.array(["a", None, "ü"]), "row 2 has no text"
    else:
        content = pa.array([b"a", b"\xff", b"\xc3\xbc"])
        texts, problem = pa.Array.from_buffers(pa.string(), 3, content.buffers()), "row 2 is not UTF-8"
    pq.write_table(pa.table({"text": texts.cast(kind)}), tmp_path / "shard.parquet")
    shard = Reading(tmp_path / "shard.parquet", "text")
    assert documents(shard) == ["a", "ü"]
    assert (shard.unreadable, shard.problem) == (1, problem)


@pytest.mark.parametrize("ending", [".jsonl.zst", ".jsonl.gz", ".parquet", ".txt.zst"])
def test_a_truncated_file_is_refused(ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"shard{ending}"
    if ending == ".parquet":
        pq.write_table(pa.table({"text": TEXTS * 100}), file)
    else:
        write_shard(tmp_path, ending, jsonl(TEXTS * 100))
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match=rf"shard\{ending} cannot be read to its end: .*download the file again"):
        documents(Reading(file, "text"))


def test_file_without_readable_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is in UTF-16; save it as UTF-8"):
        documents(Reading(write_shard(tmp_path, ".txt", "a".encode("utf-16")), "text"))
    pq.write_table(pa.table({"content": ["a"], "id": [1]}), tmp_path / "shard.parquet")
    for column in ("text", "id"):
        with pytest.raises(
            InputError, match=rf"no text column '{column}'; the file has the columns content, id; name a text column"
        ):
            documents(Reading(tmp_path / "shard.parquet", column))


@pytest.mark.parametrize(
    ("files", "named", "problem"),
    [
        ([], "nothing", "nothing does not exist"),
        (["a.csv"], "a.csv", r"is in no supported format \(\.jsonl"),
        (["empty/a.csv"], "empty", r"the folder .*empty has no file in a supported format"),
        (["a.txt", "b/a.txt"], "a.txt b", r"are both called a\.txt"),
        *(
            ([f"f/b.{ending}", "f/a.txt"], "f", rf"b\.{ending}' is compressed in an unsupported way; unpack it")
            for ending in ("jsonl.bz2", "txt.zstd", "parquet.gz", "json.tar.gz")
        ),
        (["f/x\udcff.txt"], "f", r"the name of '.*x\\udcff\.txt' is not UTF-8; rename the file"),
    ],
)
def test_files_that_are_no_corpus_are_named(files: list[str], named: str, problem: str, tmp_path: Path) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text")
    with pytest.raises(InputError, match=rf"frequency\.corpus: .*{problem}"):
        shards([str(tmp_path / name) for name in named.split()])


def test_shards_are_named_by_folder_and_file(tmp_path: Path) -> None:
    (tmp_path / "f" / "2020").mkdir(parents=True)
    for name in ("f/b.txt", "f/2020/a.jsonl.zst", "f/README.md", "f/.b.txt.crc", "own.txt"):
        (tmp_path / name).write_text("text")
    assert list(shards([str(tmp_path / "own.txt"), str(tmp_path / "f")])) == ["own.txt", "2020/a.jsonl.zst", "b.txt"]


def test_aliases_are_read_by_name(tmp_path: Path) -> None:
    file = tmp_path / "aliases.csv"
    file.write_text("name,alias\nNorway,Norge\nNorway,Kingdom of Norway\nNorway,Norge\n")
    assert read_aliases(file) == {"Norway": ("Kingdom of Norway", "Norge")}
    file.write_text("name,alias\nNorway,\n")
    with pytest.raises(InputError, match=r"frequency\.aliases: .*line 2: alias"):
        read_aliases(file)
