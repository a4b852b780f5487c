"""Queries and contexts about entities in groups, and about pairs."""

from swaymeter.data.catalog import Sentence
from swaymeter.data.records import RelationName, is_relevant
from swaymeter.data.sources.labelled import Group, LabelledEntity
from swaymeter.tasks.contexts.labelled import labelled_contexts, labelled_queries

PAIR = RelationName("pair")
POTTER = LabelledEntity(("Harry Potter", "Draco"), "enemy", "film")
PART = LabelledEntity(("Milan", "AC Milan"), "enemy")
BRACES = LabelledEntity(("{entity2}", "Harry Potter"), "friend")
GROUP = Group(
    (POTTER, PART, BRACES),
    ("{entity1} and {entity2} are",),
    ("Q: Does {entity2} like {entity1}?\nA:",),
    (Sentence(text="{entity2} met {entity1}.", label="neutral", strength=0), Sentence(text="Nobody met.")),
)


def test_queries_have_both_names_and_the_label() -> None:
    queries = labelled_queries(PAIR, GROUP)
    assert [(query.query_type, query.text) for query in queries if query.entity == "Milan and AC Milan"] == [
        ("open", "Milan and AC Milan are"), ("closed", "Q: Does AC Milan like Milan?\nA:"),
    ]  # fmt: skip
    assert queries[4].text == "{entity2} and Harry Potter are"
    assert [(query.label, query.type, query.answer) for query in queries[::2]] == [
        ("enemy", "film", ""), ("enemy", None, ""), ("friend", None, ""),
    ]  # fmt: skip
    assert len({query.query_id for query in queries}) == 6


def test_contexts_are_about_each_pair_or_about_nobody() -> None:
    contexts = labelled_contexts(PAIR, GROUP)
    assert [context.text for context in contexts] == [
        "Draco met Harry Potter.\n", "AC Milan met Milan.\n", "Harry Potter met {entity2}.\n", "Nobody met.\n",
    ]  # fmt: skip
    assert [(one.label, one.strength, one.template) for one in contexts[::3]] == [
        ("neutral", 0, "{entity2} met {entity1}."), (None, None, "Nobody met."),
    ]  # fmt: skip
    assert len(contexts) == GROUP.contexts


def test_a_context_is_relevant_to_both_names_alone() -> None:
    queries, contexts = labelled_queries(PAIR, GROUP), labelled_contexts(PAIR, GROUP)
    relevant = [{query.entity for query in queries if is_relevant(context, query)} for context in contexts]
    assert relevant == [{POTTER.name}, {PART.name}, {BRACES.name}, set()]
