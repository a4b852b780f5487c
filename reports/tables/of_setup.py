"""Tables of what a study and the papers asked with, and of the corpus in which names were counted."""

import pandas as pd

from swaymeter.data.catalog import PublishedValue, paper_items, published
from swaymeter.reports.estimates import span
from swaymeter.reports.frames import Frames, records
from swaymeter.reports.tables.table import Table

_ABOUT = ("models", "study", "contexts")
ITEMS = ("du-setup", "liu-setup", "marjanovic-setup")


def _rows(frames: Frames) -> pd.DataFrame:
    in_papers = dict[tuple[str, str | None], list[str]]()
    for one in (one for item in ITEMS for one in published(item)):
        in_papers.setdefault((one.quantity, one.by.get("partition")), []).append(f"{one.words} ({_of(one)})")
    rows = []
    for row in records(frames["setup"]):
        what, of = row["quantity"], row["of"]
        words = f"{of} {what}".strip()
        key = (what, of) if what == "questions" else (words.replace(" ", "_"), None)
        rows.append(
            {
                "what": words, "relations": row["relations"],
                "of_each": span(row["fewest"], row["most"]), "total": row["total"],
                "published": "; ".join(in_papers.get(key, [])),
            }
        )  # fmt: skip
    return pd.DataFrame(rows).astype({"total": "Int64"})


def _of(one: PublishedValue) -> str:
    """Of which models a value is, or of which study, and in which paper."""
    about = [f"of {words}" if key == "contexts" else words for key, words in one.by.items() if key in _ABOUT]
    return ", ".join([*about, paper_items()[one.item].paper.short])


SETUP = Table(
    "what-was-asked-with", "What was asked with",
    "Entities, queries, contexts and questions: in how many relations, of each of them (fewest to most), and in total; "
    "and how many the papers had. Contexts of a query are counted for each query; those that "
    "mention its entity are relevant. Every model was asked the same.",
    ("setup",), _rows, folded=True, items=ITEMS,
)


SHARDS = Table(
    "corpus", "What was read of the corpus",
    "The files in which names were counted, or the index: documents, words, of an index tokens, bytes unpacked, what "
    "could not be read and was left out (lines; of a text file bytes), the first of it, and when it was counted (UTC).",
    ("corpus_in_short",), folded=True, items=("du-app-f.2",),
)
EXCLUDED = Table(
    "names-that-are-words", "Entities whose counts say nothing of them",
    "Entities that are left out of figures and correlations with a corpus, and why: how often the name stands there, "
    "and how often the same in small letters.",
    ("excluded_entities",), folded=True, items=("du-app-f.2",),
)
