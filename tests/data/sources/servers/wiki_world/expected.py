"""How the world's outcome is written down: by hand, beside what leads to it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from swaymeter.data.records import Partition

Fact = tuple[str, str, str]
"""Subject, property and object, as a list of facts names them."""

EMBEDDINGS = "by embeddings"
"""A replacement that no service names: the embedder decides among the objects of the property's other facts."""


@dataclass(frozen=True)
class Kept:
    """A fact that becomes a question.

    edits: which revisions of the item count, the first being 1; hidden: which nobody can judge. replacement: an item's
    id, or EMBEDDINGS. views: of subject and object a month, None for what has no article. page: where the snippet
    stands; None: the article that bears the subject's name. became: subject and object where the ids listed are old.
    """

    partition: Partition
    edits: tuple[int, ...]
    replacement: str
    views: tuple[float, float | None]
    hidden: tuple[int, ...] = ()
    page: str | None = None
    became: tuple[str, str] | None = None


@dataclass(frozen=True)
class Left:
    """A fact that becomes no question; why: a code of `swaymeter.data.reasons`."""

    why: str


@dataclass(frozen=True)
class War:
    """A dispute on a page.

    object: what was put back last, in the sentence. pairs: each edit and its reversion, by the place in the page's
    history, the first revision being 1. views: of the page in a month.
    """

    object: str
    replacement: str
    sentence: str
    pairs: tuple[tuple[int, int], ...]
    views: float

    @property
    def edits(self) -> tuple[int, ...]:
        return tuple(sorted({place for pair in self.pairs for place in pair}))


@dataclass(frozen=True)
class Fought:
    """A page's disputes, and why other reverted pairs are none: codes of `swaymeter.data.reasons`, with how many."""

    wars: tuple[War, ...] = ()
    uncounted: Mapping[str, int] = field(default_factory=dict)


Outcome = Mapping[Fact, Kept | Left]


def as_csv(facts: Iterable[Fact]) -> str:
    return "\n".join(map(",".join, [("subject_id", "property_id", "object_id"), *facts])) + "\n"
