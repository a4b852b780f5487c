"""The committed workload: what the code writes, as large as it says, the small ones inside the large ones."""

import json

import pytest

from benchmarks import workload

WRITE_ANEW = "write it anew: python benchmarks/workload.py; results measured before no longer compare"


def test_committed_texts_are_those_of_catalog_and_seed() -> None:
    assert json.loads(workload.TEXTS.read_text(encoding="utf-8")) == workload.written(), WRITE_ANEW


def test_committed_token_ids_are_those_of_texts() -> None:
    ids = json.loads(workload.TOKEN_IDS.read_text(encoding="utf-8"))
    assert ids == workload.tokenized(workload.written()), WRITE_ANEW


@pytest.mark.parametrize("entities", [5, 10, 20, 40])
def test_an_entity_keeps_its_place_in_every_size(entities: int) -> None:
    texts = workload.texts()
    contexts, queries = texts.contexts(entities), texts.queries(entities)
    assert (len(set(contexts)), len(set(queries))) == (6 * entities, 4 * entities)
    assert contexts == texts.contexts(100)[: 6 * entities]
    assert queries == texts.queries(100)[: 4 * entities]


def test_every_query_has_four_or_eight_relevant_contexts() -> None:
    texts = workload.texts()
    for each, total in ((4, 128), (8, 256)):
        contexts = texts.contexts(32, {"base": each})
        assert len(contexts) == total
        assert sum("Ghana" in context for context in contexts) == each


def test_token_ids_stay_within_the_vocabulary() -> None:
    ids = workload.token_ids(512)
    assert {token for one in ids.contexts(100) + ids.queries(100) for token in one} <= set(range(512))
    assert len(ids.contexts(100)) == 600


def test_more_entities_than_there_are_is_refused() -> None:
    with pytest.raises(SystemExit, match="1 to 100 entities, not 101"):
        workload.texts().queries(101)
