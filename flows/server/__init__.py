"""Prefect's API and worker as child processes: the temporary API of a command, and the lasting one of `make ui`.

Of our packages only `data` is imported here; Prefect is imported within functions, after `settings.keep_quiet`.
"""
