"""Texts as normalised words, numbers, dates and units, so that two spellings of the same answer are equal.

With these words, `data.sources` looks up answers in passages, and `tasks.scoring` looks up answers in replies. This
package imports no other part of Swaymeter.
"""
