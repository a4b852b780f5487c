"""Files of a workspace: keys, whole-file writes, verified reads, locks.

Of this project, the package imports only swaymeter.data.records and swaymeter.data.errors. It uses neither DuckDB nor
the network.
"""
