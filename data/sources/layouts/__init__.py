"""Layouts of files: one reader, and a YAML description of each published data set and of each common nested layout.

A description says where the question, its answers and its passages stand (docs/extending.md). The rows of a file become
rows of own questions (swaymeter.data.sources.own).
"""
