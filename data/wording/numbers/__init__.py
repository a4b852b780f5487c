"""Numbers, units, dates and times of day, each in one normal form.

`dates` reads the written text, `numerals` its tokens, and `number_words` has the tables.
"""
