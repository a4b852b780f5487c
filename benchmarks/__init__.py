"""Five benchmarks: scoring, answers, scale, servers, verdicts; each measures both sides in one run.

They import data and tasks, and nothing imports them. scoring.py runs on a bare GPU machine, with the dependencies of
swaymeter.tasks.scoring alone.
"""
