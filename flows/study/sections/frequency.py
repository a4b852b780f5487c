"""The section `frequency`: how often the names of a study stand in a corpus."""

from pydantic import Field

from data.options import NamedPath, Options


class FrequencyPart(Options):
    """A corpus in which entities and answers are counted, such as what a model was trained on (docs/frequency.md)."""

    corpus: tuple[NamedPath, ...] = Field(min_length=1)
    """Its files, or folders of them: .jsonl, .json (a line each) and .txt, also as .zst or .gz, and .parquet."""
    title: str = Field(default="", max_length=200)
    """What the page calls the corpus; empty: the name of its first file or folder."""
    column: str = Field(default="text", min_length=1)
    """The key of the text in a line of JSON, or the column of Parquet."""
    window_words: int = Field(default=50, ge=1, le=1000)
    """How many words an answer may be away from its entity, to count as near it."""
    aliases: NamedPath | None = None
    """A file with other names of entities and answers, which count as theirs: CSV, TSV, JSONL or Parquet with the
    columns name and alias."""
    common_word_count: int = Field(default=50, ge=0)
    """Names of one word that stand in the corpus more often than this, in capitals or not, may be a common word."""
    common_word_share: float = Field(default=0.75, ge=0, le=1)
    """They are one where more than this share of these is in small letters; then figures leave the entity out."""
