"""The forms in which an answer may stand in a text.

kinds makes them; of_names and of_numbers are its tables of kinds, answer what they are made from and what they are.
"""
