"""Do contexts pull queries about entities with short names further apart than queries about those with long names?

Permutation test, two-sided. Groups: persuasion range about entities with short and with long names. Unit of analysis:
a query.
"""

from swaymeter.tasks.statistics.group_tests import Comparison

COMPARISON = Comparison(
    name="name_length",
    query="persuasion_range_of_queries",
    measure="persuasion_range",
    column="name_length",
    group_a=("short name", "short"),
    group_b=("long name", "long"),
    alternative="two-sided",
    version=1,
)
STATISTIC = COMPARISON.statistic
