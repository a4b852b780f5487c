import pytest
import torch

from swaymeter.tasks.models.next_token.reading import PrefixTree
from swaymeter.tasks.models.next_token.shared import unit_batches
from swaymeter.tasks.models.prompts.tokens import common_prefix_length

SEQUENCES = [[1, 2, 3], [1, 2, 4], [1, 2], [5], [1, 2, 3]]


def test_shared_prefixes_are_stored_once() -> None:
    tree = PrefixTree.of(SEQUENCES)
    assert tree.tokens.tolist() == [1, 2, 3, 4, 5]
    assert tree.depths.tolist() == [0, 1, 2, 2, 0]
    assert [path[-1] for path in tree.paths] == [2, 3, 1, 4, 2]
    assert [tree.tokens[path].tolist() for path in tree.paths] == SEQUENCES
    ancestors = [torch.nonzero(row).flatten().tolist() for row in tree.ancestors]
    assert ancestors == [[0], [0, 1], [0, 1, 2], [0, 1, 3], [4]]


@pytest.mark.parametrize(
    ("sequences", "units", "nodes", "batches"),
    [
        ([[1, 2, 3], [7, 8, 9], [1, 2, 4], [7, 8, 6]], [[0], [1], [2], [3]], 4, [[0, 2], [3, 1]]),
        ([[1, 2], [3, 4], [1, 5], [3, 6]], [[0, 1], [2, 3]], 4, [[0], [1]]),  # sequences of a unit stay together
        ([[1, 2, 3], [4, 5, 6]], [[0], [1]], 2, [[0], [1]]),  # a unit that is too large is alone
    ],
)
def test_units_with_shared_prefixes_share_a_batch(
    sequences: list[list[int]], units: list[list[int]], nodes: int, batches: list[list[int]]
) -> None:
    assert unit_batches(sequences, units, nodes=nodes, most=10) == batches


def test_batches_keep_their_bounds() -> None:
    sequences, units = [[1, place, 2] for place in range(20)], [[place] for place in range(20)]
    batches = unit_batches(sequences, units, nodes=9, most=100)
    assert all(len(PrefixTree.of([sequences[place] for place in batch])) <= 9 for batch in batches)
    assert sorted(place for batch in batches for place in batch) == list(range(20))
    assert all(len(batch) <= 3 for batch in unit_batches(sequences, units, nodes=1000, most=3))


@pytest.mark.parametrize(
    ("prompts", "length"), [([[1, 2, 3], [1, 2, 4]], 2), ([[1, 2], [1, 2, 3]], 1), ([[1, 2, 3]], 2), ([[1], [2]], 0)]
)
def test_common_prefix_leaves_a_token_of_every_prompt(prompts: list[list[int]], length: int) -> None:
    assert common_prefix_length(prompts) == length
