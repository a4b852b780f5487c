"""The comparisons of two groups of scores that differ only in what they compare: a row each."""

from dataclasses import replace

from swaymeter.tasks.statistics.comparison import Comparison, Group

FAMILIARITY = Comparison(
    name="familiarity",
    query="susceptibility_of_queries",
    measure="susceptibility",
    column="invented",
    group_a=Group("invented", True),
    group_b=Group("real", False),
    alternative="greater",
)
"""Are queries about invented entities swayed more easily than queries about real ones?"""

UNATTESTED = replace(
    FAMILIARITY,
    name="familiarity_unattested",
    query="unattested_queries",
    group_a=Group("invented and unattested", True),
    version=1,
)
"""As `FAMILIARITY`, without the invented entities whose name occurs in the counted corpus: somebody may have that name,
and the model may have read of them. It needs a corpus that was counted."""

RELEVANCE = Comparison(
    name="relevance",
    query="persuasion_by_kind",
    measure="persuasion",
    weight="contexts",
    column="relevant",
    group_a=Group("relevant", True),
    group_b=Group("irrelevant", False),
    alternative="greater",
)
"""Do contexts that mention the query's entity persuade more than contexts that do not?"""

ASSERTIVENESS = replace(
    RELEVANCE,
    name="assertiveness",
    column="kind",
    group_a=Group("assertive", "assertive"),
    group_b=Group("base", "base"),
)
"""Do assertive contexts persuade more than base ones?"""

NEGATION = replace(ASSERTIVENESS, name="negation", group_a=Group("negation", "negation"), alternative="two-sided")
"""Do negations persuade otherwise than base contexts?"""
