"""The tables of the records, by name; a measure's or a statistic's table comes with its own row type."""

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
from swaymeter.data.records.prompts import Context, Query
from swaymeter.data.records.questions import Annotation, Question
from swaymeter.data.records.row import table_of
from swaymeter.data.records.score import Run, Variant
from swaymeter.data.records.statistics import Reliability
from swaymeter.data.records.table import Table

FACTS = table_of(Fact)
INVENTED = table_of(InventedName)
QUERIES = table_of(Query)
CONTEXTS = table_of(Context)
QUESTIONS = table_of(Question)
TRIPLES = table_of(Triple)
PAGES = table_of(Page)
DISPUTES = table_of(Dispute)
REJECTED = table_of(Rejected)
ANNOTATIONS = table_of(Annotation)
VARIANTS = table_of(Variant)
RUNS = table_of(Run)
RELIABILITY = table_of(Reliability)
COUNTED_PAIRS = table_of(CountedPair)
SHARDS = table_of(Shard)
SHARD_COUNTS = table_of(ShardCount)
FREQUENCIES = table_of(Frequency)

RECORD_TABLES: tuple[Table, ...] = (
    FACTS, INVENTED, TRIPLES, PAGES, DISPUTES, REJECTED, ANNOTATIONS, QUERIES, CONTEXTS, QUESTIONS,
    VARIANTS, RUNS, RELIABILITY, SHARDS, FREQUENCIES,
)  # fmt: skip
"""What every study's database has, whatever it measures."""
