"""Means of scores in groups, with intervals and quantiles, not tests: rows of the table `summaries`."""
