"""Do contexts that mention the query's entity persuade more than contexts that do not?"""

from swaymeter.tasks.statistics.comparison import Comparison, Group

STATISTIC = Comparison(
    name="relevance",
    query="persuasion_by_kind",
    measure="persuasion",
    weight="contexts",
    column="relevant",
    group_a=Group("relevant", True),
    group_b=Group("irrelevant", False),
    alternative="greater",
).statistic
