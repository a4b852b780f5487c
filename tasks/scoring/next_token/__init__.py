"""The engine of next-token distributions: contexts x queries, exact, with every shared prefix computed once."""

from tasks.scoring.next_token.by_query import PLAIN, PREFIX_TREE, engine, next_token_by_query
from tasks.scoring.next_token.distributions import Distributions
from tasks.scoring.next_token.plain import read_plain
from tasks.scoring.next_token.prompts import tokenized_prompts

__all__ = ["PLAIN", "PREFIX_TREE", "Distributions", "engine", "next_token_by_query", "read_plain", "tokenized_prompts"]
