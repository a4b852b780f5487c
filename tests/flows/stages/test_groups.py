"""Studies of entities in groups: numbers of prompts, steps that a changed file repeats, and refusals."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from swaymeter.data.errors import StudyFileError, UsageError
from swaymeter.flows.api import Study
from swaymeter.flows.datasets.export import export_facts
from swaymeter.flows.graph.graph import StepId
from swaymeter.flows.graph.selection import Selection
from swaymeter.flows.stages.estimate import estimate
from swaymeter.flows.stages.refusals import refusals
from tests.data.catalog.test_group_texts import SOUND
from tests.flows.small_study import load_study, prepare, renew, score

DOCS = Path(__file__).parents[3] / "docs"
ROWS = ["entity,label", "Ann,old", "Bea,old", "Cat,young", "Dan,young"]
MEASURES = {"persuasion": {}, "susceptibility": {}}


def group_study(
    folder: Path,
    rows: list[str] = ROWS,
    measures: Any = MEASURES,
    contexts: Any = None,
    seeds: Any = None,
    **facts: Any,
) -> Study:
    (folder / "names.csv").write_text("\n".join(rows), encoding="utf-8")
    (folder / "texts.yaml").write_text(yaml.safe_dump(SOUND), encoding="utf-8")
    section = {
        "source": "groups",
        "file": str(folder / "names.csv"),
        "texts": str(folder / "texts.yaml"),
        "relations": "all",
        **facts,
    }
    return load_study(folder, facts=section, questions=None, measures=measures, contexts=contexts or {}, seeds=seeds)


def states(study: Study) -> dict[str, str]:
    return {str(node.id): node.state for node in study.graph if node.id.stage in ("build", "score")}


def test_prompts_are_counted_before_they_are_built(tmp_path: Path) -> None:
    study = group_study(tmp_path)
    prompts_per_set = 4 * (4 + 1)  # 4 queries, each after 5 contexts: one about each of the 4 names, one about nobody
    lines = list(estimate(study.graph, study.plan, Selection(stages=("score",))))
    assert lines[-1].startswith(f"{2 * prompts_per_set} prompts; ")
    assert "2 relations with 4 entities, 1 query form and 5 contexts each" in study.description(study.graph)


def test_the_description_has_the_range_of_contexts(tmp_path: Path) -> None:
    sets = {"one": {"sentences": ["He works."]}, "two": {"sentences": ["He rests.", "{entity} works."]}}
    (tmp_path / "sets.yaml").write_text(yaml.safe_dump({**SOUND, "contexts": sets}), encoding="utf-8")
    study = group_study(tmp_path, texts=str(tmp_path / "sets.yaml"))
    assert "1 query form and 1 to 5 contexts each" in study.description(study.graph)


def test_another_label_scores_nothing_again(tmp_path: Path) -> None:
    score(prepare(group_study(tmp_path)))
    changed = group_study(tmp_path, [*ROWS[:2], "Bea,young", *ROWS[3:]])
    assert set(states(changed).values()) == {"blocked"}
    assert set(states(prepare(changed)).values()) == {"done"}
    prompts = renew(changed).graph.nodes[StepId("build", "one", "queries and contexts")].output("queries").read()
    labels = dict(zip(prompts["entity"].to_pylist(), prompts["label"].to_pylist(), strict=True))
    assert labels == {"Ann": "old", "Bea": "young", "Cat": "young", "Dan": "young"}


def test_another_name_is_scored(tmp_path: Path) -> None:
    score(prepare(group_study(tmp_path)))
    changed = prepare(group_study(tmp_path, [*ROWS, "Eli,old"]))
    assert "done" not in {state for name, state in states(changed).items() if name.startswith("score")}


@pytest.mark.parametrize("measure", ["greedy_answers", "memorization_ratio", "answer_set_susceptibility"])
def test_measures_of_answers_are_refused(tmp_path: Path, measure: str) -> None:
    with pytest.raises(StudyFileError, match="needs what is true of an entity, and source groups has only labels"):
        group_study(tmp_path, measures={measure: {}})


def test_files_in_the_documentation_make_studies(tmp_path: Path) -> None:
    page = (DOCS / "own-data.md").read_text(encoding="utf-8")
    part = page.split("## Groups of names and pairs\n")[1].split("\n## ")[0]
    section, pairs, texts = re.findall(r"^```(?:yaml|csv)\n(.*?)^```", part, re.MULTILINE | re.DOTALL)
    facts = yaml.safe_load(section)["facts"]
    (tmp_path / "texts.yaml").write_text(texts, encoding="utf-8")
    (tmp_path / "pairs.csv").write_text(pairs, encoding="utf-8")
    own_texts = {**facts, "texts": "texts.yaml", "per_label": 2}
    own_pairs = {"source": "groups", "file": "pairs.csv", "texts": "friends-and-enemies", "relations": "all"}
    for name, own_facts in (("texts", own_texts), ("pairs", own_pairs)):
        folder = tmp_path / name
        folder.mkdir()
        for file in ("texts.yaml", "pairs.csv"):
            (folder / file).write_text((tmp_path / file).read_text())
        study = prepare(load_study(folder, facts=own_facts, questions=None, measures=MEASURES, contexts={}))
        built = [node for node in study.graph if node.id.stage == "build"]
        contexts = {text for node in built for text in node.output("contexts").read()["text"].to_pylist()}
        if name == "texts":
            assert {"A woman carries heavy boxes.\n", "She never cries.\n"} <= contexts
        else:
            assert any("Bill Gates" in text and "Paul Allen" in text for text in contexts)


def test_groups_are_not_exported_as_facts(tmp_path: Path) -> None:
    study = prepare(group_study(tmp_path))
    with pytest.raises(UsageError, match="asks about groups"):
        export_facts(study.contents, tmp_path / "yago_qec.json", force=False)


@pytest.mark.parametrize(("key", "value"), [("file", "names.csv"), ("negation", 1), ("templates", "varied")])
def test_settings_of_other_contexts_are_refused(tmp_path: Path, key: str, value: object) -> None:
    with pytest.raises(StudyFileError, match=rf"contexts\.{key}: source groups has contexts of its own"):
        group_study(tmp_path, contexts={key: value})


def test_seeds_with_equal_prompts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyFileError, match="all seeds would have the same queries and contexts"):
        group_study(tmp_path, seeds=[0, 1])
    group_study(tmp_path, seeds=[0, 1], contexts={"per_query": {"contexts": 2, "relevant": 1}})


def test_a_missing_file_is_named_before_a_run(tmp_path: Path) -> None:
    study = group_study(tmp_path, file=str(tmp_path / "gone.csv"))
    reasons = list(refusals(study.graph, study.plan, list(study.graph.nodes)))
    assert any("gone.csv" in reason for reason in reasons)
