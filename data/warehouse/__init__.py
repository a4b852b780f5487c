"""The database: every table of a study in one DuckDB file, and the named queries over it.

`loading.build` makes the database from the workspace's files, and `warehouse.opened` reads it. The caller passes the
tables, because only the caller knows the measures. Only this package speaks SQL; the queries are files in
data/warehouse/sql.

Loading refuses NaN and infinities, so that a missing number is always NULL. Nobody can read a database that another
program is writing.

This module imports nothing, so that the graph of a study can import `schema` without DuckDB and pandas.
"""
