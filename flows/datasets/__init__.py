"""Work of people with a study's data: judge its questions, export them, list a graph's predicates."""
