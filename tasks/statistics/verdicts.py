"""Shares of greedy replies by the answer that they give, for each kind of context, evidence set and passage order.

Each reply belongs to one part. The cells of this table are verdicts:

    part        supporting context    conflicting or mixed    unknown             none, irrelevant, neutral
    right       context or both       original                original or both    original or both
    wrong       -                     context                 -                   context
    both        -                     both                    -                   -
    passage     -                     -                       context             -
    neither     neither or original   neither                 neither             neither
    declined    refusal               refusal                 refusal             refusal

The verdicts come from the view `stated_answers`. People decide before a judge, and a judge before the rule. For a
supporting context, tasks/measures/decided_answers.py stores a person's "original" or "both" as "context". The query
`verdict_shares` selects the shares from the table `summaries`, and `reports.headline` draws them.

The verdict `neither` includes undecided replies. The shares of all parts of a group add up to 1. A reply lacks a
verdict if a filter withheld the reply, or if its thoughts did not end. Such a reply is in no group. Intervals are over
subjects, or over questions if no question names a subject. The quantity `follows` (tasks/statistics/models.py)
differs: after a conflicting context, `follows` also counts a reply with both answers.
"""

from typing import Any

from swaymeter.data.records import OWN_CONDITIONS
from swaymeter.data.records.statistics import SHARE, Summary
from swaymeter.tasks.statistics.frames import sort_frame
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, Mean

VERDICTS = "stated_answers"
PARTS = ("right", "wrong", "both", "passage", "neither", "declined")
GROUP = ("condition", "evidence_set", "passage_order")


def parts(replies: Frame) -> Frame:
    """Return the replies, sorted, with the columns `part` and `cluster`; missing values in `GROUP` become "".

    The cluster of a reply is the subject of its question, or the question if it names no subject.

    Args:
        replies: Rows of the view `stated_answers` with a verdict.
    """
    verdict, condition = replies["verdict"].astype(object), replies["condition"].astype(object)
    supporting, contested = condition == "supporting", condition.isin(("conflicting", "mixed"))
    gives_context, gives_both = verdict == "context", verdict == "both"
    part: Any = verdict.map({"original": "right", "refusal": "declined"}).astype(object).fillna("neither")
    part = part.mask(gives_context, "wrong").mask(gives_context & (condition == "unknown"), "passage")
    part = part.mask(gives_both, "right").mask(gives_both & contested, "both")
    part = part.mask(supporting & gives_context, "right").mask(supporting & (verdict == "original"), "neither")
    columns = {name: replies[name].astype(object).fillna("") for name in GROUP}
    frame = replies.assign(**columns, cluster=replies["subject_key"].astype(str), part=part)
    return sort_frame(frame, [*MODEL, *GROUP, "cluster", "question_id", "context_id"])


def shares(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `Summary`: the share of each part in each group, with its interval.

    A study without questions of its user, such as a study of DynamicQA, has no rows.
    """
    verdicts = frames[VERDICTS]
    replies = verdicts[verdicts["sample"].isna()].dropna(subset="verdict")  # a greedy reply has no number of a sample
    if replies.empty or not replies["condition"].isin(OWN_CONDITIONS).any():
        return []
    replies = parts(replies)
    has_subjects = (replies["cluster"] != replies["question_id"].astype(str)).any()
    over = "subject" if has_subjects else "question"
    rows: list[Row] = []
    for name in PARTS:
        share = Mean(name, (*MODEL, *GROUP), "reply", SHARE, column="value", interval=True, interval_over=over)
        rows += share.rows(replies.assign(value=(replies["part"] == name).astype(float)), seed)
    return rows


SHARES = Statistic("verdict_shares", 2, Summary, (VERDICTS,), shares)
