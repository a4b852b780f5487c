"""Disputes of a page: reverted edits, the spans that they exchange, and a question about each."""
