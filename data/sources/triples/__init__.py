"""Triples of Wikidata from which questions are built: PopQA's list, the user's own, or drawn from the Query Service."""
