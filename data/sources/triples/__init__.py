"""Triples of Wikidata for questions: from PopQA's list, from a user's list, or drawn by Wikidata's query service."""
