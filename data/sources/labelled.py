"""Entities that are labelled, such as friends and enemies, and what their queries and contexts are written from."""

from dataclasses import asdict, dataclass
from typing import Any

from swaymeter.data.catalog import Sentence
from swaymeter.data.catalog.group_texts import ONE, PAIR


@dataclass(frozen=True)
class LabelledEntity:
    """An entity, or a pair of two: its names, in which group it is, and which kind of thing it is."""

    names: tuple[str, ...]
    label: str
    type: str | None = None

    @property
    def name(self) -> str:
        """What it is called: of a pair, both names."""
        return " and ".join(self.names)

    @property
    def slots(self) -> dict[str, str]:
        """What is put into the slots of texts about it."""
        return dict(zip((slot.strip("{}") for slot in (PAIR if len(self.names) > 1 else ONE)), self.names, strict=True))


@dataclass(frozen=True)
class Group:
    """What the queries and contexts of a set are written from: entities, query forms and sentences."""

    entities: tuple[LabelledEntity, ...]
    open: tuple[str, ...]
    closed: tuple[str, ...]
    sentences: tuple[Sentence, ...]

    @property
    def about_each(self) -> int:
        """How many sentences are written about each entity."""
        return sum("{" in one.text for one in self.sentences)

    @property
    def contexts(self) -> int:
        """How many contexts there are."""
        return len(self.sentences) + (len(self.entities) - 1) * self.about_each

    @property
    def parameters(self) -> dict[str, Any]:
        """What the prompts depend on, as JSON values."""
        entities = [asdict(entity) for entity in self.entities]
        sentences = [one.model_dump() for one in self.sentences]
        return {"entities": entities, "open": self.open, "closed": self.closed, "sentences": sentences}
