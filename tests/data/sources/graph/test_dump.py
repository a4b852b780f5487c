import gzip
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from swaymeter.data.digests import digest_once
from swaymeter.data.errors import DamagedFile, InputError, ServiceError
from swaymeter.data.sources.graph.dump import Dump, dump_digest, shared_dump
from swaymeter.data.sources.graph.sparql import Literal, Uri
from swaymeter.data.storage.writing import TEMPORARY
from tests.data.dataset_samples import YAGO
from tests.data.sources.graph.yago_graph import HEAD

ALL = "SELECT ?s ?p ?o WHERE { ?s ?p ?o } ORDER BY ?s ?p ?o"
TURTLE = HEAD + 'yago:Norway yago:capital yago:Oslo ; rdfs:label "Norway"@en , "Norge"@no ; yago:n 7 .\n'
TRIPLES = (
    f"<{YAGO}Norway> <{YAGO}capital> <{YAGO}Oslo> .\n"
    f'<{YAGO}Norway> <http://www.w3.org/2000/01/rdf-schema#label> "Norway"@en .\n'
    f'<{YAGO}Norway> <http://www.w3.org/2000/01/rdf-schema#label> "Norge"@no .\n'
    f'<{YAGO}Norway> <{YAGO}n> "7"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
)
QUADS = TRIPLES.replace(" .\n", " <http://a.example/graph> .\n")


def write_dump(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return file


def graphs(folder: Path) -> list[Path]:
    return list(folder.glob("graph-*"))


def unfinished(folder: Path) -> list[Path]:
    return list(folder.glob(f".*{TEMPORARY}"))


def flipped(content: bytes, position: int) -> bytes:
    return content[:position] + bytes([content[position] ^ 1 << position % 8]) + content[position + 1 :]


@pytest.mark.parametrize(("name", "text"), [("a.ttl", TURTLE), ("a.nt", TRIPLES), ("a.nq.gz", QUADS)])
def test_every_format_gives_the_same_graph(name: str, text: str, tmp_path: Path) -> None:
    dump = shared_dump([write_dump(tmp_path, name, text)], tmp_path / "graphs")
    assert [row["o"] for row in dump.select(ALL).rows] == [
        Literal("Norge", None, "no"),
        Literal("Norway", None, "en"),
        Uri(YAGO + "Oslo"),
        Literal("7", "http://www.w3.org/2001/XMLSchema#integer"),
    ]
    assert dump.address == f"file:{name}"


def test_unbound_variables_are_absent_and_blank_nodes_rejected(tmp_path: Path) -> None:
    dump = shared_dump([write_dump(tmp_path, "a.ttl", TURTLE + "yago:Norway yago:n _:b . _:b yago:n 1 .\n")], tmp_path)
    selected = dump.select(f"SELECT ?s ?none WHERE {{ ?s <{YAGO}n> ?n }}")
    assert (selected.rows[0], selected.rejected, len(selected)) == ({"s": YAGO + "Norway"}, 1, 3)


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.ttl", TURTLE + "yago:Norway yago:capital .\n", r"a\.ttl, line 9 is not valid RDF"),
        ("a.ttl.gz", TURTLE + "unknown:Norway yago:capital yago:Oslo .\n", r"a\.ttl\.gz, line 9 is not valid RDF"),
        (
            "a.nt",
            "<!doctype html><title>Sign in</title>\n",
            r"a\.nt, line 1 is not valid RDF: .*; correct the file, or",
        ),
        ("a.txt", TURTLE, r"a\.txt: the format is not supported; name a \.ttl or \.nt or \.nq file"),
        ("a.zip", TURTLE, r"the format is not supported"),
    ],
)
def test_an_invalid_dump_is_named_with_its_line(name: str, text: str, problem: str, tmp_path: Path) -> None:
    sound = write_dump(tmp_path, "sound.ttl", TURTLE)
    with pytest.raises(InputError, match=problem):
        shared_dump([sound, write_dump(tmp_path, name, text)], tmp_path / "graphs")
    assert graphs(tmp_path / "graphs") == unfinished(tmp_path / "graphs") == []


@pytest.mark.parametrize(
    "damage",
    [lambda packed: packed[:-20], lambda packed: b"no gzip" + packed, lambda packed: packed[:40] + b"~" + packed[41:]],
)
def test_a_damaged_packed_file_is_named(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    file = tmp_path / "a.ttl.gz"
    file.write_bytes(damage(gzip.compress((TURTLE + "# filling\n" * 100).encode())))
    with pytest.raises(InputError, match=r"a\.ttl\.gz"):
        shared_dump([file], tmp_path / "graphs")
    assert graphs(tmp_path / "graphs") == []


def test_flipped_bit_of_loaded_dump_is_noticed(tmp_path: Path) -> None:
    shared_dump([write_dump(tmp_path, "a.ttl", TURTLE)], tmp_path / "graphs")
    (folder,) = graphs(tmp_path / "graphs")
    files = [file for file in folder.iterdir() if file.name not in ("LOG", "LOCK") and file.stat().st_size]
    assert len(files) > 5
    for file in files:
        sound = file.read_bytes()
        for position in {0, len(sound) // 3, len(sound) - 1}:
            file.write_bytes(flipped(sound, position))
            with pytest.raises(DamagedFile, match="remove the folder and run again"):
                Dump(folder)
        file.write_bytes(sound)
    assert len(Dump(folder).select(ALL).rows) == 4


def test_a_failing_store_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def query(self, query: str) -> None:
            raise OSError("Corruption: block checksum mismatch")

    dump = shared_dump([write_dump(tmp_path, "a.ttl", TURTLE)], tmp_path / "graphs")
    (folder,) = graphs(tmp_path / "graphs")
    monkeypatch.setattr(dump, "_store", Broken())
    with pytest.raises(
        ServiceError, match=rf"file:a\.ttl cannot answer a query \(Corruption.*; remove the loaded dump {folder}, make"
    ):
        dump.select(ALL)


KILLED_BEFORE_RENAMING = """
import sys, time
from pathlib import Path
from swaymeter.data.sources.graph import dump

dump.move_to_target = lambda *_: (print("loaded", flush=True), time.sleep(60))
dump.shared_dump([Path(sys.argv[1])], Path(sys.argv[2]))
"""


def test_a_killed_load_is_repeated(tmp_path: Path) -> None:
    file = write_dump(tmp_path, "a.ttl", TURTLE)
    command = [sys.executable, "-c", KILLED_BEFORE_RENAMING, str(file), str(tmp_path / "graphs")]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == b"loaded\n"
        killed.send_signal(signal.SIGKILL)
    assert graphs(tmp_path / "graphs") == []
    assert unfinished(tmp_path / "graphs")
    assert len(shared_dump([file], tmp_path / "graphs").select(ALL).rows) == 4
    assert not unfinished(tmp_path / "graphs")


def test_a_dump_changed_while_loading_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write_dump(tmp_path, "a.ttl", TURTLE)

    def change_file(*message: object) -> None:  # at the first message of the load
        file.write_text(TURTLE + "yago:Norway yago:n 8 .\n")

    monkeypatch.setattr("swaymeter.data.sources.graph.dump.log.info", change_file)
    with pytest.raises(InputError, match=r"a\.ttl.* changed while it was loaded"):
        shared_dump([file], tmp_path / "graphs")
    assert graphs(tmp_path / "graphs") == unfinished(tmp_path / "graphs") == []


def test_concurrent_loads_make_one_graph(tmp_path: Path) -> None:
    file = write_dump(tmp_path, "a.ttl", TURTLE)
    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(lambda _: len(shared_dump([file], tmp_path / "graphs").select(ALL).rows), range(16)))
    assert counts == [4] * 16
    assert len(graphs(tmp_path / "graphs")) == 1


def test_the_digest_ignores_names_and_order_of_files(tmp_path: Path) -> None:
    turtle, triples = write_dump(tmp_path, "a.ttl", TURTLE), write_dump(tmp_path, "b.nt", TRIPLES)
    assert dump_digest([turtle, triples], tmp_path) == dump_digest([triples, turtle], tmp_path)
    assert dump_digest([turtle], tmp_path) == dump_digest([write_dump(tmp_path, "other-name.ttl", TURTLE)], tmp_path)
    before = dump_digest([turtle], tmp_path)
    assert len({before, dump_digest([triples], tmp_path), dump_digest([turtle, triples], tmp_path)}) == 3
    turtle.write_text(TURTLE.replace("Oslo", "Olso"))
    os.utime(turtle, ns=(1, 1))
    assert dump_digest([turtle], tmp_path) != before


def test_another_size_or_time_shows_a_changed_file(tmp_path: Path) -> None:
    folder, file = tmp_path / "graphs", write_dump(tmp_path, "a.ttl", TURTLE)
    first = dump_digest([file], folder)
    status = file.stat()
    file.write_text(TURTLE.replace("Oslo", "Olso"))
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    digest_once.cache_clear()  # the next process begins with an empty cache
    assert dump_digest([file], folder) == first  # the stored digest, because size and time are the same
    file.write_text(TURTLE + "\n")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    longer = dump_digest([file], folder)
    file.write_text(TURTLE)
    os.utime(file, ns=(1, 1))
    assert dump_digest([file], folder) == first != longer


def test_a_loaded_graph_does_not_need_its_files(tmp_path: Path) -> None:
    folder, file = tmp_path / "graphs", write_dump(tmp_path, "a.ttl", TURTLE)
    digest, rows = dump_digest([file], folder), shared_dump([file], folder).select(ALL)
    file.unlink()
    digest_once.cache_clear()
    assert dump_digest([file], folder) == digest
    assert shared_dump([file], folder).select(ALL) == rows
    with pytest.raises(InputError, match=r"a\.ttl cannot be read: No such file"):
        dump_digest([file], tmp_path / "other graphs")


def test_a_file_is_needed_until_it_is_loaded(tmp_path: Path) -> None:
    folder, file = tmp_path / "graphs", write_dump(tmp_path, "a.ttl", TURTLE)
    dump_digest([file], folder)
    file.unlink()
    with pytest.raises(InputError, match=r"a\.ttl.*No such file.*make sure that it is there"):
        shared_dump([file], folder)


def test_a_digest_needs_files_but_no_writable_folder(tmp_path: Path) -> None:
    file = write_dump(tmp_path, "a.ttl", TURTLE)
    assert dump_digest([file], file / "graphs") == dump_digest([file], tmp_path / "graphs")
    with pytest.raises(InputError, match="at least one file"):
        dump_digest([], tmp_path)


def test_error_names_file_with_literal_over_16_mib(tmp_path: Path) -> None:
    file = write_dump(tmp_path, "a.nt", f'<http://a/s> <http://a/p> "{"x" * 17 * 2**20}" .')
    with pytest.raises(InputError, match=r"a\.nt has a literal, or another term, of more than 16 MiB"):
        shared_dump([file], tmp_path / "graphs")


def test_a_damaged_dump_is_loaded_only_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sound, damaged = write_dump(tmp_path, "sound.ttl", TURTLE), write_dump(tmp_path, "a.nt", TRIPLES + "half a li")
    messages = []
    with caplog.at_level(logging.INFO, logger="swaymeter.data.sources.graph.dump"):
        for _ in range(3):
            with pytest.raises(InputError, match=r"a\.nt, line 5 is not valid RDF") as caught:
                shared_dump([sound, damaged], tmp_path / "graphs")
            messages.append(str(caught.value))
        assert len(caplog.messages) == 2  # the first load logs each file
        assert len(set(messages)) == 1
        damaged.write_text(TRIPLES)
        assert len(shared_dump([sound, damaged], tmp_path / "graphs").select(ALL).rows) == 4
