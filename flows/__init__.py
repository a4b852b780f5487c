"""Orchestration: Prefect flows, study files, the command line. The only package that imports Prefect."""
