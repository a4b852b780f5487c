"""Files of a workspace: keys, whole-file writes, verified reads, locks.

Imports data.records and data.errors; no DuckDB, no network.
"""
