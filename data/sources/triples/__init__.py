"""Triples of Wikidata from which questions are built: PopQA's list, the user's own, or drawn from the Query Service."""

from swaymeter.data.sources.triples.csv_rows import from_csv
from swaymeter.data.sources.triples.popqa_list import popqa
from swaymeter.data.sources.triples.wikidata_pairs import of_property

__all__ = ["from_csv", "of_property", "popqa"]
