"""Writers of the texts that a model reads: queries, contexts and questions. They are built from facts and web pages.

The package imports `data`. Modules that use a language model also import `swaymeter.tasks.models`, and modules that
need verdicts import `swaymeter.tasks.scoring`.
"""
