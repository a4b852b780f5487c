"""The tables and the list that names them. A table declares its caption, its named queries and how its rows are made.

Rows come from the warehouse; a table chooses columns and an order.
"""

from swaymeter.data.named import Registry
from swaymeter.reports.tables import (
    of_judges,
    of_models,
    of_passages,
    of_queries,
    of_questions,
    of_variants,
)
from swaymeter.reports.tables.table import Filled, Table, filled

__all__ = ["TABLES", "Filled", "Table", "filled"]

TABLES: Registry[Table] = Registry(
    "table",
    (
        of_variants.WHAT_MAKES_IT_FOLLOW,
        of_models.AT_A_GLANCE,
        of_passages.EFFECTS,
        of_passages.AT_PLACES,
        of_passages.CITED,
        of_models.SIDE_BY_SIDE,
        of_models.DIFFERENCES,
        of_questions.ACCURACY,
        of_questions.SHARES,
        of_questions.OUTCOMES,
        of_judges.AGREEMENT,
        of_judges.PEOPLE,
        of_questions.NUMBERS,
        of_questions.CORRELATIONS,
        of_questions.REGRESSIONS,
        of_questions.WORDS,
        of_questions.ANSWERS,
        of_questions.REJECTED,
        of_queries.CONTEXTS,
        of_queries.TEMPLATES,
        of_queries.EXTREMES,
        of_queries.GROUP_COMPARISONS,
        of_queries.ENTITIES,
        of_models.SUSCEPTIBILITIES,
        of_queries.CORRELATIONS,
        of_models.RUNTIME,
        of_models.SETUP,
        of_queries.TEST_SUMMARY,
        of_queries.NAME_LENGTHS,
        of_models.SHARDS,
        of_models.EXCLUDED,
        of_queries.TESTS,
    ),
)
"""Every table, in the order of the page."""
