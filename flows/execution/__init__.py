"""How the graph is run: Prefect flows, the one task that runs any step, the runner, and who is told how far it is."""
