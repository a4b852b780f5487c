"""Execution of the graph: the run, its tasks, the executor that submits them, workers, and progress."""
