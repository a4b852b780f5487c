"""What many prompts begin with, such as the words of an instruction."""

from collections import Counter
from collections.abc import Sequence

from tasks.scoring.next_token.prompts import Tokens

_SHARE = 8  # a prefix belongs to at least an eighth of the prompts, so it is worth its reading
_LEAST = 4  # prompts, and tokens


def shared_prefixes(prompts: Sequence[Tokens]) -> list[tuple[int, ...]]:
    """The longest prefixes that many prompts share, shorter ones first; each leaves a token of its prompts over."""
    ordered = sorted(map(tuple, prompts))
    many = max(_LEAST, -(-len(ordered) // _SHARE))
    longest: dict[int, int] = {}
    for first in range(len(ordered) - many + 1):
        alike = _alike(ordered[first], ordered[first + many - 1])
        for place in range(first, first + many):
            longest[place] = max(longest.get(place, 0), min(alike, len(ordered[place]) - 1))
    found = Counter(ordered[place][:length] for place, length in longest.items() if length >= _LEAST)
    worth = [prefix for prefix, places in found.items() if 2 * places >= many]
    return sorted(worth, key=lambda prefix: (len(prefix), prefix))


def _alike(one: Sequence[int], other: Sequence[int]) -> int:
    alike = 0
    while alike < min(len(one), len(other)) and one[alike] == other[alike]:
        alike += 1
    return alike
