"""The engine of next-token distributions: contexts x queries, exact, with every shared prefix computed once."""

from tasks.scoring.next_token.ahead import Prefetch
from tasks.scoring.next_token.broken import check_contexts_matter, check_scores, first_broken, is_broken
from tasks.scoring.next_token.by_query import PLAIN, PREFIX_TREE, engine, next_token_by_query
from tasks.scoring.next_token.distributions import Distributions, divergence, is_rounding, normaliser_of
from tasks.scoring.next_token.plain import (
    forward_options,
    left_padded,
    next_token_log_probs,
    read_plain,
)
from tasks.scoring.next_token.prompts import (
    Tokens,
    check_length,
    no_distribution,
    shortened,
    tokenized,
    tokenized_prompts,
)
from tasks.scoring.next_token.reading import has_sliding_window, unreadable
from tasks.scoring.next_token.shared import Pass, SharedPrefixes, cache_per_token

__all__ = [
    "PLAIN",
    "PREFIX_TREE",
    "Distributions",
    "Pass",
    "Prefetch",
    "SharedPrefixes",
    "Tokens",
    "cache_per_token",
    "check_contexts_matter",
    "check_length",
    "check_scores",
    "divergence",
    "engine",
    "first_broken",
    "forward_options",
    "has_sliding_window",
    "is_broken",
    "is_rounding",
    "left_padded",
    "next_token_by_query",
    "next_token_log_probs",
    "no_distribution",
    "normaliser_of",
    "read_plain",
    "shortened",
    "tokenized",
    "tokenized_prompts",
    "unreadable",
]
