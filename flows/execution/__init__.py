"""Run the graph: a run, tasks (the steps of a relation in a stage), the executor, and progress."""
