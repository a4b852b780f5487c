"""Token sequences as a prefix tree: shared prefixes are stored once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from swaymeter.tasks.models.capabilities import Tokens


@dataclass(frozen=True, eq=False)
class PrefixTree:
    """Sequences of tokens, merged at their shared prefixes.

    tokens, depths: (n,) of the nodes, a parent before its children; ancestors: (n, n) whether the column's node is the
    row's node or an ancestor of it; paths: for each sequence its nodes from the first token to the last.
    """

    tokens: torch.Tensor
    depths: torch.Tensor
    ancestors: torch.Tensor
    paths: list[list[int]]

    def __len__(self) -> int:
        return len(self.tokens)

    @classmethod
    def of(cls, sequences: Sequence[Tokens], *, device: str = "cpu") -> "PrefixTree":
        """The tree of sequences, none of them empty, with its tensors on a device."""
        nodes: dict[tuple[int, int], int] = {}
        parents: list[int] = []
        paths: list[list[int]] = []
        for sequence in sequences:
            path: list[int] = []
            for token in sequence:
                edge = (path[-1] if path else -1, token)
                if edge not in nodes:
                    nodes[edge] = len(nodes)
                    parents.append(edge[0])
                path.append(nodes[edge])
            paths.append(path)
        ancestors = torch.eye(len(nodes), dtype=torch.bool)
        for node, parent in enumerate(parents):
            if parent >= 0:
                ancestors[node] |= ancestors[parent]
        tokens = torch.tensor([token for _, token in nodes])
        return cls(tokens.to(device), (ancestors.sum(dim=1) - 1).to(device), ancestors.to(device), paths)


def unit_batches(sequences: Sequence[Tokens], units: Sequence[Sequence[int]], nodes: int, most: int) -> list[list[int]]:
    """The places of units, sequences that stay together, in batches of at most `most` units and about `nodes` nodes."""
    order = sorted(range(len(units)), key=lambda unit: tuple(sequences[units[unit][0]]))
    batches: list[list[int]] = []
    known: set[tuple[int, ...]] = set()
    for unit in order:
        prefixes = set(_prefixes(sequences[place] for place in units[unit]))
        if batches and len(batches[-1]) < most and len(known | prefixes) <= nodes:
            batches[-1].append(unit)
            known |= prefixes
        else:
            batches.append([unit])
            known = prefixes
    return batches


def _prefixes(sequences: Iterator[Tokens]) -> Iterator[tuple[int, ...]]:
    for sequence in sequences:
        for end in range(1, len(sequence) + 1):
            yield tuple(sequence[:end])
