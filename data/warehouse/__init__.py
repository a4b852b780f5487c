"""The database: every table of a study in one DuckDB file, and the named queries that are asked of it.

The database is a view of the workspace, not a place where anything is kept: `update` brings it up to the workspace's
files, `opened` reads it, and `over` asks the same queries of the files before there is one. The tables come from the
caller, who knows what is measured. Only this package speaks SQL; the queries lie in data/warehouse/sql, a file each.

NaN and infinities are refused when files are loaded, so that a missing number is NULL and nothing else. Readers need a
file that no other program is writing.

Nothing is imported here: who resolves a graph needs the schema, and neither DuckDB nor pandas.
"""
