"""The plan of a study and the steps of its stages; flows/study_graph.py connects them. No module imports Prefect."""
