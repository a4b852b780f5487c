"""Disputed facts of a page: spans of text that editors put back and forth [Marjanovic et al. 2024].

An edit and the next edit are a reverted pair if the texts before the first and after the second have the same SHA-1.
Five revisions with the texts A B A B A have three reverted pairs. A revision with the content of the revision before it
is no edit, and splits no pair.

    1  find the reverted pairs of registered editors in the revisions of the page
    2  find the span of running text that both edits of a pair replace
    3  group the pairs that exchange the same two spans, with similar words around them: each group is a dispute
    4  reject a dispute if its spans have nearly the same meaning, or if the restored span is in no whole sentence

The object of a dispute is the span that was restored last; nothing checks which of the two spans is right.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from swaymeter.data import reasons
from swaymeter.data.records import Dispute, Rejected, RelationName
from swaymeter.data.sources.wikimedia.mediawiki import CONTENTS_AT_ONCE, History, Revision, Wiki
from swaymeter.data.sources.wikimedia.pageviews import PageViews
from swaymeter.data.sources.wikimedia.wikipedia import LICENCE, SOURCE, Wikipedia
from swaymeter.tasks.contexts.disputes.running_text import PlacedSentence
from swaymeter.tasks.contexts.disputes.spans import MAX_BYTES_PER_WORD, Replacement, Span, likeness, replacement
from swaymeter.tasks.contexts.texts import fold

RELATION = RelationName("disputable")
SIMILARITY = 0.98
"""Default upper bound of the cosine similarity of the two spans of a dispute."""
SPAN_WORDS = 5
"""Default limit of the words of a span."""

Embed = Callable[[Sequence[str]], NDArray[np.floating]]
"""A function that maps n texts to unit vectors, (n, d)."""
Digests = frozenset[str | None]
"""The SHA-1 of the two texts of a reverted pair."""


@dataclass(frozen=True, slots=True)
class PageDisputes:
    """The disputes of a page.

    Attributes:
        disputes: disputes, ordered by their first edit.
        rejected: a row for each rejection reason of reverted pairs, and a row for each rejected dispute.
    """

    disputes: list[Dispute]
    rejected: list[Rejected]


@dataclass(frozen=True, slots=True)
class RevertedPair:
    """The revisions before an edit, after it, and after the edit that reverted it."""

    before: Revision
    edited: Revision
    restored: Revision

    @property
    def edits(self) -> tuple[int, int]:
        """The ids of the two edits."""
        return self.edited.revision_id, self.restored.revision_id

    @property
    def digests(self) -> Digests:
        """The SHA-1 of both texts."""
        return frozenset({self.edited.sha1, self.restored.sha1})


@dataclass(frozen=True, slots=True)
class _Reversion:
    """A reverted pair, and the spans that its second edit restored and removed."""

    pair: RevertedPair
    restored_span: Span
    removed_span: Span
    replacement: Replacement


def disputes_of_page(
    title: str,
    wikipedia: Wikipedia,
    *,
    embed: Embed,
    pageviews: PageViews | None = None,
    months: tuple[str, str] | None = None,
    max_similarity: float = SIMILARITY,
    span_words: int = SPAN_WORDS,
) -> PageDisputes:
    """Return the disputes of a page, or of the page that it redirects to; a missing page is rejected.

    Args:
        title: title of the page.
        wikipedia: client for texts and revisions.
        embed: embeds the spans.
        pageviews: client for page views; None to leave them out.
        months: the first and the last month whose views count (YYYY-MM).
        max_similarity: upper bound of the cosine similarity of the two spans of a dispute.
        span_words: limit of the words of a span.

    Raises:
        ServiceError: a service fails.
    """
    history = wikipedia.history(title)
    if history is None:
        return PageDisputes([], [Rejected("disputable", RELATION, title, title, reasons.PAGE_MISSING, SOURCE, LICENCE)])
    disputes, rejected_disputes = [], []
    reversions, rejected_pairs = _reversions(history, wikipedia.wiki, span_words)
    by_dispute = _by_dispute(reversions)
    for dispute_reversions, similarity in zip(by_dispute, _similarities(by_dispute, embed), strict=True):
        last = dispute_reversions[-1]
        sentence = last.restored_span.sentence()
        if similarity > max_similarity:
            reason, detail = reasons.TOO_SIMILAR, f"similarity {similarity:.4f}"
        elif sentence is None:
            reason, detail = reasons.NO_SENTENCE, last.restored_span.paragraph[:300]
        else:
            disputes.append(_dispute(history, dispute_reversions, sentence, similarity))
            continue
        row = _rejected(history, reason, [reversion.pair for reversion in dispute_reversions])
        rejected_disputes.append(
            replace(row, detail=detail, object=last.restored_span.text, replacement=last.removed_span.text)
        )
    if disputes and pageviews and months:
        views = pageviews.monthly_mean(history.title, first=months[0], last=months[1])
        disputes = [replace(dispute, subject_popularity=views) for dispute in disputes]
    return PageDisputes(
        disputes, [*(_rejected(history, reason, pairs) for reason, pairs in rejected_pairs.items()), *rejected_disputes]
    )


def reverted_pairs(revisions: Sequence[Revision]) -> list[RevertedPair]:
    """Return the reverted pairs of revisions, oldest first; a hidden text has no SHA-1, so it equals no other text."""
    edits = [*revisions[:1]]
    edits += [later for earlier, later in pairwise(revisions) if later.sha1 is None or later.sha1 != earlier.sha1]
    return [
        RevertedPair(before, edited, restored)
        for before, edited, restored in zip(edits, edits[1:], edits[2:], strict=False)
        if before.sha1 is not None and before.sha1 == restored.sha1
    ]


def rejection_reason(pair: RevertedPair) -> str | None:
    """Return the reason why a pair is no evidence of a dispute between registered editors; None if it is evidence."""
    revisions = (pair.before, pair.edited, pair.restored)
    if pair.edited.sha1 is None or any(revision.content_hidden for revision in revisions):
        return reasons.HIDDEN_CONTENT
    for edit in (pair.edited, pair.restored):
        if edit.user is None:
            return reasons.HIDDEN_EDITOR
        if not edit.registered:  # the names of temporary accounts begin with "~"
            return reasons.TEMPORARY_EDITOR if edit.user.startswith("~") else reasons.ANONYMOUS_EDITOR
    return None


def _reversions(
    history: History, wiki: Wiki, span_words: int
) -> tuple[list[_Reversion], dict[str, list[RevertedPair]]]:
    """Return the reverted pairs in which one span replaces another, and the rejected pairs by reason."""
    rejected: dict[str, list[RevertedPair]] = defaultdict(list)
    pairs, reversions = [], []
    for pair in reverted_pairs(history.revisions):
        reason = rejection_reason(pair)
        if reason is None and abs(pair.edited.size - pair.before.size) > span_words * MAX_BYTES_PER_WORD:
            reason = reasons.SPAN_TOO_LONG
        if reason is None:
            pairs.append(pair)
        else:
            rejected[reason].append(pair)
    replacements = _replacements(wiki, pairs, span_words)
    for pair in pairs:
        result = replacements[pair.digests]  # a `Replacement`, or a rejection reason
        if isinstance(result, str):
            rejected[result].append(pair)
        # `result.first` is the span of the text with the lower SHA-1.
        elif (pair.restored.sha1 or "") < (pair.edited.sha1 or ""):
            reversions.append(_Reversion(pair, result.first, result.second, result))
        else:
            reversions.append(_Reversion(pair, result.second, result.first, result))
    return reversions, rejected


def _replacements(wiki: Wiki, pairs: Sequence[RevertedPair], span_words: int) -> dict[Digests, Replacement | str]:
    """Return a replacement or a rejection reason for every pair.

    `Replacement.first` is the span of the text with the lower SHA-1.
    """
    replacements: dict[Digests, Replacement | str] = {}
    # Only the oldest of the pairs with the same two texts is read.
    distinct_pairs = list({pair.digests: pair for pair in reversed(pairs)}.values())[::-1]
    size = CONTENTS_AT_ONCE // 2  # a pair has two texts
    for batch in (distinct_pairs[start : start + size] for start in range(0, len(distinct_pairs), size)):
        contents = wiki.contents([revision.revision_id for pair in batch for revision in (pair.before, pair.edited)])
        for pair in batch:
            by_digest = sorted((pair.before, pair.edited), key=lambda revision: revision.sha1 or "")
            first, second = (contents.get(revision.revision_id) for revision in by_digest)
            if first is None or second is None:
                replacements[pair.digests] = reasons.HIDDEN_CONTENT
            else:
                replacements[pair.digests] = replacement(first, second, max_words=span_words)
    return replacements


def _by_dispute(reversions: Iterable[_Reversion]) -> list[list[_Reversion]]:
    """Group reversions into disputes, oldest first: the same two spans with similar words around them."""
    disputes: dict[frozenset[str], list[list[_Reversion]]] = {}
    for reversion in reversions:
        spans = frozenset({fold(reversion.restored_span.text), fold(reversion.removed_span.text)})
        disputes_of_spans = disputes.setdefault(spans, [])
        likenesses = [likeness(dispute[-1].replacement, reversion.replacement) for dispute in disputes_of_spans]
        if any(likenesses):
            disputes_of_spans[likenesses.index(max(likenesses))].append(reversion)
        else:
            disputes_of_spans.append([reversion])
    all_disputes = (dispute for disputes_of_spans in disputes.values() for dispute in disputes_of_spans)
    return sorted(all_disputes, key=lambda dispute: dispute[0].pair.edits)


def _similarities(disputes: Sequence[Sequence[_Reversion]], embed: Embed) -> list[float]:
    """Return the cosine similarity of the two spans of each dispute; 1 if they differ only in case and spaces."""
    spans = [(dispute[-1].restored_span.text, dispute[-1].removed_span.text) for dispute in disputes]
    vectors = embed([text for both in spans for text in both]) if spans else np.zeros((0, 1))
    similarities = []
    for (restored, removed), first, second in zip(spans, vectors[::2], vectors[1::2], strict=True):
        is_equal = fold(restored) == fold(removed)
        similarities.append(1.0 if is_equal else float(np.clip(np.dot(first, second), -1.0, 1.0)))
    return similarities


def _dispute(
    history: History, reversions: Sequence[_Reversion], sentence: PlacedSentence, similarity: float
) -> Dispute:
    last = reversions[-1]
    return Dispute(
        page=history.title,
        page_revision=last.pair.restored.revision_id,
        context=sentence.text,
        place=sentence.start,
        object=last.restored_span.text,
        replacement=last.removed_span.text,
        reversions=len(reversions),
        edit_revisions=tuple(edit for reversion in reversions for edit in reversion.pair.edits),
        similarity=similarity,
        subject_popularity=None,
        hidden_edits=sum(revision.content_hidden for revision in history.revisions),
        source=SOURCE,
        licence=LICENCE,
        address=history.address,
        retrieved_at=history.retrieved_at.isoformat(timespec="seconds"),
    )


def _rejected(history: History, reason: str, pairs: Iterable[RevertedPair]) -> Rejected:
    return Rejected(
        partition="disputable",
        relation=RELATION,
        part=history.title,
        subject=history.title,
        reason=reason,
        source=SOURCE,
        licence=LICENCE,
        revisions=tuple(edit for pair in pairs for edit in pair.edits),
        retrieved_at=history.retrieved_at.isoformat(timespec="seconds"),
    )
