"""Prefect's settings, and the temporary Prefect API that a command starts as a child process.

The package imports only `data` from Swaymeter, and Prefect only within functions, after `settings.keep_quiet`.
"""
