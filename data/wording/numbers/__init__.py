"""Numbers, units, dates and times of day in one form, whatever way they are written.

dates works on a text as it is written, numerals on its tokens; number_words has the tables.
"""
