import pytest

from swaymeter.tasks.models.batches import TOKENS_PER_BATCH, batches


def test_no_batch_has_more_tokens_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TOKENS_PER_BATCH, "cpu", 40)
    lengths = [7, 3, 12, 5, 9, 3, 3, 8, 4, 11] * 5
    result = batches(lengths, "cpu")
    assert sorted(place for batch in result for place in batch) == list(range(len(lengths)))
    padded = [len(batch) * max(lengths[place] for place in batch) for batch in result]
    assert max(padded) <= 40
    assert sum(padded) < 1.1 * sum(lengths)


@pytest.mark.parametrize(
    ("lengths", "tokens", "expected"),
    [
        ([5, 1, 4, 1, 5], 10, [[1, 3], [2, 0], [4]]),
        ([20] * 9 + [180], 10_000, [list(range(9)), [9]]),  # a long text does not pad short ones
        ([50, 2, 60], 20, [[1], [0], [2]]),  # longer than a batch
        ([], 20, []),
    ],
)
def test_batches_go_from_short_texts_to_long_ones(
    lengths: list[int], tokens: int, expected: list[list[int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TOKENS_PER_BATCH, "cuda", tokens)
    assert batches(lengths, "cuda:1") == expected
