import csv
import hashlib
import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub import constants

from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.sources.triples.listed import DATASET, PROPERTIES, from_csv, popqa
from tests.data.sources.servers.faults import FaultServer, Say, serving

HEADER = (
    "id", "subj", "prop", "obj", "subj_id", "prop_id", "obj_id", "s_aliases", "o_aliases", "s_uri", "o_uri",
    "s_wiki_title", "o_wiki_title", "s_pop", "o_pop", "question", "possible_answers",
)  # fmt: skip
COMMIT = "0123456789abcdef0123456789abcdef01234567"
DOWNLOAD = huggingface_hub.hf_hub_download


def row(place: int, prop: str = "occupation", **cells: str) -> list[str]:
    """A row in the shape of the published one; its prop_id is PopQA's own number, and no id of Wikidata."""
    said = {
        "id": str(4_000_000 + place), "subj": f"Ada Example {place}", "prop": prop, "obj": "writer",
        "subj_id": "1893", "prop_id": "106", "obj_id": "2834605", "s_aliases": "[]", "o_aliases": '["author"]',
        "s_uri": f"http://www.wikidata.org/entity/Q{place}", "o_uri": "http://www.wikidata.org/entity/Q36180",
        "s_wiki_title": f"Ada Example {place}", "o_wiki_title": "Writer", "s_pop": "142", "o_pop": "25692",
        "question": f"What is Ada Example {place}'s {prop}?", "possible_answers": '["writer", "author"]',
    }  # fmt: skip
    return [cells.get(column, said[column]) for column in HEADER]


def tsv(*rows: list[str]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text, delimiter="\t", lineterminator="\n").writerows([HEADER, *rows])
    return text.getvalue().encode()


def written(folder: Path, *rows: list[str]) -> Path:
    file = folder / "test.tsv"
    file.write_bytes(tsv(*rows))
    return file


def test_a_row_has_ids_from_addresses(tmp_path: Path) -> None:
    (seed,) = popqa(written(tmp_path, row(7)))
    assert (seed.subject_id, seed.property_id, seed.object_id) == ("Q7", "P106", "Q36180")
    assert (seed.relation, seed.property, seed.subject, seed.object) == (
        "occupation", "occupation", "Ada Example 7", "writer",
    )  # fmt: skip
    assert (seed.question, seed.answers) == ("What is Ada Example 7's occupation?", ("writer", "author"))
    assert (seed.list_id, seed.source, seed.retrieved_at) == ("4000007", "PopQA (akariasai/PopQA)", None)


def test_its_sixteen_properties_are_those_of_wikidata(tmp_path: Path) -> None:
    seeds = popqa(written(tmp_path, *(row(place, prop) for place, prop in enumerate(PROPERTIES, 1))))
    assert len({(seed.property_id, seed.relation) for seed in seeds}) == 16
    relations = {seed.property: (seed.property_id, seed.relation) for seed in seeds}
    assert relations["place of birth"] == ("P19", "birthPlace")
    assert relations["capital of"] == ("P1376", "capitalOf")


def test_a_fact_that_is_there_twice_is_taken_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    seeds = popqa(written(tmp_path, row(1), row(2), row(1, id="9"), row(1, "genre")))
    assert [(seed.subject_id, seed.property_id, seed.list_id) for seed in seeds] == [
        ("Q1", "P106", "4000001"), ("Q2", "P106", "4000002"), ("Q1", "P136", "4000001"),
    ]  # fmt: skip
    assert "1 of 4 rows are duplicates" in caplog.text


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"prop": "religon"}, "prop is 'religon', which is not a property of PopQA; did you mean 'religion'?"),
        ({"prop": "P106"}, "prop is 'P106', which is not a property of PopQA; known: author, capital, capital of"),
        ({"s_uri": "1893"}, "s_uri is '1893', which is not a valid item of Wikidata"),
        ({"o_uri": ""}, "o_uri is ''"),
        ({"possible_answers": "['writer'"}, "possible_answers is"),
    ],
)
def test_a_bad_cell_is_named_with_file_line_and_column(cells: dict[str, str], said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=rf"test\.tsv, line 3: {said}"):
        popqa(written(tmp_path, row(1), row(2, **cells)))


def test_another_list_is_not_popqa(tmp_path: Path) -> None:
    other = tmp_path / "facts.csv"
    other.write_text("subject_id,property_id,object_id\nQ1,P1,Q2\n")
    with pytest.raises(InputError, match=r"facts\.csv has no column s_uri"):
        popqa(other)
    with pytest.raises(InputError, match=r"is PopQA's list, .*; name `source: popqa` with it"):
        from_csv(written(tmp_path, row(1)))


@pytest.fixture(autouse=True)
def _own_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Downloads go into the test's own folder; whether it may ask, the hub's library reads only once."""
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", partial(DOWNLOAD, cache_dir=tmp_path))


@contextmanager
def hub(folder: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, status: int = 200) -> Iterator[FaultServer]:
    """A hub that has the dataset, and whose files lie in this folder."""
    digest = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
    with serving(Say(content, status, {"ETag": f'"{digest}"', "X-Repo-Commit": COMMIT})) as server:
        download = partial(DOWNLOAD, endpoint=server.address, cache_dir=folder)
        monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
        yield server


def test_without_a_file_the_list_comes_from_the_hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub(tmp_path, monkeypatch, tsv(row(1), row(2))) as server:
        seeds = popqa(None)
        assert popqa(None, offline=True) == seeds
    file = f"/ask/datasets/{DATASET}/resolve/main/test.tsv"
    assert [(asked.method, asked.path) for asked in server.asked] == [("HEAD", file), ("GET", file)]
    assert [seed.subject_id for seed in seeds] == ["Q1", "Q2"]
    assert seeds[0].retrieved_at is not None
    assert abs((datetime.fromisoformat(seeds[0].retrieved_at) - datetime.now(UTC)).total_seconds()) < 30


def test_a_changed_list_in_the_hubs_cache_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hub(tmp_path, monkeypatch, tsv(row(1))):
        popqa(None)
    (file,) = tmp_path.glob("**/snapshots/**/test.tsv")
    file.write_bytes(file.read_bytes().replace(b"writer", b"waiter"))
    with pytest.raises(ServiceError, match=rf"PopQA's list in the hub's cache is damaged: .*; delete {file.resolve()}"):
        popqa(None, offline=True)


@pytest.mark.parametrize(("status", "offline"), [(200, True), (401, False), (404, False)])
def test_without_a_file_an_error_says_what_to_do(
    status: int, offline: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = pytest.raises(ServiceError, match=r"not on this machine .*; name its file, run again with a network, or")
    with hub(tmp_path, monkeypatch, b"{}", status), refused:
        popqa(None, offline=offline)
