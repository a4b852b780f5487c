import json
import logging
import os
from pathlib import Path

import pytest

from data.errors import InputError
from data.sources.graph.dump import Dump, _content, digest
from tests.data.sources.test_dump import ALL, TRIPLES, TURTLE, rows, unfinished, written


def test_the_digest_is_of_what_the_files_hold_not_of_their_names_and_order(tmp_path: Path) -> None:
    one, two = written(tmp_path, "a.ttl", TURTLE), written(tmp_path, "b.nt", TRIPLES)
    assert digest([one, two], tmp_path) == digest([two, one], tmp_path)
    assert digest([one], tmp_path) == digest([written(tmp_path, "other-name.ttl", TURTLE)], tmp_path)
    assert len({digest([one], tmp_path), digest([two], tmp_path), digest([one, two], tmp_path)}) == 3
    before = digest([one], tmp_path)
    one.write_text(TURTLE.replace("Oslo", "Olso"))
    os.utime(one, ns=(1, 1))
    assert digest([one], tmp_path) != before


def test_a_file_is_read_once_as_long_as_its_size_and_time_of_change_stay(tmp_path: Path) -> None:
    folder, file = tmp_path / "graphs", written(tmp_path, "a.ttl", TURTLE)
    first = digest([file], folder)
    about = file.stat()
    file.write_text(TURTLE.replace("Oslo", "Olso"))
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    _content.cache_clear()  # as in the next process
    assert digest([file], folder) == first
    file.write_text(TURTLE + "\n")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    longer = digest([file], folder)
    file.write_text(TURTLE)
    os.utime(file, ns=(1, 1))
    assert digest([file], folder) == first != longer


def test_files_of_several_dumps_are_remembered_under_their_whole_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "graphs"
    digest([Path(written(tmp_path, "a.ttl", TURTLE).name)], folder)
    digest([written(tmp_path, "b.nt", TRIPLES)], folder)
    said = json.loads((folder / "digests.json").read_text())
    assert list(said) == [str(tmp_path / "a.ttl"), str(tmp_path / "b.nt")]
    about = (tmp_path / "a.ttl").stat()
    assert (said[str(tmp_path / "a.ttl")]["size"], said[str(tmp_path / "a.ttl")]["mtime_ns"]) == (
        about.st_size, about.st_mtime_ns,
    )  # fmt: skip
    assert unfinished(folder) == []


def test_a_graph_that_was_loaded_needs_its_files_no_more(tmp_path: Path) -> None:
    folder, file = tmp_path / "graphs", written(tmp_path, "a.ttl", TURTLE)
    there, loaded = digest([file], folder), Dump.of([file], folder).select(ALL)
    file.unlink()
    _content.cache_clear()
    assert digest([file], folder) == there
    assert Dump.of([file], folder).select(ALL) == loaded
    with pytest.raises(InputError, match=r"a\.ttl cannot be read: No such file"):
        digest([file], tmp_path / "other graphs")


def test_a_file_that_is_gone_before_its_graph_was_loaded_is_needed(tmp_path: Path) -> None:
    folder, file = tmp_path / "graphs", written(tmp_path, "a.ttl", TURTLE)
    digest([file], folder)
    file.unlink()
    with pytest.raises(InputError, match=r"a\.ttl.*No such file.*needed until its graph is loaded"):
        Dump.of([file], folder)


@pytest.mark.parametrize("said", ["", "[]", "{", '{"FILE": 7}', '{"FILE": {"size": "x"}}', '{"FILE": {"size": 1}}'])
def test_digests_that_cannot_be_read_are_made_again(said: str, tmp_path: Path) -> None:
    file = written(tmp_path, "a.ttl", TURTLE)
    first = digest([file], tmp_path / "graphs")
    (tmp_path / "graphs" / "digests.json").write_text(said.replace("FILE", str(file)))
    assert digest([file], tmp_path / "graphs") == first
    assert str(file) in json.loads((tmp_path / "graphs" / "digests.json").read_text())


def test_digests_that_cannot_be_written_are_no_error(tmp_path: Path) -> None:
    file = written(tmp_path, "a.ttl", TURTLE)
    assert digest([file], file / "graphs") == digest([file], tmp_path / "graphs")


def test_a_file_that_is_not_there_and_no_file_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"missing\.ttl cannot be read: No such file"):
        digest([tmp_path / "missing.ttl"], tmp_path)
    with pytest.raises(InputError, match="at least one file"):
        digest([], tmp_path)


def test_a_damaged_dump_is_loaded_once_and_fails_at_once_the_next_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sound, damaged = written(tmp_path, "sound.ttl", TURTLE), written(tmp_path, "a.nt", TRIPLES + "half a li")
    said = []
    with caplog.at_level(logging.INFO, logger="data.sources.graph.dump"):
        for _ in range(3):
            with pytest.raises(InputError, match=r"a\.nt, line 5 is no RDF") as caught:
                Dump.of([sound, damaged], tmp_path / "graphs")
            said.append(str(caught.value))
        assert len(caplog.messages) == 2
        assert len(set(said)) == 1
        damaged.write_text(TRIPLES)
        assert len(rows(Dump.of([sound, damaged], tmp_path / "graphs"))) == 4
