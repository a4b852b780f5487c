"""The command line: commands by group, and how results are printed.

Modules of commands import heavy packages within their functions, so that `swaymeter --help` imports neither torch nor
Prefect. Commands work on a study of `swaymeter.flows.api`.
"""
