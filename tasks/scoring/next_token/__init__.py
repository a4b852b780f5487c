"""The engine of next-token distributions: contexts x queries, exact, with every shared prefix computed once."""

from swaymeter.tasks.scoring.next_token.by_query import PLAIN, PREFIX_TREE, engine, next_token_by_query
from swaymeter.tasks.scoring.next_token.distributions import Distributions
from swaymeter.tasks.scoring.next_token.plain import read_plain
from swaymeter.tasks.scoring.next_token.prompts import tokenized_prompts

__all__ = ["PLAIN", "PREFIX_TREE", "Distributions", "engine", "next_token_by_query", "read_plain", "tokenized_prompts"]
