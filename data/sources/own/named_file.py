"""A file of one's own as a study names it: where it is, and what the page says of it."""

from pathlib import Path

from pydantic import Field

from swaymeter.data.options import NamedPath, Options
from swaymeter.data.sources.own.rows import Origin


class OwnFile(Options):
    """A file of one's own; a source takes these keys in before those of its kind, which may depend on the file."""

    file: NamedPath
    """The file: CSV, JSON or Parquet (docs/own-data.md, docs/own-facts.md)."""
    title: str = Field(default="", max_length=200)
    """What the page calls the data; empty: the name of the file."""
    licence: str = Field(default="not stated", min_length=1, max_length=200)
    """Under which terms they are."""
    citation: str = Field(default="", max_length=1000)
    """How they are cited."""

    @property
    def path(self) -> Path:
        """Where the file is."""
        return Path(self.file)

    @property
    def origin(self) -> Origin:
        """Where the data come from, as the page says it."""
        return Origin(", ".join(filter(None, (self.title or self.path.name, self.citation))), self.licence)
