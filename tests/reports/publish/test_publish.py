import dataclasses
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import pandas as pd
import pytest
import yaml

import swaymeter.reports.publish as publishing
from swaymeter.data.errors import WorkspaceError
from swaymeter.reports.publish import ModelEntry
from swaymeter.reports.publish.publication import hub_licence
from tests.data.warehouse.small_study import small_study
from tests.registries import only
from tests.reports.hostile import HOSTILE, assert_harmless, hostile_card
from tests.reports.publish.conftest import PUBLICATION, TWO_FIGURES, Publish
from tests.reports.study import MODEL


def read_json(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def test_figures_and_tables_have_every_format(publication: Path) -> None:
    figures = {path.name for path in (publication / "figures").iterdir()} - {"captions.txt"}
    assert figures == {
        f"{name}-{MODEL}-float32.{kind}" for name in TWO_FIGURES for kind in ("pdf", "svg", "tex", "csv")
    }
    captions = (publication / "figures" / "captions.txt").read_text(encoding="utf-8")
    assert captions.count("n = ") >= len(TWO_FIGURES)
    tables = {path.stem for path in (publication / "tables").iterdir()}
    assert {"tests-of-relations", "accuracy-entropy-persuasion"} <= tables
    assert {path.name for path in (publication / "tables").iterdir()} == {
        f"{name}.{kind}" for name in tables for kind in ("tex", "md", "csv")
    }


def test_the_manifest_has_the_run_and_its_digests(publication: Path) -> None:
    manifest = read_json(publication / "manifest.json")
    files = {path for path in publication.rglob("*") if path.is_file() and path.name != "manifest.json"}
    digests = {path.relative_to(publication).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}
    assert manifest["files"] == digests
    assert (publication / manifest["study_file"]).read_text(encoding="utf-8") == PUBLICATION.study_file
    assert (manifest["seeds"], manifest["seeds_of_runs"]) == ([7, 8], [1])
    assert {row["device"] for row in manifest["computed_with"]} == {"x"}  # the default text in the rows of small_study
    assert [row["measure"] for row in manifest["keys"]] == ["persuasion", "susceptibility"]
    assert manifest["commands"] == ["swaymeter run study.yaml"]


def test_the_data_loads_with_pandas_and_duckdb(publication: Path) -> None:
    rows = small_study()
    for file in (publication / "data").iterdir():
        count = len(rows[file.stem])
        assert len(pd.read_parquet(file)) == count
        assert duckdb.sql(f"SELECT count(*) FROM '{file}'").fetchall() == [(count,)]
    assert {file.stem for file in (publication / "data").iterdir()} == rows.keys()
    scores = pd.read_parquet(publication / "data" / "persuasion.parquet")
    assert sorted(scores["persuasion"]) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert set(scores["device"]) == {"x"}


def test_the_dataset_card_has_a_header_and_sources(publication: Path) -> None:
    _, header, text = (publication / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    parsed = yaml.safe_load(header)
    assert parsed["size_categories"] == ["n<1K"]
    assert all((publication / config["data_files"]).is_file() for config in parsed["configs"])
    assert "| questions | P36 | x | x | 1 |" in text
    assert "| questions | P36 | x | x | 1 |" in (publication / "LICENSE.md").read_text(encoding="utf-8")
    assert "someone/SmolLM2-135M-Instruct" in text


def test_the_hub_gets_the_common_licence() -> None:
    two_licences = "as published; facts: Wikidata CC0 1.0, texts: Wikipedia CC BY-SA 4.0"
    assert [hub_licence(terms) for terms in ([two_licences], ["CC BY 4.0"] * 2, ["permitted"], [])] == [
        "other",
        "cc-by-4.0",
        "other",
        "other",
    ]


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json"])
def test_a_folder_with_other_files_is_refused(tmp_path: Path, publish_study: Publish, name: str) -> None:
    (tmp_path / name).write_text('{"key": "", "files": {}}')
    with pytest.raises(WorkspaceError, match="not a publication folder"):
        publish_study(tmp_path)
    assert os.listdir(tmp_path) == [name]


def test_an_earlier_publication_is_replaced(
    tmp_path: Path, publish_study: Publish, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "_write_figures_and_tables", Mock())
    publish_study(tmp_path / "paper")
    (tmp_path / "paper" / "document.log").touch()  # LaTeX writes this file
    publish_study(tmp_path / "paper")
    assert not (tmp_path / "paper" / "document.log").exists()
    (tmp_path / "paper" / "data" / "notes.txt").touch()
    with pytest.raises(WorkspaceError, match=r"did not write: data/notes\.txt; move these files away"):
        publish_study(tmp_path / "paper")
    assert (tmp_path / "paper" / "data" / "notes.txt").exists()
    assert os.listdir(tmp_path) == ["paper"]


def test_a_hostile_study_is_published_as_text(
    tmp_path: Path, publish_study: Publish, hostile: dict[str, pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "printed", lambda drawn, limits: {"pdf": b""})
    text = "\n".join(HOSTILE)
    card = dataclasses.replace(hostile_card(), created_at=PUBLICATION.card.created_at)
    with only(publishing.FIGURES, TWO_FIGURES):
        publish_study(tmp_path / "paper", hostile, card=card, models={text: ModelEntry(text, text)})
    assert_harmless(tmp_path / "paper")
