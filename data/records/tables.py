"""The tables of the records, by name; a measure's or a statistic's table comes with its own row type."""

from swaymeter.data.records import facts, history, prompts, questions, score, statistics, verdicts
from swaymeter.data.records.row import table_of
from swaymeter.data.records.table import Table

FACTS = table_of(facts.Fact)
INVENTED = table_of(facts.InventedName)
QUERIES = table_of(prompts.Query)
CONTEXTS = table_of(prompts.Context)
QUESTIONS = table_of(questions.Question)
TRIPLES = table_of(facts.Triple)
PAGES = table_of(facts.Page)
DISPUTES = table_of(facts.Dispute)
REJECTED = table_of(facts.Rejected)
ANNOTATIONS = table_of(questions.Annotation)
VARIANTS = table_of(score.Variant)
RUNS = table_of(score.Run)
VERDICTS_BY_HAND = table_of(verdicts.VerdictByHand)
DECIDED_ANSWERS = table_of(verdicts.DecidedAnswer)
RELIABILITY = table_of(statistics.Reliability)
COUNTED_PAIRS = table_of(facts.CountedPair)
SHARDS = table_of(facts.Shard)
SHARD_COUNTS = table_of(facts.ShardCount)
FREQUENCIES = table_of(facts.Frequency)
HISTORY = table_of(history.HistoryRow)

RECORD_TABLES: tuple[Table, ...] = (
    FACTS, INVENTED, TRIPLES, PAGES, DISPUTES, REJECTED, ANNOTATIONS, QUERIES, CONTEXTS, QUESTIONS,
    VARIANTS, RUNS, VERDICTS_BY_HAND, DECIDED_ANSWERS, RELIABILITY, SHARDS, FREQUENCIES, HISTORY,
)  # fmt: skip
"""What every study's database has, whatever it measures."""
