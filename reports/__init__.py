"""Report of a study: figures, tables, findings and pages. Imports `data` only.

Reports compute no statistics: swaymeter.tasks.statistics writes means, intervals, quantiles, correlations and tests
into tables. Reports choose, sort and count their rows. Figures shift dots by a jitter, and have violin outlines that
matplotlib estimates. Units come with the columns of the tables.
"""
