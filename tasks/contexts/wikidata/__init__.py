"""From facts of Wikidata to questions: edits, a snippet that states the answer, and a counter-memory answer."""
