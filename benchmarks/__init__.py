"""Seven benchmarks: scoring, answers, servers, scale, stages, overhead and verdicts.

The sides that a benchmark compares take turns in one process. The package imports no benchmark. scoring.py runs on a
bare GPU machine, with only the dependencies of swaymeter.tasks.scoring.
"""
