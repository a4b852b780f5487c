"""How the tokens of trees are read: in cache slots, each key computed once, or plainly, every prompt completely.

Which of them reads a model is decided as for next tokens: see tasks/scoring/next_token/by_query.py.
"""

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
import torch

from tasks.models.language_model import LanguageModel, Verdict
from tasks.models.memory import Halving
from tasks.scoring.generation.slots import Slots
from tasks.scoring.generation.tree import Node, Tree, live
from tasks.scoring.next_token.by_query import verdict
from tasks.scoring.next_token.distributions import Distributions, divergence, is_rounding
from tasks.scoring.next_token.plain import read_plain
from tasks.scoring.next_token.prompts import Tokens, common_prefix_length
from tasks.scoring.next_token.reading import unreadable

SLOTS = "slots"
PLAIN = "plain"

_ROUNDING = 2e-5  # log-probabilities of the bundled model in float32 moved by up to 1.1e-5 between batches
_LIKELY = -10.0  # log-probabilities above this matter to draws
_SHARE = 8  # a prefix of at least an eighth of the prompts is worth a prefill of its own
_LEAST = 4  # prompts, and tokens


class PlainReader:
    """Every prompt with the tokens of its answers so far, read completely at every step."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    def prefill(self, trees: Sequence[Tree]) -> torch.Tensor:
        """The logits after the prompts of trees with new slots: (n, V)."""
        return read_plain(self._model, [tree.prompt for tree in trees])

    def decode(self, nodes: Sequence[Node]) -> torch.Tensor:
        """The logits after all live nodes of some prefilled trees: (n, V); a tree's nodes are consecutive."""
        return read_plain(self._model, [node.prompt for node in nodes])


class SlotReader:
    """In cache slots; prefixes that many prompts share are prefilled once."""

    def __init__(self, model: LanguageModel, prompts: Sequence[Tokens], slots: int, slot_tokens: int) -> None:
        self._model = model
        self._prefixes = shared_prefixes(prompts)[-(slots // 4) :] if slots >= 4 else []  # the longest of many
        self._first = slots  # the slots of the prefixes are behind those of the prompts
        self._slots = Slots(model, slots + len(self._prefixes), slot_tokens)
        self._known = False

    def prefill(self, trees: Sequence[Tree]) -> torch.Tensor:
        """As PlainReader."""
        if self._prefixes and not self._known:
            numbers = range(self._first, self._first + len(self._prefixes))
            self._slots.prefill(numbers, self._prefixes, [0] * len(self._prefixes))
            self._known = True
        starts = [0] * len(trees)
        for number, prefix in enumerate(self._prefixes):
            alike = [place for place, tree in enumerate(trees) if _begins(tree.prompt, prefix)]
            if alike:
                self._slots.copy(self._first + number, [trees[place].slot for place in alike], len(prefix))
            for place in alike:
                starts[place] = len(prefix)
        return self._slots.prefill([tree.slot for tree in trees], [tree.prompt for tree in trees], starts)

    def decode(self, nodes: Sequence[Node]) -> torch.Tensor:
        """As PlainReader."""
        for tree in dict.fromkeys(node.tree for node in nodes):
            tree.place()
        return self._slots.decode(nodes)


def engine(model: LanguageModel, prompts: Sequence[Tokens]) -> str:
    """The engine that reads this model's answers; decided at its first prompts, ScoreError where none of them fits."""
    if model.engine.cache_slots is None:
        order = sorted(prompts, key=len)
        # Two tokens are added to each, which the context window may not have left.
        some = [tuple(prompt[:-2] if len(prompt) > 3 else prompt) for prompt in (*order[:2], *order[-2:])]
        model.engine.cache_slots = _verdict(model, list(dict.fromkeys(some)))
        if model.engine.cache_slots is None:
            return PLAIN  # nothing to compare with; the caller reports the NaN and its prompt
    return PLAIN if model.engine.cache_slots.reason else SLOTS


def rounding(model: LanguageModel) -> float:
    """The largest difference of this model's logits between batches; 0 where it is too large for repeatable draws."""
    if model.dtype != "float32":
        return 0.0
    seen = model.engine.cache_slots
    return max(_ROUNDING, 2 * seen.rounding if seen else 0.0)


def _verdict(model: LanguageModel, prompts: Sequence[Tokens]) -> Verdict | None:
    """The verdict of a rehearsal with some prompts, the shortest first; None where the model gives a NaN."""
    halving = Halving(model, "a rehearsal is read", len(prompts))
    while True:
        some = prompts[: halving.amounts[0]]
        with halving.attempt(len(some), smallest=lambda: "the answers to a single prompt"):
            trees, plain = _rehearsed(model, some)
            if not torch.isfinite(plain.log_normaliser).all():
                return None
            compare = partial(_compared, model, trees, plain)
            return verdict(model, _unreadable(model), compare, "slots cannot be read")


def _unreadable(model: LanguageModel) -> str | None:
    """The reason why slots do not support this model, as far as its configuration and forward show."""
    config = model.model.config.get_text_config()
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    if rope.get("rope_type") in ("dynamic", "longrope"):
        return "its positions change with the longest prompt of a pass"
    return unreadable(model)


def _rehearsed(model: LanguageModel, prompts: Sequence[Tokens]) -> tuple[list[Tree], Distributions]:
    """Trees of two answers of two tokens that differ at once, and their distributions by the plain reader."""
    trees = [Tree(number, prompt, np.empty((1, 0)), slot=number) for number, prompt in enumerate(prompts)]
    for tree in trees:
        firsts = (min(tree.prompt), max(tree.prompt))
        tree.live = [Node(tree, [0], (first, tree.prompt[-1])) for first in firsts]
    return trees, Distributions.of(PlainReader(model).decode(live(trees)))


def _compared(model: LanguageModel, trees: list[Tree], plain: Distributions) -> Verdict:
    """The comparison of slots with the plain reader; plain: its distributions behind the trees."""
    reader = SlotReader(model, [tree.prompt for tree in trees], len(trees), max(len(t.prompt) for t in trees) + 8)
    reader.prefill(trees)
    ends = live(trees)
    for tree in trees:
        tree.live = [Node(tree, [0], node.tokens[:1]) for node in tree.live]
    firsts = live(trees)
    reader.decode(firsts)
    for end, first in zip(ends, firsts, strict=True):
        end.places = first.places
    for tree in trees:
        tree.live = [end for end in ends if end.tree is tree]
    fast, slow = Distributions.of(reader.decode(ends)).log_probs(), plain.log_probs()
    kl = divergence(slow.double(), fast.double())
    if not is_rounding(kl, model.dtype):
        return Verdict(f"slots change its answers by {kl:.2g} nats")
    return Verdict(None, float((fast - slow)[slow > _LIKELY].abs().max()))


def shared_prefixes(prompts: Sequence[Tokens]) -> list[tuple[int, ...]]:
    """The longest prefixes that many prompts share, shorter ones first; each is shorter than its prompts."""
    ordered = sorted(map(tuple, prompts))
    many = max(_LEAST, -(-len(ordered) // _SHARE))
    longest: dict[int, int] = {}
    for first in range(len(ordered) - many + 1):
        alike = common_prefix_length([ordered[first], ordered[first + many - 1]], left=0)
        for place in range(first, first + many):
            longest[place] = max(longest.get(place, 0), min(alike, len(ordered[place]) - 1))
    counts = Counter(ordered[place][:length] for place, length in longest.items() if length >= _LEAST)
    worth = [prefix for prefix, places in counts.items() if 2 * places >= many]
    return sorted(worth, key=lambda prefix: (len(prefix), prefix))


def _begins(prompt: Tokens, prefix: Tokens) -> bool:
    return len(prompt) > len(prefix) and list(prompt[: len(prefix)]) == list(prefix)
