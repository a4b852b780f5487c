"""Comparisons of two groups of scores, a module each. A module declares a `Comparison` and imports nothing else."""
