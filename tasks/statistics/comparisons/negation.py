"""Do negations persuade otherwise than base contexts?"""

from swaymeter.tasks.statistics.comparison import Comparison, Group

STATISTIC = Comparison(
    name="negation",
    query="persuasion_by_kind",
    measure="persuasion",
    weight="contexts",
    column="kind",
    group_a=Group("negation", "negation"),
    group_b=Group("base", "base"),
    alternative="two-sided",
).statistic
