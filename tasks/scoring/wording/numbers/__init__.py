"""Numbers, units, dates and times of day in one form, whatever way they are written.

dates and figures work on a text as it is written, numerals on its tokens; number_words has the tables.
"""
