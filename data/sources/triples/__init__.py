"""Lists of facts of Wikidata that questions are made of: PopQA's, anybody's own, or drawn from the Query Service."""

from data.sources.triples.csv_file import from_csv
from data.sources.triples.popqa_list import popqa
from data.sources.triples.wikidata_pairs import of_property

__all__ = ["from_csv", "of_property", "popqa"]
