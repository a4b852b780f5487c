"""The temporary Prefect API of a command, a child process, and Prefect's settings.

The package imports only `data` from Swaymeter, and Prefect only within functions, after `settings.keep_quiet`.
"""
