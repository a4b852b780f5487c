"""Texts that a model reads: entities, queries, contexts and questions, built from facts.

The package imports `data`. Modules that use a language model also import `swaymeter.tasks.models`, and modules that
need verdicts import `swaymeter.tasks.scoring`.
"""
