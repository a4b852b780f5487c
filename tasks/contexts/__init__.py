"""From facts to what a model reads: entities, queries, contexts, questions.

Imports `data`; where a language model makes up names, `tasks.models` and `tasks.scoring`, too.
"""
