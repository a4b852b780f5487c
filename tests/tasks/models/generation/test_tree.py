import time

import numpy as np
import torch

from swaymeter.tasks.models.capabilities import Answer
from swaymeter.tasks.models.generation.tree import Node, Tree


def tree_of(answers: int) -> Tree:
    tree = Tree(0, [1, 2], np.zeros((answers, 1)))
    tree.live = [Node(tree, [answer], torch.empty(0)) for answer in range(answers)]
    return tree


def test_places_of_an_ended_answer_are_used_again() -> None:
    tree = tree_of(3)
    for _ in range(2):
        tree.place()
    ended = tree.live.pop(1)
    assert [node.places.tolist() for node in (*tree.live, ended)] == [[2, 5], [4, 7], [3, 6]]
    tree.ended[1] = Answer("", (), (), np.zeros(0, dtype=np.float32), finished=True)
    for _ in range(2):
        tree.place()
    assert [node.places.tolist() for node in tree.live] == [[2, 5, 3, 8], [4, 7, 6, 9]]


def test_each_token_of_long_answers_is_placed_as_fast() -> None:
    tree, began = tree_of(4), time.process_time()
    for _ in range(4000):
        tree.place()
    assert time.process_time() - began < 0.7
