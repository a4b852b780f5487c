"""Agreement of a judge with the rule (tasks/scoring/followed.py) and with people on verdicts of greedy replies.

    agreement_with_judge   the share of replies with two equal verdicts
    kappa_with_judge       Cohen's kappa of both verdicts; formulas.agreement has the formula

Groups: the judge, and the rule or a person. The rule is compared on a sample of the replies that it decided, and people
on the replies that they judged. Unit of analysis: a greedy reply with both verdicts. Intervals take subjects as
independent, or questions if no subject is named. If only one verdict occurs, kappa is undefined, and missing. Agreement
does not show how often the judge, the rule or a person is right.
"""

from collections.abc import Iterator

from swaymeter.data.records.statistics import SHARE, Summary
from swaymeter.tasks.statistics.formulas.agreement import cohens_kappa, counts_of, kappa_interval
from swaymeter.tasks.statistics.formulas.intervals import Interval, share_interval
from swaymeter.tasks.statistics.frames import iter_groups, sort_frame
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import EMPTY, MODEL

AGREEMENT, KAPPA = "agreement_with_judge", "kappa_with_judge"
GROUP = ("judge", "against")


def agreement(frames: Frames, seed: int) -> list[Row]:
    """Return the rows of `Summary`: the share of agreement and kappa, by model, judge, and rule or person."""
    frame = sort_frame(frames["judged_greedy_answers"], [*MODEL, "judge", "question_id", "context_id"])
    frame = frame.astype(dict.fromkeys(("verdict", "rule", "person", "subject_key"), object))
    has_subjects = (frame["subject_key"] != frame["question_id"].astype(object)).any()
    over = "subject" if has_subjects else "question"
    return [row | {"interval_over": None if row["low"] is None else over} for row in _rows(frame, seed)]


def _rows(frame: Frame, seed: int) -> Iterator[Row]:
    for about, answers in iter_groups(frame, [*MODEL, "judge"]):
        for against in ("rule", "person"):
            both = answers[answers["verdict"].notna() & answers[against].notna()]
            if both.empty:
                continue
            verdicts, other_verdicts = both["verdict"].tolist(), both[against].tolist()
            same = [float(first == second) for first, second in zip(verdicts, other_verdicts, strict=True)]
            clusters = both["subject_key"].astype(str).tolist()
            common = {
                **EMPTY,
                **{name: about[name] for name in MODEL},
                "grouped_by": list(GROUP),
                "group_values": [about["judge"], against],
                "unit_of_analysis": "answer",
                "n": len(same),
                "prompts": len(same),
            }
            share = share_interval(same, clusters)
            yield {**common, "quantity": AGREEMENT, "unit": SHARE, "mean": sum(same) / len(same), **_ends(share)}
            kappa = cohens_kappa(counts_of(verdicts, other_verdicts))
            interval = Interval(share.clusters)
            if kappa is not None:
                interval = kappa_interval(verdicts, other_verdicts, clusters, seed)
            yield {**common, "quantity": KAPPA, "unit": "", "mean": kappa, **_ends(interval)}


def _ends(interval: Interval) -> Row:
    return {"items": interval.clusters, "low": interval.low, "high": interval.high}


AGREEMENT_WITH_JUDGE = Statistic("judge_agreement", 2, Summary, ("judged_greedy_answers",), agreement)
