"""Layouts of files: one reader, and a YAML description of each published data set and of each common nested layout.

A description has the paths of the question, its answers and its passages (docs/extending.md). The rows of a file become
rows of a user's questions (swaymeter.data.sources.own).
"""
