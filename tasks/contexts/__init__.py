"""From facts to what a model reads: entities, queries, contexts, questions. Imports `data` only."""
