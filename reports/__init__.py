"""Report of a study: figures, tables, findings and pages. Imports `data` only.

Reports compute nothing. Means, intervals, quantiles, correlations and tests are tables that
swaymeter.tasks.statistics writes. Reports choose and sort rows, count rows, place marks with jitter, and draw violin
outlines, which matplotlib estimates. Units come with the columns.
"""
