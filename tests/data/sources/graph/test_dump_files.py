import json
import logging
import os
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.sources.graph import dump_files
from swaymeter.data.sources.graph.dump import shared_dump
from swaymeter.data.sources.graph.dump_files import dump_digest, parsed
from swaymeter.data.storage.digests import content_digest
from tests.data.sources.graph.dumps import ALL, TRIPLES, TURTLE, flipped, rows, written


def test_the_digest_ignores_names_and_order_of_files(tmp_path: Path) -> None:
    one, two = written(tmp_path, "a.ttl", TURTLE), written(tmp_path, "b.nt", TRIPLES)
    assert dump_digest([one, two], tmp_path) == dump_digest([two, one], tmp_path)
    assert dump_digest([one], tmp_path) == dump_digest([written(tmp_path, "other-name.ttl", TURTLE)], tmp_path)
    assert len({dump_digest([one], tmp_path), dump_digest([two], tmp_path), dump_digest([one, two], tmp_path)}) == 3
    before = dump_digest([one], tmp_path)
    one.write_text(TURTLE.replace("Oslo", "Olso"))
    os.utime(one, ns=(1, 1))
    assert dump_digest([one], tmp_path) != before


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    folder, file = tmp_path / "graphs", written(tmp_path, "a.ttl", TURTLE)
    first = dump_digest([file], folder)
    about = file.stat()
    file.write_text(TURTLE.replace("Oslo", "Olso"))
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    content_digest.cache_clear()  # as in the next process
    assert dump_digest([file], folder) == first
    file.write_text(TURTLE + "\n")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    longer = dump_digest([file], folder)
    file.write_text(TURTLE)
    os.utime(file, ns=(1, 1))
    assert dump_digest([file], folder) == first != longer


def test_a_loaded_graph_does_not_need_its_files(tmp_path: Path) -> None:
    folder, file = tmp_path / "graphs", written(tmp_path, "a.ttl", TURTLE)
    there, loaded = dump_digest([file], folder), shared_dump([file], folder).select(ALL)
    file.unlink()
    content_digest.cache_clear()
    assert dump_digest([file], folder) == there
    assert shared_dump([file], folder).select(ALL) == loaded
    with pytest.raises(InputError, match=r"a\.ttl cannot be read: No such file"):
        dump_digest([file], tmp_path / "other graphs")


def test_a_missing_file_is_needed_until_loaded(tmp_path: Path) -> None:
    folder, file = tmp_path / "graphs", written(tmp_path, "a.ttl", TURTLE)
    dump_digest([file], folder)
    file.unlink()
    with pytest.raises(InputError, match=r"a\.ttl.*No such file.*needed until its graph is loaded"):
        shared_dump([file], folder)


def test_a_flipped_bit_of_the_digests_is_noticed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = written(tmp_path, "a.ttl", TURTLE)
    first = dump_digest([file], tmp_path / "graphs")
    remembered = tmp_path / "graphs" / "digests.json"
    sound = remembered.read_bytes()
    for place in range(0, len(sound), 23):
        remembered.write_bytes(flipped(sound, place))
        caplog.clear()
        assert dump_digest([file], tmp_path / "graphs") == first
        assert "is damaged" in caplog.text or json.loads(remembered.read_text()) == json.loads(sound)


def test_an_unwritable_folder_remembers_nothing(tmp_path: Path) -> None:
    file = written(tmp_path, "a.ttl", TURTLE)
    assert dump_digest([file], file / "graphs") == dump_digest([file], tmp_path / "graphs")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.ttl cannot be read: No such file"):
        dump_digest([tmp_path / "missing.ttl"], tmp_path)
    with pytest.raises(InputError, match="at least one file"):
        dump_digest([], tmp_path)


def test_a_literal_over_16_mib_is_refused_by_name(tmp_path: Path) -> None:
    file = written(tmp_path, "a.nt", f'<http://a/s> <http://a/p> "{"x" * 17 * 2**20}" .')
    with pytest.raises(InputError, match=r"a\.nt has a literal, or another term, of more than 16 MiB"):
        shared_dump([file], tmp_path / "graphs")


@pytest.mark.parametrize("text", [
    "".join(f'<http://a/{n}> <http://a/p> "{n}{"x" * 2**16}" .\n' for n in range(50)),
    f"@prefix p: <http://a/{'x' * 2**16}> .\n" + "".join(f"p:{n} p:p p:o .\n" for n in range(50)),
], ids=["long literals", "a prefix of a long address"])  # fmt: skip
def test_long_terms_are_loaded_a_few_at_a_time(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dump_files, "MAX_CHARACTERS_IN_MEMORY", 2**19)
    sizes = [len(list(batch)) for batch in parsed(written(tmp_path, "a.ttl", text))]
    assert sum(sizes) == 50
    assert max(sizes) < 10


def test_a_damaged_dump_is_loaded_only_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sound, damaged = written(tmp_path, "sound.ttl", TURTLE), written(tmp_path, "a.nt", TRIPLES + "half a li")
    said = []
    with caplog.at_level(logging.INFO, logger="swaymeter.data.sources.graph.dump"):
        for _ in range(3):
            with pytest.raises(InputError, match=r"a\.nt, line 5 is not valid RDF") as caught:
                shared_dump([sound, damaged], tmp_path / "graphs")
            said.append(str(caught.value))
        assert len(caplog.messages) == 2
        assert len(set(said)) == 1
        damaged.write_text(TRIPLES)
        assert len(rows(shared_dump([sound, damaged], tmp_path / "graphs"))) == 4
