"""Questions from facts of Wikidata, each with its edits, a snippet with the answer, and a counter-memory answer."""
