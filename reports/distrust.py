"""What a reader should distrust in the answer of a page, each in a sentence; nothing where there is nothing."""

from collections.abc import Sequence

from swaymeter.reports.card import StudyCard
from swaymeter.reports.estimates import by_hand, cut_off, not_answered, plural, served, stating_neither
from swaymeter.reports.frames import Frames, by_entity
from swaymeter.reports.headline import Claim, widest
from swaymeter.reports.tables import of_judges

WIDE = 10
"""From half an interval of so many percentage points on, a share is said to rest on few items."""
DISTRUST_QUERIES = (
    "stand_ins", "unfinished_greedy_answers", "greedy_answers_of_neither", of_judges.QUERY, "served_models",
    "statistics_in_short", "answers_judged_by_hand", "verdicts_to_read",
)  # fmt: skip


def distrust(card: StudyCard, frames: Frames, claims: Sequence[Claim]) -> list[str]:
    """The sentences, the gravest first."""
    half = widest(claims)
    tests = by_entity(frames["statistics_in_short"])
    untestable = int(tests["untestable"].sum()) if len(tests) else 0
    sentences = [
        f"Parts of the study are missing: {plural(len(card.not_run), 'piece')} of work, listed at the end." * bool(
            card.not_run
        ),
        f"Few items: a share above is known to ±{half:.0f} points only." * (half >= WIDE),
        f"Few entities: {plural(untestable, 'test')} by entity could not become significant, whatever was measured."
        * bool(untestable),
        _stand_ins(frames),
        cut_off(frames["unfinished_greedy_answers"]),
        not_answered(frames["unfinished_greedy_answers"]),
        stating_neither(frames["greedy_answers_of_neither"]),
        of_judges.sentences(frames),
        *by_hand(frames["answers_judged_by_hand"], frames["verdicts_to_read"]),
        served(frames["served_models"]),
    ]
    return [sentence.strip() for sentence in sentences if sentence]


def _stand_ins(frames: Frames) -> str:
    rows = frames["stand_ins"]
    if rows.empty:
        return ""
    words = [
        f"{text} ({', '.join(sorted({str(name).replace('_', ' ') for name in some}))})"
        for text, some in rows.groupby("stand_in")["measure"]
    ]
    return f"A stand-in took part, so these do not compare with published values: {'; '.join(words)}."
