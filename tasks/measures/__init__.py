"""The measures, a module each, and the list that names them.

A module declares a `Measure`: its row type, what it needs, and `compute`, which turns prompts into rows. Formulas lie
in tasks.scoring. Importing this package imports no torch: `compute` imports what it needs when it is called.
"""
