"""Questions from facts of Wikidata: edits, a snippet that states the answer, and a counter-memory answer."""
