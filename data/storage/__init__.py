"""Files of a workspace: keys, whole-file writes, verified reads, locks.

Of this project, the package imports only swaymeter.data.records, digests and errors. It uses neither DuckDB nor the
network.
"""
