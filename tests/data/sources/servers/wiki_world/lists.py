"""The world's facts as a list: a CSV of ids."""

from collections.abc import Iterable

from tests.data.sources.servers.wiki_world.expected import Fact


def as_csv(facts: Iterable[Fact]) -> str:
    """Only the ids."""
    return "\n".join(map(",".join, [("subject_id", "property_id", "object_id"), *facts])) + "\n"
