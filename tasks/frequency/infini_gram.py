"""Counts in an index of infini-gram: one of its public API, or one on this machine."""

from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, model_validator

from swaymeter.data.errors import InputError, SwaymeterError
from swaymeter.data.options import NamedPath
from swaymeter.data.records import CountedPair, Shard
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.infini_gram.index import LocalIndex, files_of
from swaymeter.data.sources.source import alternative
from swaymeter.tasks.frequency.index_counts import IndexCounts
from swaymeter.tasks.frequency.source import Counted, FrequencyOptions, FrequencySource, Once, Part, Progress

if TYPE_CHECKING:
    from swaymeter.tasks.models.tokenizer import Tokenizer

SERVICE = "infini_gram"
_INSTEAD = "or count a corpus of your own (`source: corpus`), or an index on this machine (`folder`)"


class InfiniGramOptions(FrequencyOptions):
    """An index of infini-gram, by its public API or on this machine: counts of tokens, and of words where few."""

    source: Literal["infini-gram"]
    """An index of infini-gram."""
    index: str | None = Field(default=None, pattern=r"^[\w.-]+$", max_length=200)
    """An index of the public API by its name, such as v4_piletrain_llama."""
    folder: NamedPath | None = None
    """The folder of an index on this machine; needs the package, `pip install "swaymeter[infini-gram]"`."""
    tokenizer: str | None = None
    """A model that has the index's tokenizer: an alias, a hub id or a folder. Of an index of bytes none; of one of the
    API, documents are read only with it."""
    fetch: int = Field(default=50, ge=0, le=10_000)
    """The most places of a name around which the text is read, to count words; a request each of the API."""

    @model_validator(mode="after")
    def _one_place(self) -> "InfiniGramOptions":
        if (self.index is None) == (self.folder is None):
            raise ValueError("`index` names one of the API, `folder` one of this machine; give one of both")
        return self

    @property
    def default_title(self) -> str:
        """The name of the index."""
        return self.index or Path(str(self.folder)).name


def _parts(options: InfiniGramOptions, access: Access, once: Once) -> Sequence[Part]:
    from swaymeter.tasks.models.tokenizer import tokenizer_revision

    try:
        tokenizer = once(tokenizer_revision, options.tokenizer) if options.tokenizer else None
    except SwaymeterError as error:
        raise InputError(f"frequency.tokenizer: {error}") from None
    key = {"tokenizer": tokenizer, "fetch": options.fetch}
    if options.index:
        key |= {"index": options.index, "address": access.address(SERVICE)}
        return [Part(options.index, key, None, asks=True)]
    folder = Path(str(options.folder))
    states = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files_of(folder)]
    return [Part(folder.name, key | {"digest": sha256(repr(states).encode()).hexdigest()}, folder)]


def _count(
    options: InfiniGramOptions, part: Part, pairs: tuple[CountedPair, ...], access: Access, progress: Progress
) -> Counted:
    from swaymeter.tasks.models.tokenizer import load_tokenizer

    tokenizer: Tokenizer | None = load_tokenizer(options.tokenizer) if options.tokenizer else None
    with alternative(_INSTEAD if part.asks else ""):
        if options.index:
            from swaymeter.data.sources.infini_gram.api import InfiniGramApi  # requests, which a GPU machine lacks

            index: InfiniGramApi | LocalIndex = InfiniGramApi(access.session(SERVICE), options.index, tokenizer)
        else:
            index = LocalIndex(part.what, tokenizer)
        rows = IndexCounts(index, options.window_words, options.fetch).of(pairs, progress)
        tokens = index.count(())
    read = Shard(
        shard=part.name, size=None, read=None, documents=None, words=None, tokens=tokens, unreadable=0, problem=None,
        digest=part.key.get("digest", ""), counted_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )  # fmt: skip
    return Counted(rows, read)


INFINI_GRAM = FrequencySource("infini-gram", InfiniGramOptions, _parts, _count)
