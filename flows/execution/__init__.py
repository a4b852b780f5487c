"""Run the graph: Prefect flows, tasks (the steps of a relation in a stage), the executor, and progress."""
