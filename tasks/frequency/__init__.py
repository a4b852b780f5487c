"""How often names stand in a corpus: its words, the names that are looked for, and a count of both as a stream.

This package imports `data`, and no model.
"""
