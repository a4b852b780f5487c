"""The list of all tables. A table declares its caption, its named queries, and a function that makes its rows."""

from swaymeter.data.named import Registry
from swaymeter.reports.tables import (
    agreement,
    models,
    passages,
    queries,
    questions,
    variants,
)
from swaymeter.reports.tables.table import FilledTable, Table, filled

__all__ = ["TABLES", "FilledTable", "Table", "filled"]

TABLES: Registry[Table] = Registry(
    "table",
    (
        variants.COMPARISON,
        models.AT_A_GLANCE,
        passages.EFFECTS,
        passages.AT_PLACES,
        passages.CITED,
        models.SIDE_BY_SIDE,
        models.DIFFERENCES,
        questions.ACCURACY,
        questions.SHARES,
        questions.OUTCOMES,
        agreement.AGREEMENT,
        agreement.PEOPLE,
        questions.NUMBERS,
        questions.CORRELATIONS,
        questions.REGRESSIONS,
        questions.WORDS,
        questions.ANSWERS,
        questions.REJECTED,
        queries.CONTEXTS,
        queries.TEMPLATES,
        queries.EXTREMES,
        queries.GROUP_COMPARISONS,
        queries.ENTITIES,
        models.SUSCEPTIBILITIES,
        queries.CORRELATIONS,
        models.RUNTIME,
        models.SETUP,
        queries.TEST_SUMMARY,
        queries.NAME_LENGTHS,
        models.CORPUS,
        models.EXCLUDED,
        queries.TESTS,
    ),
)
"""Every table, in the order of the page."""
