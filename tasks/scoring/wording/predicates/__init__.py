"""What a reply says to a question of yes or no by another predicate than the question's.

frames are tables of predicates, reading tells what a clause says by them.
"""
