"""Disputes of a wiki page: reverted edits, the spans of text that they exchange, and a question about each dispute."""
