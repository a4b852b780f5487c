"""The database: every table of a study in one DuckDB file, and the named queries over it.

The database is a view of the workspace's files: `build` makes it from them, and `opened` reads it. The caller passes
the tables, because only the caller knows the measures. Only this package speaks SQL; the queries are files in
data/warehouse/sql.

Loading refuses NaN and infinities, so that a missing number is always NULL. Readers need a file that no other program
is writing.

This module imports nothing, because resolving a graph needs the schema, and neither DuckDB nor pandas.
"""
