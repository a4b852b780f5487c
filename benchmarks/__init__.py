"""Seven benchmarks: scoring, answers, servers, scale, stages, overhead and verdicts.

The modules beside these seven have parts that benchmarks share. A benchmark that compares several sides, such as the
engine and plain transformers, runs them by turns in one process. scoring.py runs on a bare GPU machine, with only the
dependencies of swaymeter.tasks.scoring.
"""
