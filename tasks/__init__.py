"""Computation: contexts, corpus frequency, models, scoring, measures and statistics, as plain functions.

The package imports `data`, and never Prefect.
"""
