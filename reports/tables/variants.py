"""The table of variants: how often each variant follows right passages and resists wrong passages."""

from swaymeter.reports import variants
from swaymeter.reports.tables.table import Table

COMPARISON = Table(
    "comparison-of-variants",
    "Comparison of variants",
    "A variant is a model, with its prompt and its decoding if there are several. Shares are of greedy answers, with "
    "95% intervals over questions. Follows right: with a right passage, the answer states the right answer and no "
    "wrong answer. Resists wrong: with a wrong passage, the answer does not state the wrong answer alone. A refusal, "
    "and an answer that states neither, resist, too. No passage: the answer is right without a passage. Declines: the"
    " model declines if no passage supports an answer. Tokens: mean length of a greedy answer; a dash if the server "
    "returns no tokens. Seconds: mean time of a prompt with all its answers. A variant is not beaten if no other is "
    "at least as good in the first two shares and better in one, whether the difference is significant or not. "
    "Variants are compared in pairs, question by question; p is adjusted by Benjamini-Hochberg.",
    (variants.MEANS, variants.DIFFERENCES, variants.COSTS),
    variants.table,
    finding=variants.advice,
    note=lambda frames: variants.neither_stated(frames) + variants.uneven_note(variants.variants_of(frames)),
    is_summary=True,
)
