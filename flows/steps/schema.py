"""Which tables the database has: those of the records, of every measure, and of every statistic."""

from data.records.table import Table
from data.records.tables import RECORD_TABLES
from tasks.measures import MEASURES
from tasks.statistics import STATISTICS


def schema() -> tuple[Table, ...]:
    """Every table, each once, also of measures and statistics that were added to the registries."""
    declared = [measure.table for measure in MEASURES.values()]
    declared += [statistic.table for statistic in STATISTICS.values()]
    return tuple({table.name: table for table in (*RECORD_TABLES, *declared)}.values())
