"""The command line: commands by group, and how results are printed.

A module of commands imports what it needs within its functions: `swaymeter --help` imports no science, and nothing
here imports Prefect before a command runs something. `swaymeter.flows.api` has the study that a command is about.
"""
