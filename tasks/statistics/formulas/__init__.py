"""Formulas on vectors of scores; groups.py has Cohen's d and the Benjamini-Hochberg correction."""
