"""Formulas on vectors of scores: test, effect size, correction, correlation, interval. Imports numpy and scipy."""
