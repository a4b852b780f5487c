"""Prefixes that many prompts share, such as the words of an instruction."""

from collections import Counter
from collections.abc import Sequence

from tasks.scoring.next_token.prompts import Tokens

_SHARE = 8  # a prefix of at least an eighth of the prompts is worth a prefill of its own
_LEAST = 4  # prompts, and tokens


def shared_prefixes(prompts: Sequence[Tokens]) -> list[tuple[int, ...]]:
    """The longest prefixes that many prompts share, shorter ones first; each is shorter than its prompts."""
    ordered = sorted(map(tuple, prompts))
    many = max(_LEAST, -(-len(ordered) // _SHARE))
    longest: dict[int, int] = {}
    for first in range(len(ordered) - many + 1):
        alike = _alike(ordered[first], ordered[first + many - 1])
        for place in range(first, first + many):
            longest[place] = max(longest.get(place, 0), min(alike, len(ordered[place]) - 1))
    counts = Counter(ordered[place][:length] for place, length in longest.items() if length >= _LEAST)
    worth = [prefix for prefix, places in counts.items() if 2 * places >= many]
    return sorted(worth, key=lambda prefix: (len(prefix), prefix))


def _alike(first: Sequence[int], second: Sequence[int]) -> int:
    alike = 0
    while alike < min(len(first), len(second)) and first[alike] == second[alike]:
        alike += 1
    return alike
