"""From facts to the texts that a model reads: entities, queries, contexts, questions.

Imports `data`, and `swaymeter.tasks.models` and `swaymeter.tasks.scoring` where a language model invents names.
"""
