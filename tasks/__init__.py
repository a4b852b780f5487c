"""Computation: contexts, models, scoring, measurement, statistics. Plain functions; imports `data`, never Prefect."""
