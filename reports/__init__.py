"""Report of a study: figures, tables, findings and pages. Of the other folders, it imports `data` only.

The folder `tasks/statistics` computes means, intervals, quantiles, correlations and tests, and stores them in tables.
Reports choose, sort and count the rows of these tables, whose columns have units. Little is computed here: the interval
of the difference of two shares, and random shifts of dots in figures. The outlines of violins are matplotlib's.
"""
