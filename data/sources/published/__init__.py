"""Published data sets of knowledge conflicts: each a module that says what becomes of a row of its files.

A set is a file or folder that the user has. Its rows become rows of own questions (swaymeter.data.sources.own), which
are checked and asked as all of them are. A new set is one module and a name in swaymeter.data.sources.registry.
"""
