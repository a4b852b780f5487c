"""The graph of a study: which steps it has, what each needs and makes, and how each stands.

`study_graph` lists the steps; a module each lists those of a stage. Nothing here runs a step, and nothing imports
Prefect: `status`, `--dry-run` and the runner are queries on the same graph.
"""
