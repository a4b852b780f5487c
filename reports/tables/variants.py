"""The table that says what makes a model follow: each variant with right and with wrong passages."""

from swaymeter.reports import variants
from swaymeter.reports.tables.table import Table

WHAT_MAKES_IT_FOLLOW = Table(
    "what-makes-it-follow",
    "What makes it follow",
    "A variant is a model, with its prompt and its decoding where there are several. Shares of greedy answers with 95% "
    "intervals over questions: that state the right answer, and no wrong one, where a right passage is there; that do "
    "not state the wrong answer alone, where a wrong passage is there; that are right without a passage; that decline "
    "where no passage supports an answer. An answer of neither passage, and a refusal, resist a wrong one, too. Tokens "
    "of a greedy answer, a dash where its server does not say which they are; seconds a prompt with all its answers, "
    "as they were computed. Not beaten are those that no other has beaten in these shares, shown to differ or not: "
    "none is as good in the first two and better in one. Variants are compared in pairs, question by "
    "question, after Benjamini-Hochberg.",
    (variants.MEANS, variants.DIFFERENCES, variants.SPENT),
    variants.table,
    lead=variants.advice,
    note=lambda frames: variants.silent(frames) + variants.uneven(variants.variants_of(frames)),
    leads=True,
)
