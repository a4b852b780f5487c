"""The tables of this package's row types; a measure or a statistic declares its table with its own row type."""

from swaymeter.data.records import facts, history, judgements, prompts, questions, score, statistics
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
VARIANTS = table_of(score.Variant)
RUNS = table_of(score.Run)
JUDGEMENTS = table_of(judgements.Judgement)
DECIDED_ANSWERS = table_of(judgements.DecidedAnswer)
RELIABILITY = table_of(statistics.Reliability)
COUNTED_PAIRS = table_of(facts.CountedPair)
SHARDS = table_of(facts.Shard)
SHARD_COUNTS = table_of(facts.ShardCount)
FREQUENCIES = table_of(facts.Frequency)
HISTORY = table_of(history.HistoryRow)

RECORD_TABLES: tuple[Table, ...] = (
    FACTS,
    INVENTED,
    TRIPLES,
    PAGES,
    DISPUTES,
    REJECTED,
    QUERIES,
    CONTEXTS,
    QUESTIONS,
    VARIANTS,
    RUNS,
    JUDGEMENTS,
    DECIDED_ANSWERS,
    RELIABILITY,
    SHARDS,
    FREQUENCIES,
    HISTORY,
)
"""The tables of every study's database."""
