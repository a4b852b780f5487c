"""The sources of facts and questions; also slots of snippets, and names of properties."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.digests import content_key
from swaymeter.data.errors import InputError, ServiceError
from swaymeter.data.records import PARTITIONS, SLOT, RelationName, WikidataId
from swaymeter.data.sources import sample, slots
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.http.services import SERVICES
from swaymeter.data.sources.property_names import relation_of, relations_of
from swaymeter.data.sources.registry import FACT_SOURCES, QUESTION_SOURCES
from tests.data.sources.servers.faults import unused_address

YAGO = {"source": "yago", "relations": ["capital"], "pairs": 10, "invented": "names"}
SAMPLE = {"source": "sample", "relations": ["capital"]}
TRIPLE = "<http://a.example/s> <http://a.example/p> <http://a.example/o> .\n"


@dataclass(frozen=True)
class Request:
    """Options of a source and the arguments of its functions."""

    options: dict[str, Any]
    access: Access
    relation: str = "capital"
    seed: int = 0

    def key(self) -> str:
        """Return the key of the facts."""
        source = FACT_SOURCES[self.options["source"]]
        options = source.options.model_validate(self.options)
        return content_key(dict(source.key(options, self.relation, self.seed, self.access)))


@pytest.fixture
def access(tmp_path: Path) -> Access:
    return Access(tmp_path / "downloads", contact="tests@example.org")


def with_address(access: Access, service: str, address: str) -> Access:
    return replace(access, services={service: replace(SERVICES[service], address=address)})


def test_key_depends_on_graph_options_and_seed(access: Access) -> None:
    before = Request(YAGO, access)
    others = [
        replace(before, options=YAGO | {"pairs": 11}),
        replace(before, options=YAGO | {"citation": "mine"}),
        replace(before, seed=1),
        replace(before, relation="birthPlace"),
        replace(before, access=with_address(access, "yago", "http://127.0.0.1:7878/query")),
        replace(before, options=SAMPLE),
    ]
    assert len({request.key() for request in (before, *others)}) == 1 + len(others)


def test_key_of_facts_ignores_other_options(access: Access) -> None:
    other_access = replace(access, contact="a@example.org", cache=Path("elsewhere"), offline=True)
    assert Request(YAGO, other_access).key() == Request(YAGO, access).key()
    assert Request(YAGO | {"real_entities": 9, "choice": "degree"}, access).key() == Request(YAGO, access).key()
    assert Request(SAMPLE, access, seed=1).key() == Request(SAMPLE, access).key()


def test_key_depends_on_the_content_of_dumps(access: Access, tmp_path: Path) -> None:
    dump, copy = tmp_path / "facts.nt", tmp_path / "copy.nt"
    dump.write_text(TRIPLE)
    copy.write_text(TRIPLE)
    before = Request(YAGO | {"dump": [str(dump)]}, access).key()
    assert Request(YAGO | {"dump": [str(copy)]}, access).key() == before
    dump.write_text(TRIPLE.replace("/o>", "/other>"))
    assert Request(YAGO | {"dump": [str(dump)]}, access).key() != before
    with pytest.raises(InputError, match=r"gone\.nt cannot be read"):
        Request(YAGO | {"dump": [str(tmp_path / "gone.nt")]}, access).key()


@pytest.mark.parametrize(
    ("options", "address", "names"),
    [
        (YAGO, None, ["yago", "wikidata"]),
        (YAGO, "http://127.0.0.1/query", ["yago"]),
        (YAGO | {"dump": ["facts.nt"]}, None, ["yago"]),
        (YAGO | {"absent_from": []}, None, []),
        (SAMPLE, None, []),
        (SAMPLE | {"absent_from": ["wikidata"]}, None, ["wikidata"]),
    ],
)
def test_graphs_for_invented_names_follow_from_the_source(
    options: dict[str, Any], address: str | None, names: list[str], access: Access
) -> None:
    source = FACT_SOURCES[options["source"]]
    access = with_address(access, "yago", address) if address else access
    assert [graph.name for graph in source.graphs(source.options.model_validate(options), access)] == names


def test_error_of_unreachable_service_names_alternatives(access: Access) -> None:
    source = FACT_SOURCES["yago"]
    options = source.options.model_validate(YAGO)
    with pytest.raises(ServiceError, match=r"cannot be reached.*`source: sample`.*`dump`.*`absent_from: \[\]`"):
        source.fetch(options, "capital", 0, with_address(access, "yago", unused_address()))


def test_a_dump_without_a_relation_advises_no_dump(access: Access, tmp_path: Path) -> None:
    (tmp_path / "facts.nt").write_text(TRIPLE)
    source = FACT_SOURCES["yago"]
    options = source.options.model_validate(YAGO | {"dump": [str(tmp_path / "facts.nt")]})
    with pytest.raises(InputError, match="has no usable fact") as raised:
        source.fetch(options, "capital", 0, access)
    assert "`dump`" not in str(raised.value)


def test_key_of_published_questions_depends_on_their_file(access: Access, tmp_path: Path) -> None:
    source = QUESTION_SOURCES["dynamicqa"]
    assert source.key is not None
    assert source.fetch is not None
    file = tmp_path / "Static_final.csv"
    keys = []
    for content in ("one", "two"):
        file.write_text(content)
        keys.append(source.key(source.options(source="dynamicqa", folder=str(tmp_path)), "static", access))
    downloaded = source.options(source="dynamicqa")
    keys.append(source.key(downloaded, "static", access))
    keys.append(source.key(downloaded, "static", with_address(access, "dynamicqa", "http://127.0.0.1/mirror")))
    assert len({content_key(dict(key)) for key in keys}) == 4
    with pytest.raises(ServiceError, match=r"Static_final\.csv .* offline.*; name a `folder`"):
        source.fetch(downloaded, "static", replace(access, offline=True))


def test_sample_has_facts_with_sources_and_filled_contexts() -> None:
    facts = sample.facts("capital")
    assert len(facts) == len(catalog.facts("capital")) > 0
    assert all(fact.source for fact in facts)
    assert {(type(fact.relation), fact.relation, fact.licence) for fact in facts} == {
        (RelationName, "capital", sample.LICENCE)
    }
    questions = [question for partition in PARTITIONS for question in sample.questions(partition)]
    for question in questions:
        assert question.object in question.original_context
        assert question.replacement in question.counter_memory_context
        assert SLOT not in question.original_context + question.counter_memory_context


@pytest.mark.parametrize("answer", ["\\1", "{entity}", "$&", "[ENTITY]", "%s"])
def test_answer_is_never_read_as_a_pattern(answer: str) -> None:
    assert slots.fill_slot("It is [ENTITY].", answer) == f"It is {answer}."
    assert slots.replace_object("It is Oslo.", "Oslo", answer) == f"It is {answer}."


def test_only_whole_words_are_replaced() -> None:
    context = "IRAN and Iranian, Tehran-Iran, pro-iran, _Iran, ÅIran"
    assert slots.replace_object(context, "Iran", "Peru") == "Peru and Iranian, Tehran-Peru, pro-Peru, _Iran, ÅIran"


@pytest.mark.parametrize(
    ("question", "answers", "answer", "replacement", "flag"),
    [
        (" ", ["Oslo"], "Oslo", "Lima", slots.EMPTY_QUESTION),
        ("Where?", [""], "", "Lima", slots.EMPTY_ANSWER),
        ("Where?", ["Oslo"], "Oslo", "\t", slots.EMPTY_REPLACEMENT),
        ("Where?", ["Oslo", "Christiania"], "Oslo", "CHRISTIANIA ", slots.REPLACEMENT_IS_ANSWER),
        ("Where?", [], "Oslo", "oslo", slots.REPLACEMENT_IS_ANSWER),
        ("Is New York, a city?", ["New York"], "new york", "Lima", slots.QUESTION_CONTAINS_ANSWER),
    ],
)
def test_a_broken_rule_has_its_flag(
    question: str, answers: list[str], answer: str, replacement: str, flag: str
) -> None:
    assert slots.flags_of(question, answers, answer, replacement) == (flag,)


@pytest.mark.parametrize(
    ("snippet", "answer", "replacement"),
    [
        ("[ENTITY] is near [ENTITY].", "Oslo", "Lima"),
        ("Oslo Street is in [ENTITY], not in Lima.", "Oslo", "Lima"),
        ("Its country is a [ENTITY]n one, of [ENTITY]ns.", "Latvia", "Peru"),
        ("He was a [ENTITY], a film actor.", "film", "film actor"),
        ("He was a film [ENTITY], a film actor.", "film actor", "film"),
        ("[ENTITY][ENTITY]", "a", "aa"),
        ("[ENTITY]", "Oslo", "Lima"),
        ("no slot at all", "Oslo", "Lima"),
        ("It is [ENTITY].", "Oslo", ""),
        ("It is [ENTITY].", "", "Oslo"),
        ("(.*) \\1 [ENTITY] $&", "(.*)", "\\1"),
        ("", "Oslo", "Lima"),
    ],
)
def test_snippet_is_restored_from_its_two_contexts(snippet: str, answer: str, replacement: str) -> None:
    contexts = slots.fill_slot(snippet, answer), slots.fill_slot(snippet, replacement)
    restored = slots.snippet_of(*contexts, answer, replacement)
    assert restored is not None
    assert (slots.fill_slot(restored, answer), slots.fill_slot(restored, replacement)) == contexts
    assert restored == snippet or len(snippet) == len(restored)  # another snippet may give the same contexts


def test_equal_answers_make_every_whole_word_a_slot() -> None:
    context = "Iran, an Iranian state: Iran"
    assert slots.snippet_of(context, context, "Iran", "Iran") == "[ENTITY], an Iranian state: [ENTITY]"


@pytest.mark.parametrize(
    ("original", "counter_memory"),
    [
        ("It is Oslo.", "It was Lima."),
        ("It is Oslo.", "It is Lima"),
        ("It is Oslo.", "It is Lima. "),
        ("Oslo and Oslo", "Lima"),
        ("", "Lima and"),
        ("[ENTITY] Oslo", "[ENTITY] Lima"),
    ],
)
def test_contexts_without_a_common_snippet_give_none(original: str, counter_memory: str) -> None:
    assert slots.snippet_of(original, counter_memory, "Oslo", "Lima") is None


def test_long_snippet_is_restored_in_time() -> None:
    snippet = "a [ENTITY] " * 2000
    original, counter_memory = slots.fill_slot(snippet, "a"), slots.fill_slot(snippet, "aa")
    assert slots.snippet_of(original, counter_memory, "a", "aa") is not None


@pytest.mark.parametrize(
    ("snippet", "flags"),
    [
        ("The seat is [ENTITY], (the [ENTITY]) and '[ENTITY]'s.", ()),
        ("The seat is Oslo.", (slots.NO_SLOT,)),
        ("The ENTITY band is [ENTITY].", (slots.BROKEN_SLOT,)),
        ("A SodaENTITY of [ENTITY].", (slots.BROKEN_SLOT,)),
        ("An entity of [ENTITY].", ()),
        ("The [ENTITY]ian coast.", (slots.BROKEN_SLOT,)),
        ("vo[ENTITY]bulary", (slots.BROKEN_SLOT,)),
        ("The ENTITY.", (slots.NO_SLOT, slots.BROKEN_SLOT)),
        ("[ENTITY], once christiania", (slots.ANSWER_LEFT_IN_CONTEXT,)),
        ("[ENTITY] and the Osloite", ()),
    ],
)
def test_broken_rules_of_a_snippet_are_named(snippet: str, flags: tuple[str, ...]) -> None:
    assert slots.flags_of_snippet(snippet, ["Oslo", "Christiania", ""]) == flags


@pytest.mark.parametrize(
    ("property_id", "label", "relation"),
    [
        ("P106", "occupation", "occupation"),
        ("P19", "place of birth", "birthPlace"),  # the name in the catalog
        ("P19", None, "birthPlace"),
        ("P57", "director", "director"),  # reverseDirector has the same id
        ("P1376", "capital of", "capitalOf"),
        ("P641", "sport", "sport"),
        ("P641", None, "P641"),
        ("P641", "...", "P641"),
        ("P641", "1st place", "P641"),
        ("P641", "спорт", "P641"),
        ("P641", "{sport}\n../\u202e", "sport"),
        ("P641", "x" * 65, "P641"),
        ("P641", "country", "P641"),  # the name of P17
        ("P641", "disputable", "P641"),
        (None, "country", "country"),
        ("", "place of burial", "placeOfBurial"),
    ],
)
def test_property_is_named_by_catalog_label_or_id(property_id: str | None, label: str | None, relation: str) -> None:
    assert relation_of(property_id, label) == relation


@pytest.mark.parametrize("label", [None, "", "...", "1st place"])
def test_questions_without_an_id_need_usable_labels(label: str | None) -> None:
    with pytest.raises(InputError, match="is not a valid relation name"):
        relation_of(None, label)


def relations(*listed: tuple[str, str | None]) -> dict[str, str]:
    names = relations_of((WikidataId(property_id), label) for property_id, label in listed)
    return {str(property_id): str(name) for property_id, name in names.items()}


def test_properties_with_equal_labels_are_named_by_ids() -> None:
    assert relations(("P361", "part of"), ("P1", "Part-of"), ("P2", "partOF"), ("P3", "whole")) == {
        "P361": "P361",
        "P1": "P1",
        "P2": "P2",
        "P3": "whole",
    }
