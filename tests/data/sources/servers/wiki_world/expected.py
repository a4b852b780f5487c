"""Types of the expected outcomes, which are written by hand beside the items and pages."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from swaymeter.data.records import Partition

Fact = tuple[str, str, str]
"""Subject, property and object in a list of facts, by their ids."""

EMBEDDINGS = "by embeddings"
"""The replacement if no service names one: the embedder chooses among the objects of the property's other facts."""


@dataclass(frozen=True)
class Usable:
    """A fact that becomes a question.

    Attributes:
        partition: The partition.
        edits: Numbers of the item's revisions that changed the value, from 1.
        replacement: The item's id, or EMBEDDINGS.
        views: Monthly views of the articles of subject and object; None without an article.
        hidden: Numbers of the item's revisions that may have changed the value, but are hidden.
        page: The article of the snippet; None for the article whose title is the subject's name.
        current_ids: Ids of subject and object, if the list has the id of a merged item.
    """

    partition: Partition
    edits: tuple[int, ...]
    replacement: str
    views: tuple[float, float | None]
    hidden: tuple[int, ...] = ()
    page: str | None = None
    current_ids: tuple[str, str] | None = None


@dataclass(frozen=True)
class Unusable:
    """A fact that is rejected; `reason` is a code of `swaymeter.data.reasons`."""

    reason: str


@dataclass(frozen=True)
class War:
    """A dispute on a page.

    Attributes:
        object: The text that was put back last.
        replacement: The text that was put in place of the object.
        sentence: The sentence with the object.
        pairs: The numbers of each edit and its reversion in the page's history, from 1.
        views: Monthly views of the page.
    """

    object: str
    replacement: str
    sentence: str
    pairs: tuple[tuple[int, int], ...]
    views: float

    @property
    def edits(self) -> tuple[int, ...]:
        return tuple(sorted({number for pair in self.pairs for number in pair}))


@dataclass(frozen=True)
class PageWars:
    """The disputes of a page, and the numbers of other reverted pairs by their codes of `swaymeter.data.reasons`."""

    wars: tuple[War, ...] = ()
    uncounted: Mapping[str, int] = field(default_factory=dict)


Outcome = Mapping[Fact, Usable | Unusable]


def as_csv(facts: Iterable[Fact]) -> str:
    return "\n".join(map(",".join, [("subject_id", "property_id", "object_id"), *facts])) + "\n"
