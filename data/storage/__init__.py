"""Files of a workspace: keys, whole-file writes, verified reads, locks.

Imports swaymeter.data.records and swaymeter.data.errors; no DuckDB, no network.
"""
