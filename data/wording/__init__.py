"""Texts as normalised words, numbers, dates and units, so that two spellings of the same answer are equal.

`data.sources` looks up answers in passages with these words, and `tasks.scoring` answers in replies. This package
imports no other part of Swaymeter.
"""
