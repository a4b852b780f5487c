"""Means of scores in groups, with intervals and quantiles: the rows of the table `summaries`, a module a measure."""
