"""Disputed facts of a page: spans of text that editors put back and forth [Marjanovic et al. 2024].

    revisions -> reverted pairs of registered editors -> the one span that both edits replace, in running text
    -> one dispute for each two spans and place -> without those of nearly the same meaning or without a sentence

Of two spans, the object is the one that was restored last; the context is its sentence in the restored text.
What it is not: the truth. Which of the two is right is not checked; editors who revert are not always right either.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from data import reasons
from data.records import Dispute, Rejected, RelationName
from data.sources.wikimedia.mediawiki import CONTENTS_AT_ONCE, History, Wiki
from data.sources.wikimedia.pageviews import PageViews
from data.sources.wikimedia.wikipedia import LICENCE, SOURCE, Wikipedia
from tasks.contexts.disputes.reverted_pairs import RevertedPair, reverted_pairs, why_not_counted
from tasks.contexts.disputes.running_text import Sentence
from tasks.contexts.disputes.spans import MOST_BYTES_A_WORD, NoReplacement, Replacement, Span, likeness, replacement
from tasks.contexts.listed_names import folded

RELATION = RelationName("disputable")
SIMILARITY = 0.98
SPAN_WORDS = 5

Embed = Callable[[Sequence[str]], NDArray[np.floating]]
Texts = frozenset[str | None]


@dataclass(frozen=True, slots=True)
class PageDisputes:
    """The disputes of a page, by the first edit of each, and the rejected candidates.

    rejected: a row for each reason, and for each two spans where they are known; `revisions` has the two edits of every
    reverted pair, so half its length is the number of pairs.
    """

    disputes: list[Dispute]
    rejected: list[Rejected]


@dataclass(frozen=True, slots=True)
class _Reversion:
    """A reverted pair, and the spans that it restored and removed."""

    pair: RevertedPair
    restored: Span
    undone: Span
    replacement: Replacement


@dataclass(frozen=True, slots=True)
class _Rejected:
    """Why reverted pairs are not a dispute; spans: the restored and the removed one, where they are known."""

    reason: str
    pairs: Sequence[RevertedPair]
    detail: str | None = None
    spans: tuple[str, str] | None = None


@dataclass(slots=True)
class _Page:
    """A page's history and the pairs that were rejected so far."""

    history: History
    rejected: dict[str, list[RevertedPair]] = field(default_factory=dict)

    def reject(self, reason: str, pair: RevertedPair) -> None:
        self.rejected.setdefault(reason, []).append(pair)


def disputes_of_page(
    title: str,
    wikipedia: Wikipedia,
    *,
    embed: Embed,
    pageviews: PageViews | None = None,
    months: tuple[str, str] | None = None,
    similarity: float = SIMILARITY,
    span_words: int = SPAN_WORDS,
) -> PageDisputes:
    """The disputes of a page, or of the page that it redirects to.

    Args:
        title: The page's title.
        wikipedia: Where its history is read.
        embed: Texts to unit vectors (n, d).
        pageviews: Where its views are looked up, if it has disputes.
        months: The first and the last month whose views count (YYYY-MM).
        similarity: Spans that are more alike than this, by cosine, are rejected.
        span_words: The most words of a span.

    Raises:
        ServiceError: A service failed.
    """
    history = wikipedia.history(title)
    if history is None:
        return PageDisputes([], [_no_page(title)])
    page = _Page(history)
    pairs = _counted(page, span_words)
    reversions = _reversions(page, pairs, _replacements(wikipedia.wiki, pairs, span_words))
    accepted, rejected = _judged(_by_dispute(reversions), embed, similarity)
    rejected = [*(_Rejected(reason, pairs) for reason, pairs in page.rejected.items()), *rejected]
    popularity = None
    if accepted and pageviews and months:
        popularity = pageviews.monthly_mean(history.title, first=months[0], last=months[1]).mean
    return PageDisputes(
        [_dispute(history, dispute, sentence, alike, popularity) for dispute, sentence, alike in accepted],
        [_row_of(history, rejection) for rejection in rejected],
    )


def _counted(page: _Page, span_words: int) -> list[RevertedPair]:
    """The reverted pairs whose texts are worth reading."""
    counted = []
    for pair in reverted_pairs(page.history.revisions):
        reason = why_not_counted(pair)
        if reason is None and abs(pair.edited.size - pair.before.size) > span_words * MOST_BYTES_A_WORD:
            reason = reasons.SPAN_TOO_LONG
        if reason is None:
            counted.append(pair)
        else:
            page.reject(reason, pair)
    return counted


def _replacements(
    wiki: Wiki, pairs: Sequence[RevertedPair], span_words: int
) -> dict[Texts, Replacement | NoReplacement]:
    """The difference of the two texts of every pair; `first` is in the text of the lower SHA-1.

    Texts are requested a few at a time, in the order of the pairs, and not stored.
    """
    replacements: dict[Texts, Replacement | NoReplacement] = {}
    for some in _a_few(list({pair.texts: pair for pair in reversed(pairs)}.values())[::-1]):
        contents = wiki.contents(
            [number for pair in some for number in (pair.before.revision_id, pair.edited.revision_id)]
        )
        for pair in some:
            by_digest = sorted((pair.before, pair.edited), key=lambda revision: revision.sha1 or "")
            texts = [contents.get(revision.revision_id) for revision in by_digest]
            first, second = texts
            if first is None or second is None:
                replacements[pair.texts] = NoReplacement(reasons.HIDDEN_CONTENT)
            else:
                replacements[pair.texts] = replacement(first, second, most_words=span_words)
    return replacements


def _a_few(pairs: Sequence[RevertedPair]) -> Iterator[Sequence[RevertedPair]]:
    for start in range(0, len(pairs), CONTENTS_AT_ONCE // 2):
        yield pairs[start : start + CONTENTS_AT_ONCE // 2]


def _reversions(
    page: _Page, pairs: Sequence[RevertedPair], replacements: Mapping[Texts, Replacement | NoReplacement]
) -> Iterator[_Reversion]:
    for pair in pairs:
        differ = replacements[pair.texts]
        if isinstance(differ, NoReplacement):
            page.reject(differ.reason, pair)
        elif (pair.restored.sha1 or "") < (pair.edited.sha1 or ""):
            yield _Reversion(pair, differ.first, differ.second, differ)
        else:
            yield _Reversion(pair, differ.second, differ.first, differ)


def _by_dispute(reversions: Iterator[_Reversion]) -> list[list[_Reversion]]:
    """The reversions of each two spans in one place, oldest first; a place is tracked while its words change."""
    disputes: dict[frozenset[str], list[list[_Reversion]]] = {}
    for reversion in reversions:
        spans = frozenset({folded(reversion.restored.text), folded(reversion.undone.text)})
        places = disputes.setdefault(spans, [])
        alike = [likeness(place[-1].replacement, reversion.replacement) for place in places]
        if any(alike):
            places[alike.index(max(alike))].append(reversion)
        else:
            places.append([reversion])
    every = (place for places in disputes.values() for place in places)
    return sorted(every, key=lambda place: place[0].pair.edits)


def _judged(
    disputes: Sequence[list[_Reversion]], embed: Embed, similarity: float
) -> tuple[list[tuple[list[_Reversion], Sentence, float]], list[_Rejected]]:
    """The accepted disputes, with their sentence and the similarity of their spans; and the rejected ones."""
    accepted, rejected = [], []
    spans = [(dispute[-1].restored.text, dispute[-1].undone.text) for dispute in disputes]
    vectors = embed([text for both in spans for text in both]) if spans else np.zeros((0, 1))
    for number, (dispute, both) in enumerate(zip(disputes, spans, strict=True)):
        same = folded(both[0]) == folded(both[1])
        alike = 1.0 if same else float(np.clip(np.dot(vectors[2 * number], vectors[2 * number + 1]), -1.0, 1.0))
        sentence = dispute[-1].restored.sentence()
        pairs = [reversion.pair for reversion in dispute]
        if alike > similarity:
            rejected.append(_Rejected(reasons.TOO_SIMILAR, pairs, f"similarity {alike:.4f}", both))
        elif sentence is None:
            rejected.append(_Rejected(reasons.NO_SENTENCE, pairs, dispute[-1].restored.paragraph[:300], both))
        else:
            accepted.append((dispute, sentence, alike))
    return accepted, rejected


def _dispute(
    history: History, dispute: Sequence[_Reversion], sentence: Sentence, alike: float, popularity: float | None
) -> Dispute:
    last = dispute[-1]
    return Dispute(
        page=history.title,
        page_revision=last.pair.restored.revision_id,
        context=sentence.text,
        place=sentence.place,
        object=last.restored.text,
        replacement=last.undone.text,
        reversions=len(dispute),
        edit_revisions=tuple(edit for reversion in dispute for edit in reversion.pair.edits),
        similarity=alike,
        subject_popularity=popularity,
        hidden_edits=sum(revision.content_hidden for revision in history.revisions),
        source=SOURCE,
        licence=LICENCE,
        address=history.address,
        retrieved_at=history.retrieved_at.isoformat(timespec="seconds"),
    )


def _row_of(history: History, rejection: _Rejected) -> Rejected:
    return Rejected(
        partition="disputable",
        relation=RELATION,
        part=history.title,
        subject=history.title,
        reason=rejection.reason,
        source=SOURCE,
        licence=LICENCE,
        detail=rejection.detail,
        object=rejection.spans[0] if rejection.spans else None,
        replacement=rejection.spans[1] if rejection.spans else None,
        revisions=tuple(edit for pair in rejection.pairs for edit in pair.edits),
        retrieved_at=history.retrieved_at.isoformat(timespec="seconds"),
    )


def _no_page(title: str) -> Rejected:
    return Rejected("disputable", RELATION, title, title, reasons.PAGE_MISSING, SOURCE, LICENCE)
