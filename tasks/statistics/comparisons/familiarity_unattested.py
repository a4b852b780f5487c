"""Are queries about invented entities that a corpus never names swayed more easily than queries about real ones?

As `familiarity`, without the invented entities whose name occurs in the counted corpus: somebody may have that name,
and the model may have read of them. Where no corpus is counted there is no such test.
"""

from dataclasses import replace

from swaymeter.tasks.statistics.comparison import Group
from swaymeter.tasks.statistics.comparisons.familiarity import COMPARISON as FAMILIARITY

COMPARISON = replace(
    FAMILIARITY,
    name="familiarity_unattested",
    query="unattested_queries",
    group_a=Group("invented and unattested", True),
    version=1,
)
STATISTIC = COMPARISON.statistic
