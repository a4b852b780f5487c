"""From facts to the texts that a model reads: entities, queries, contexts, questions.

Imports `data`, and `tasks.models` and `tasks.scoring` where a language model invents names.
"""
