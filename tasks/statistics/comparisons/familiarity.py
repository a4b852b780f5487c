"""Are queries about invented entities swayed more easily than queries about real ones?"""

from swaymeter.tasks.statistics.comparison import Comparison, Group

COMPARISON = Comparison(
    name="familiarity",
    query="susceptibility_of_queries",
    measure="susceptibility",
    column="invented",
    group_a=Group("invented", True),
    group_b=Group("real", False),
    alternative="greater",
)
STATISTIC = COMPARISON.statistic
