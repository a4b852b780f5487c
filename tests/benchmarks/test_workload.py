"""The committed workload: its files equal what the code writes, and a larger workload begins with a smaller one."""

import json

import pytest

from benchmarks import workload

WRITE_AGAIN = "write the files again with benchmarks/workload.py; earlier results are then no longer comparable"


def test_committed_texts_equal_those_of_the_code() -> None:
    assert json.loads(workload.TEXTS.read_text(encoding="utf-8")) == workload.written(), WRITE_AGAIN


def test_committed_token_ids_equal_those_of_texts() -> None:
    ids = json.loads(workload.TOKEN_IDS.read_text(encoding="utf-8"))
    assert ids == workload.tokenized(workload.written()), WRITE_AGAIN


@pytest.mark.parametrize("entities", [5, 10, 20, 40])
def test_an_entity_keeps_its_place_in_every_size(entities: int) -> None:
    texts = workload.texts()
    contexts, queries = texts.contexts(entities), texts.queries(entities)
    # by default, an entity has two contexts of each of the three types
    assert (len(set(contexts)), len(set(queries))) == (6 * entities, 4 * entities)
    assert contexts == texts.contexts(100)[: 6 * entities]
    assert queries == texts.queries(100)[: 4 * entities]


def test_four_or_eight_base_contexts_name_an_entity() -> None:
    texts = workload.texts()
    for per_entity, total in ((4, 128), (8, 256)):
        contexts = texts.contexts(32, {"base": per_entity})
        assert len(contexts) == total
        assert sum("Ghana" in context for context in contexts) == per_entity


def test_token_ids_stay_within_the_vocabulary() -> None:
    ids = workload.token_ids(512)
    assert {token for text in ids.contexts(100) + ids.queries(100) for token in text} <= set(range(512))
    assert len(ids.contexts(100)) == 600


def test_more_than_100_entities_are_refused() -> None:
    with pytest.raises(SystemExit, match="1 to 100 entities, not 101"):
        workload.texts().queries(101)
