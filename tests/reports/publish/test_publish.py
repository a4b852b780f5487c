import dataclasses
import json
import os
import re
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import jsonschema
import pandas as pd
import pytest
import yaml

import swaymeter.reports.publish as publishing
from swaymeter.data.errors import WorkspaceError
from swaymeter.reports.publish import Known, publish
from swaymeter.reports.publish.publication import addresses, hub
from tests.data.warehouse.small_study import small_study
from tests.registered import only
from tests.reports.hostile import HOSTILE, hostile_card, hostile_frames, without_controls
from tests.reports.publish.conftest import DRAWN, STUDY, Made
from tests.reports.study import MODEL


def read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def test_every_figure_and_table_is_there_in_every_format(publication: Path) -> None:
    figures = {path.name for path in (publication / "figures").iterdir()} - {"captions.txt"}
    assert figures == {f"{name}-{MODEL}-float32.{kind}" for name in DRAWN for kind in ("pdf", "tex", "csv")}
    captions = (publication / "figures" / "captions.txt").read_text(encoding="utf-8")
    assert captions.count("n = ") >= len(DRAWN)
    tables = {path.stem for path in (publication / "tables").iterdir()}
    assert {"tests-of-relations", "accuracy-entropy-persuasion"} <= tables
    assert {path.name for path in (publication / "tables").iterdir()} == {
        f"{name}.{kind}" for name in tables for kind in ("tex", "md", "csv")
    }


def test_the_manifest_says_what_was_run_and_every_digest(publication: Path) -> None:
    manifest = read(publication / "manifest.json")
    files = {path for path in publication.rglob("*") if path.is_file() and path.name != "manifest.json"}
    digests = {path.relative_to(publication).as_posix(): sha256(path.read_bytes()).hexdigest() for path in files}
    assert manifest["files"] == digests
    assert (publication / manifest["study_file"]).read_text(encoding="utf-8") == STUDY.study_file
    assert (manifest["seeds"], manifest["seeds_of_runs"]) == ([7, 8], [1])
    assert {row["device"] for row in manifest["computed_with"]} == {"x"}
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


def nodes(content: Any) -> Any:
    """Every object of a JSON text."""
    if isinstance(content, dict):
        yield content
    for value in content.values() if isinstance(content, dict) else content if isinstance(content, list) else ():
        yield from nodes(value)


def test_croissant_describes_every_file_and_column(publication: Path) -> None:
    content = read(publication / "croissant.json")
    assert content["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert {"name", "description", "url", "license", "creator", "datePublished"} <= content.keys()
    terms = {name for node in nodes({**content, "@context": {}}) for name in node if not name.startswith("@")}
    plain = {"name", "description", "url", "license", "creator", "datePublished", "version", "keywords", "distribution",
             "contentUrl", "contentSize", "encodingFormat", "sha256"}  # fmt: skip
    assert terms - plain <= content["@context"].keys()  # the others are those of schema.org
    everything = [node for node in nodes({**content, "@context": {}}) if "@id" in node]
    declared = [node["@id"] for node in everything if len(node) > 1]
    assert len(declared) == len({*declared})
    assert {node["@id"] for node in everything if len(node) == 1} <= {*declared}
    for file in content["distribution"]:
        assert file["sha256"] == sha256((publication / file["contentUrl"]).read_bytes()).hexdigest()
    for records in content["recordSet"]:
        columns = pd.read_parquet(publication / "data" / f"{records['name']}.parquet").columns
        assert [field["source"]["extract"]["column"] for field in records["field"]] == list(columns)
        assert all(field["description"] for field in records["field"])
        kinds = {field["dataType"] for field in records["field"] if "subField" not in field}
        assert kinds <= {"sc:Text", "sc:Float", "sc:Integer", "sc:Boolean"}


def test_the_dataset_card_has_a_header_and_sources(publication: Path) -> None:
    _, header, text = (publication / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    parsed = yaml.safe_load(header)
    assert parsed["size_categories"] == ["n<1K"]
    assert all((publication / one["data_files"]).is_file() for one in parsed["configs"])
    assert "| questions | P36 | x | x | 1 |" in text
    assert "| questions | P36 | x | x | 1 |" in (publication / "LICENSE.md").read_text(encoding="utf-8")
    assert "someone/SmolLM2-135M-Instruct" in text


def test_licences_are_found_in_the_words_of_sources() -> None:
    said = "as published; facts: Wikidata CC0 1.0, texts: Wikipedia CC BY-SA 4.0"
    spdx = "https://spdx.org/licenses/"
    assert addresses([said, "not stated"]) == [f"{spdx}CC-BY-SA-4.0", f"{spdx}CC0-1.0", "not stated"]
    assert [hub(terms) for terms in ([said], ["CC BY 4.0"] * 2, ["permitted"], [])] == [
        "other", "cc-by-4.0", "other", "other",
    ]  # fmt: skip


def test_results_keep_the_rules_of_every_eval_ever(publication: Path, known: dict[str, pd.DataFrame]) -> None:
    (file,) = (publication / "evals").rglob("*.json")
    path = file.relative_to(publication).as_posix()
    assert re.fullmatch(r"evals/data/quickstart/someone/smollm2-[^/]+/[0-9a-f-]{36}\.json", path)
    record = read(file)
    jsonschema.validate(record, SCHEMA)
    results = {one["evaluation_result_id"]: one for one in record["evaluation_results"]}
    given = known["models_side_by_side"].query("quantity == 'susceptibility' and group == 'open'").iloc[0]
    assert results["susceptibility/open"]["score_details"]["score"] == given["mean"]
    for one in results.values():
        limits = one["metric_config"]
        assert limits["min_score"] <= one["score_details"]["score"] <= limits["max_score"]
    left_out = record["source_metadata"]["additional_details"]["left_out_without_a_largest_value"]
    assert left_out == "coherent_persuasion"


@pytest.mark.parametrize("name", ["notes.txt", "manifest.json"])
def test_a_folder_of_something_else_is_refused(tmp_path: Path, made: Made, name: str) -> None:
    (tmp_path / name).write_text('{"key": "", "files": {}}')
    with pytest.raises(WorkspaceError, match="not a publication folder"):
        publish(STUDY, made, tmp_path)  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == [name]


def test_an_earlier_publication_is_replaced(tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "_write_pictures", Mock())
    publish(STUDY, made, tmp_path / "paper")  # type: ignore[arg-type]
    (tmp_path / "paper" / "document.log").touch()
    publish(STUDY, made, tmp_path / "paper")  # type: ignore[arg-type]
    assert not (tmp_path / "paper" / "document.log").exists()
    (tmp_path / "paper" / "data" / "notes.txt").touch()
    with pytest.raises(WorkspaceError, match=r"not its own: data/notes\.txt; move them away"):
        publish(STUDY, made, tmp_path / "paper")  # type: ignore[arg-type]
    assert (tmp_path / "paper" / "data" / "notes.txt").exists()
    assert os.listdir(tmp_path) == ["paper"]


def test_a_hostile_study_is_published_as_text(tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publishing, "printed", lambda drawn, limits: b"")
    frames, text = {**made.frames, **hostile_frames()}, "\n".join(HOSTILE)
    card = dataclasses.replace(hostile_card(), made_at=STUDY.card.made_at)
    study = dataclasses.replace(STUDY, card=card, models={text: Known(text, text)}, by=text)
    with only(publishing.FIGURES, DRAWN):
        publish(study, dataclasses.replace(made, frames=frames), tmp_path / "paper")  # type: ignore[arg-type]
    assert without_controls(tmp_path / "paper")


# What eval.schema.json of Every Eval Ever, version 0.2.2, asks of the fields that are written. Worded anew from
# https://github.com/evaleval/every_eval_ever (every_eval_ever/schemas/eval.schema.json), which states no licence:
# names, types and rules only. It is stricter in one thing: a field that is not listed is refused.
TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "number"}
DETAILS: dict[str, Any] = {"type": "object", "additionalProperties": TEXT}


def of(required: str, optional: str = "", **fields: Any) -> dict[str, Any]:
    """An object with these fields; texts but for those that are given."""
    names = [*required.split(), *optional.split()]
    properties = {name: fields.get(name, TEXT) for name in names}
    return {"type": "object", "required": required.split(), "properties": properties, "additionalProperties": False}


METRIC = of(
    "lower_is_better",
    "evaluation_description metric_id metric_name metric_unit score_type min_score max_score additional_details",
    lower_is_better={"type": "boolean"}, score_type={"enum": ["binary", "continuous", "levels"]}, min_score=NUMBER,
    max_score=NUMBER, additional_details=DETAILS,
) | {"if": {"properties": {"score_type": {"const": "continuous"}}}, "then": {"required": ["min_score", "max_score"]}}

INTERVAL = of(
    "lower upper", "confidence_level method",
    lower=NUMBER, upper=NUMBER, confidence_level={"type": "number", "minimum": 0, "maximum": 1},
)  # fmt: skip
RESULT = of(
    "evaluation_name source_data metric_config score_details",
    "evaluation_result_id",
    source_data=of(
        "dataset_name source_type", "source_version additional_details",
        source_type={"const": "other"}, additional_details=DETAILS,
    ),
    metric_config=METRIC,
    score_details=of(
        "score", "uncertainty",
        score=NUMBER,
        uncertainty=of("", "num_samples confidence_interval", num_samples={"type": "integer"},
                       confidence_interval=INTERVAL),
    ),
)  # fmt: skip
SCHEMA = of(
    "schema_version evaluation_id retrieved_timestamp source_metadata model_info eval_library evaluation_results",
    "evaluation_timestamp",
    source_metadata=of(
        "source_type source_organization_name evaluator_relationship", "source_name additional_details",
        source_type={"enum": ["documentation", "evaluation_run"]},
        evaluator_relationship={"enum": ["first_party", "third_party", "collaborative", "other"]},
        additional_details=DETAILS,
    ),
    eval_library=of("name version"),
    model_info=of(
        "name id", "developer inference_engine additional_details",
        inference_engine=of("", "name version"), additional_details=DETAILS,
    ),
    evaluation_results={"type": "array", "items": RESULT},
)  # fmt: skip
