"""Fixed values of digests and random draws.

File names, keys and caches contain digests, and results depend on draws.
"""

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
import requests

from swaymeter.data.catalog.reading import digest_of
from swaymeter.data.digests import (
    content_key,
    digest_of_large,
    digest_of_named_file,
    git_sha1,
    identity,
    integrity,
    sha256,
    sha256_of_file,
)
from swaymeter.data.randomness import drawn_first, generator, typed_generator
from swaymeter.data.records.table import table_digest
from swaymeter.data.sources.graph.dump import dump_digest
from swaymeter.data.sources.http import cache
from swaymeter.data.storage.notes import seal
from swaymeter.data.storage.remembered import remembered_digests
from swaymeter.tasks.models.files import hub
from swaymeter.tasks.models.files.identity import _identify_folder


def write_file(folder: Path, name: str = "zoë.ttl") -> Path:
    file = folder / name
    file.write_bytes("<a:Zoë> <a:b> <a:c> .\n".encode() * 100)
    return file


def model_revision(folder: Path) -> str:
    (folder / "config.json").write_text("{}")
    write_file(folder, "model.safetensors")
    return _identify_folder(str(folder)).revision


def request_key(folder: Path) -> str:
    request = requests.Request("POST", "http://localhost/q", data="a=é".encode(), headers={"Accept": "text/csv"})
    return cache.key_of(request.prepare())


DIGESTS_AND_DRAWS: dict[str, Callable[[Path], object]] = {
    "key of a step": lambda folder: content_key({"seed": 1, "names": ["Zoë", None], "share": 0.1}),
    "identity of a row": lambda folder: identity("capital", "Zoë", 3, None),
    "named file": lambda folder: digest_of_named_file(write_file(folder), "facts.file"),
    "stored file": lambda folder: sha256_of_file(write_file(folder)),
    "model file": lambda folder: hub.sha256_of_file(write_file(folder)),
    "large file": lambda folder: digest_of_large(write_file(folder)),
    "remembered file": lambda folder: remembered_digests([write_file(folder)], folder),
    "graph": lambda folder: dump_digest([write_file(folder), write_file(folder, "b.nt")], folder),
    "model folder": model_revision,
    "note": lambda folder: seal({"b": "Zoë", "a": [1, 2.5]}),
    "table": lambda folder: table_digest(pa.table({"n": [1, None], "text": ["Zoë", ""], "lists": [[0.5], []]})),
    "part of the catalog": lambda folder: digest_of({"b": "Zoë", "a": [1, 2.5]}),
    "request": request_key,
    "style of a page": lambda _: integrity("p { color: red } /* é */"),
    "text": lambda _: sha256("Z", "oë".encode()),
    "blob of git": lambda folder: git_sha1(write_file(folder).read_bytes()),
    "drawn by identity": lambda folder: generator(3, "capital", "Zoë", 1).integers(1 << 60, size=2).tolist(),
    "drawn for an answer": lambda folder: typed_generator(3, "capital", "Zoë", 1).integers(1 << 60, size=2).tolist(),
    "drawn first": lambda folder: drawn_first(["a", "b", "c", "d", "Zoë"], 3, 7, "capital"),
    "drawn for intervals": lambda folder: generator(20240815).integers(1 << 60, size=2).tolist(),
}
EXPECTED: dict[str, object] = {
    "key of a step": "813be0854734ae9b4b298012315924b7934a7d74fd73554325a5d0dbf711b42a",
    "identity of a row": "c53777196791bafb",
    "named file": "ff9eb485937ce9e1e0a2a50fe139e45cb5d464bf89a5330a0743fcf009ae65ef",
    "stored file": "ff9eb485937ce9e1e0a2a50fe139e45cb5d464bf89a5330a0743fcf009ae65ef",
    "model file": "ff9eb485937ce9e1e0a2a50fe139e45cb5d464bf89a5330a0743fcf009ae65ef",
    "large file": "dbca7330b8745905c2117ec435ab055c1d675532642f3b6c6d2db8f1bdab9207",
    "remembered file": [
        "bac16e93bdf5dc4a59c50a3de1478c2330b6b33a5f577866c369e3051bcfb75b"
        "3fbbe51d15d0970d6a0b14354eeaf232555e529f9cb3a3f05780c3a52cdfd4d7"
    ],
    "graph": "2169797610e95edb00462a3898b9b30d",
    "model folder": "c9981a593e351bcc8af6d4992f105f2134d3e4f71690a5ce4b33cb76b4c8c0f2",
    "note": '{\n "b": "Zo\\u00eb",\n "a": [\n  1,\n  2.5\n ],\n '
    '"sha256": "29f5acc7be2b156f138623b0816630fca9f6fcc3782eea99ed392bd03e53dc70"\n}',
    "table": "5ccb95a5e7374b7b4e6418a5d06866f02510fd2f844883b29cf61356d55460ce",
    "part of the catalog": "6756e6cd3a3239ea171e4374967f623926e6b6f0b7f4e22ce8439faafa325f85",
    "request": "fcfbaf1b531c448119f8555d45d25add704c9252b97615277333b4af9cbb8f85",
    "style of a page": "sha256-IOHBjHq+hV6L45G6jHXVBwmnNF/YyXSA1i2gYZBc8YA=",
    "text": "c6a12698582fc1104ea24107a2d7268145ff06ef859707729d01fd060897f067",
    "blob of git": "0b67947d2b9401cc38f39f21e7aed6ce3a2ce095",
    "drawn by identity": [791359209793701118, 223971632225873444],
    "drawn for an answer": [704640792785229451, 315601572036832093],
    "drawn first": ["b", "d", "c"],
    "drawn for intervals": [1104887410571750442, 749321665613107703],
}


@pytest.mark.parametrize("name", DIGESTS_AND_DRAWS)
def test_digests_and_draws_do_not_change(name: str, tmp_path: Path) -> None:
    assert DIGESTS_AND_DRAWS[name](tmp_path) == EXPECTED[name]
