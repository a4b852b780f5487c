"""Do assertive contexts persuade more than base ones?"""

from swaymeter.tasks.statistics.comparison import Comparison, Group

STATISTIC = Comparison(
    name="assertiveness",
    query="persuasion_by_kind",
    measure="persuasion",
    weight="contexts",
    column="kind",
    group_a=Group("assertive", "assertive"),
    group_b=Group("base", "base"),
    alternative="greater",
).statistic
