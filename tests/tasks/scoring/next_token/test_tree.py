import torch

from tasks.scoring.next_token.prompts import common_prefix_length
from tasks.scoring.next_token.tree import PrefixTree, unit_batches

SEQUENCES = [[1, 2, 3], [1, 2, 4], [1, 2], [5], [1, 2, 3]]


def test_shared_prefixes_are_there_once() -> None:
    tree = PrefixTree.of(SEQUENCES)
    assert tree.tokens.tolist() == [1, 2, 3, 4, 5]
    assert tree.depths.tolist() == [0, 1, 2, 2, 0]
    assert tree.ends == [2, 3, 1, 4, 2]
    assert [tree.tokens[path].tolist() for path in tree.paths] == SEQUENCES


def test_a_node_sees_itself_and_what_stands_above_it() -> None:
    seen = PrefixTree.of(SEQUENCES).ancestors
    assert [torch.nonzero(row).flatten().tolist() for row in seen] == [[0], [0, 1], [0, 1, 2], [0, 1, 3], [4]]


def test_what_begins_alike_comes_into_one_bundle() -> None:
    units = [[place] for place in range(4)]
    sequences = [[1, 2, 3], [7, 8, 9], [1, 2, 4], [7, 8, 6]]
    assert unit_batches(sequences, units, nodes=4, most=10) == [[0, 2], [3, 1]]


def test_a_bundle_is_never_larger_than_it_may_be() -> None:
    sequences = [[1, place, 2] for place in range(20)]
    units = [[place] for place in range(20)]
    made = unit_batches(sequences, units, nodes=9, most=100)
    assert all(len(PrefixTree.of([sequences[place] for place in units_of])) <= 9 for units_of in made)
    assert sorted(place for units_of in made for place in units_of) == list(range(20))
    assert all(len(units_of) <= 3 for units_of in unit_batches(sequences, units, nodes=1000, most=3))


def test_a_unit_too_large_for_a_bundle_stands_alone() -> None:
    assert unit_batches([[1, 2, 3], [4, 5, 6]], [[0], [1]], nodes=2, most=9) == [[0], [1]]


def test_sequences_of_a_unit_stay_together() -> None:
    sequences = [[1, 2], [3, 4], [1, 5], [3, 6]]
    assert unit_batches(sequences, [[0, 1], [2, 3]], nodes=4, most=9) == [[0], [1]]


def test_common_prefix_length_leaves_a_token_of_every_prompt() -> None:
    assert common_prefix_length([[1, 2, 3], [1, 2, 4]]) == 2
    assert common_prefix_length([[1, 2], [1, 2, 3]]) == 1
    assert common_prefix_length([[1, 2, 3]]) == 2
    assert common_prefix_length([[1], [2]]) == 0
