"""Facts of Wikidata made into questions: edits, a snippet that states the answer, and another answer."""
