import pytest

from tasks.models.batches import Recent, batches, tokens_per_batch


def test_every_text_is_in_one_batch_and_none_has_more_tokens_than_allowed() -> None:
    lengths = [7, 3, 12, 5, 9, 3, 3, 8, 4, 11] * 5
    found = batches(lengths, 40)
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    padded = [len(batch) * max(lengths[place] for place in batch) for batch in found]
    assert max(padded) <= 40
    assert sum(padded) < 1.1 * sum(lengths)


def test_batches_go_from_the_shortest_text_to_the_longest() -> None:
    assert batches([5, 1, 4, 1, 5], 10) == [[1, 3], [2, 0], [4]]


def test_a_long_text_does_not_pad_short_ones() -> None:
    assert batches([20] * 9 + [180], 10_000) == [list(range(9)), [9]]


def test_a_text_longer_than_a_batch_is_one_of_its_own() -> None:
    assert batches([50, 2, 60], 20) == [[1], [0], [2]]


def test_no_texts_need_no_batch() -> None:
    assert batches([], 20) == []


@pytest.mark.parametrize(("device", "kind"), [("cpu", "cpu"), ("cuda:1", "cuda")])
def test_a_batch_has_as_many_tokens_as_its_device_does_best_with(
    device: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.models.batches.TOKENS_PER_BATCH", {kind: 7})
    assert tokens_per_batch(device) == 7


def test_what_was_not_asked_for_the_longest_is_forgotten() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    recent.put("c", 3)
    assert [recent.get(key) for key in "abc"] == [1, None, 3]
    recent.put("a", 4)
    assert (recent.get("a"), len(recent)) == (4, 2)
