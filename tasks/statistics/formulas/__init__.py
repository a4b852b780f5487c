"""Formulas on vectors of scores; effect sizes and the Benjamini-Hochberg correction in groups.py."""
