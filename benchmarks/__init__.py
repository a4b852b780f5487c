"""Seven benchmarks: scoring, answers, servers, scale, stages, overhead, verdicts. All sides take turns in one run.

They import data and tasks, and nothing imports them. scoring.py runs on a bare GPU machine, with the dependencies of
swaymeter.tasks.scoring alone.
"""
