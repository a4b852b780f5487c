"""Facts in docs/own-data.md: the files of the page are a study with the queries and contexts that it describes."""

import re
from pathlib import Path

import pytest

from swaymeter.data.records import Context, Query, from_row, is_relevant
from swaymeter.flows.api import Study
from swaymeter.flows.graph.graph import StepId
from tests.flows.small_study import prepare

PAGE = (Path(__file__).parent.parent / "docs" / "own-data.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("own-facts")
    for name, text in re.findall(r"^`([\w.]+)`\n\n```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        (folder / name).write_text(text, encoding="utf-8")
    return prepare(Study.load(str(folder / "warranties.yaml"), str(folder / "workspace")))


def queries_and_contexts(study: Study, relation: str) -> tuple[list[Query], list[Context]]:
    node = study.graph.nodes[StepId("build", relation, "queries and contexts")]
    queries, contexts = (node.output(role).read().to_pylist() for role in ("queries", "contexts"))
    return [from_row(Query, row) for row in queries], [from_row(Context, row) for row in contexts]


def test_own_contexts_replace_written_contexts(study: Study) -> None:
    queries, contexts = queries_and_contexts(study, "warrantyPeriod")
    assert len(queries) == 16
    assert "Q: How long is the warranty of Aquila pump?\nA:" in [query.text for query in queries]
    assert [(context.kind, context.entity, context.object, context.text) for context in contexts] == [
        ("base", "Aquila pump", "ten years", "The new manual gives the Aquila pump a warranty of ten years.\n"),
        ("assertive", "Brava fan", "one month", "The Brava fan surely has a warranty of one month.\n"),
        ("base", "", "", "Keep the receipt in a dry place.\n"),
    ]
    relevant = [{query.entity for query in queries if is_relevant(context, query)} for context in contexts]
    assert relevant == [{"Aquila pump"}, {"Brava fan"}, set()]


def test_a_relation_without_own_contexts_has_written_contexts(study: Study) -> None:
    queries, contexts = queries_and_contexts(study, "capital")
    assert {query.entity for query in queries if not query.invented} == {"Norway", "Peru", "Kenya"}
    assert len(contexts) == 8
    assert {context.kind for context in contexts} == {"base", "assertive"}
