"""The temporary Prefect API of a command, a child process, and Prefect's settings.

Of our packages only `data` is imported here; Prefect is imported within functions, after `settings.keep_quiet`.
"""
