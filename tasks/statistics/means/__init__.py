"""Means of scores in groups, with intervals and quantiles: rows of the table `summaries`. There are no tests in them."""
