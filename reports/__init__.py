"""What is shown: figures, tables, findings, the page. Imports `data` only; draws what the warehouse holds.

Reports compute nothing: a mean, an interval, a quantile, a correlation or a test comes from a table that
swaymeter.tasks.statistics writes. What may be done here: choosing and sorting rows, counting the rows that are drawn
and the ends of their range, placing marks (jitter, the fifth that a dot stands in), and the
outline of a violin, which matplotlib estimates. Units come with the columns, as data.
"""
