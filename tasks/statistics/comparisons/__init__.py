"""Comparisons of two groups of scores: rows of `of_scores`, and a module for each that is computed otherwise."""
