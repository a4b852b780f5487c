"""The table of variants: the shares in which each follows right passages and resists wrong ones."""

from swaymeter.reports import variants
from swaymeter.reports.tables.table import Table

COMPARISON = Table(
    "comparison-of-variants",
    "Comparison of variants",
    "A variant is a model, with its prompt and its decoding if there are several. Shares of greedy answers with 95% "
    "intervals over questions: answers that state the right answer, and no wrong one, if a right passage is given; "
    "that do not state only the wrong answer, if a wrong passage is given; that are right without a passage; that "
    "decline if no passage supports an answer. An answer of neither passage, and a refusal, resist a wrong passage, "
    "too. Further columns: tokens of a greedy answer (a dash if its server does not return them), and seconds of a "
    "prompt with all its answers. A variant is not beaten if no other is at least as good in the first two shares and "
    "better in one, whether the difference is significant or not. Variants are compared in pairs, question by "
    "question; p is adjusted by Benjamini-Hochberg.",
    (variants.MEANS, variants.DIFFERENCES, variants.COSTS),
    variants.table,
    finding=variants.advice,
    note=lambda frames: variants.silent(frames) + variants.uneven(variants.variants_of(frames)),
    is_summary=True,
)
