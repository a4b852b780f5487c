"""Every relation builds its queries and contexts, whatever the names are."""

import re

import pytest

from data import catalog
from data.records import CONTEXT_KINDS, RelationName
from tasks.contexts.entities import Entity
from tasks.contexts.sentences import write_contexts, write_queries

NAMES = {
    "a slot and quotes": '{answer} "quoted"',
    "right to left": "نجيب محفوظ",
    "300 characters": "Llanfair " * 33 + "fin",
    "HTML": "<b>Bold & brash</b>",
}
ANSWERS = ["The Answer", "{entity} or {answer}", "القاهرة", "8849 metres", "x" * 300]


def parts(template: str, entity: str, answer: str) -> str:
    """The template put together piece by piece, which no name can confuse."""
    pieces = re.split(r"(\{entity\}|\{answer\})", template)
    return "".join({"{entity}": entity, "{answer}": answer}.get(piece, piece) for piece in pieces)


@pytest.mark.parametrize("entity", NAMES.values(), ids=NAMES)
def test_four_queries_have_the_name_as_it_is(entity: str) -> None:
    for name in catalog.relations():
        relation = catalog.relation(name)
        queries = write_queries(RelationName(name), [Entity(entity, False, ANSWERS[0])])
        assert [(query.query_type, query.form) for query in queries] == [
            ("open", 1), ("open", 2), ("closed", 1), ("closed", 2)
        ]  # fmt: skip
        assert [query.text for query in queries] == [
            parts(template, entity, ANSWERS[0]) for template in (*relation.open, *relation.closed)
        ]
        for query in queries:
            assert query.text.count(entity) == 1
            assert ANSWERS[0] not in query.text or query.query_type == "closed"
            assert not re.search(r"[{}]", query.text.replace(entity, ""))
            assert query.text == query.text.strip()


@pytest.mark.parametrize("entity", NAMES.values(), ids=NAMES)
def test_contexts_have_both_names_and_end_their_line(entity: str) -> None:
    for name in catalog.relations():
        relation = catalog.relation(name)
        people = [Entity(entity, False, ANSWERS[0])]
        per_kind = dict.fromkeys(CONTEXT_KINDS, 4)
        contexts = write_contexts(RelationName(name), people, ANSWERS, per_kind=per_kind, seed=0)
        assert len(contexts) == 12
        for context in contexts:
            written = [parts(template, entity, context.object) for template in relation.contexts[context.kind]]
            assert context.text in written
            assert context.text.endswith(".\n")
            assert context.text.count("\n") == 1
            assert not re.search(r"[{}]", context.text.replace(context.object, "").replace(entity, ""))
