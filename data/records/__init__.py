"""Rows: frozen dataclasses that declare their tables. Wikidata ids and relation names refuse malformed values.

The package imports Arrow only to turn rows into a table, so that scoring needs no Arrow.
"""

from swaymeter.data.digests import identity
from swaymeter.data.records.facts import (
    CountedPair,
    Dispute,
    Fact,
    Frequency,
    InventedName,
    Page,
    Rejected,
    Shard,
    ShardCount,
    Triple,
)
from swaymeter.data.records.passages import OWN_KINDS, OwnKind, Passage
from swaymeter.data.records.prompts import CONTEXT_KINDS, Context, ContextKind, Query, QueryType, is_relevant
from swaymeter.data.records.questions import (
    ALONE,
    CONDITIONS,
    CONFLICTING,
    OWN_CONDITIONS,
    PARTITIONS,
    SLOT,
    SUPPORTING,
    Condition,
    Partition,
    Question,
    QuestionContext,
    both_contexts,
)
from swaymeter.data.records.row import CORPUS, RESERVED_RELATION_NAMES, RelationName, WikidataId, as_row, from_row
from swaymeter.data.records.score import Run

__all__ = [
    "ALONE",
    "CONDITIONS",
    "CONFLICTING",
    "CONTEXT_KINDS",
    "CORPUS",
    "OWN_CONDITIONS",
    "OWN_KINDS",
    "PARTITIONS",
    "RESERVED_RELATION_NAMES",
    "SLOT",
    "SUPPORTING",
    "Condition",
    "Context",
    "ContextKind",
    "CountedPair",
    "Dispute",
    "Fact",
    "Frequency",
    "InventedName",
    "OwnKind",
    "Page",
    "Partition",
    "Passage",
    "Query",
    "QueryType",
    "Question",
    "QuestionContext",
    "Rejected",
    "RelationName",
    "Run",
    "Shard",
    "ShardCount",
    "Triple",
    "WikidataId",
    "as_row",
    "both_contexts",
    "from_row",
    "identity",
    "is_relevant",
]
