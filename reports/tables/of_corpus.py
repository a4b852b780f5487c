"""Tables about the corpus in which names were counted: its files, and the entities that are left out."""

from swaymeter.reports.tables.table import Table

SHARDS = Table(
    "corpus",
    "What was read of the corpus",
    "The files in which names were counted, or the index: documents, words, of an index tokens, bytes unpacked, what "
    "could not be read and was left out (lines; of a text file bytes), the first of it, and when it was counted (UTC).",
    ("corpus_in_short",),
    lambda frames: frames["corpus_in_short"],
    folded=True,
    items=("du-app-f.2",),
)
EXCLUDED = Table(
    "names-that-are-words",
    "Entities whose counts say nothing of them",
    "Entities that are left out of figures and correlations with a corpus, and why: how often the name stands there, "
    "and how often the same in small letters.",
    ("excluded_entities",),
    lambda frames: frames["excluded_entities"],
    folded=True,
    items=("du-app-f.2",),
)
