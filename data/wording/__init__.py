"""A text as normalised words, numbers, dates and units among them, so that two spellings of the same are equal.

Sources tell by it whether an answer stands in a text, and `tasks.scoring` whose answer a reply states. Nothing of ours
is imported here.
"""
