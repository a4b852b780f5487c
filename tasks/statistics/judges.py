"""How well a judge, another language model, agrees with the rule by words on whose answer a greedy answer states.

    agreement_with_judge   the share of answers on which both verdicts are the same
    kappa_with_judge       Cohen's kappa of both verdicts; formulas.agreement has it

Groups: all answers of a model, and those to which a number or date, a yes or no, or a name or words are looked for.
Unit of analysis: a greedy answer that the judge has a verdict on; `prompts` counts those without one, too. Intervals
take subjects as independent, or questions where no subject is named. A kappa that is missing is undefined: judge and
rule gave one verdict alone.
What it is not: how often either is right.
"""

from collections.abc import Iterator

from swaymeter.data.records.statistics import SHARE, Summary
from swaymeter.tasks.statistics.formulas.agreement import cohens_kappa, counts_of, kappa_interval
from swaymeter.tasks.statistics.formulas.intervals import Interval, share_interval
from swaymeter.tasks.statistics.frames import ALL, by, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import EMPTY, MODEL

AGREEMENT, KAPPA = "agreement_with_judge", "kappa_with_judge"
GROUP = ("judge", "answer_kind")


def agreement(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary`: the share of agreement and kappa, of each model, judge and kind of answer."""
    frame = sorted_by(frames["judged_greedy_answers"], [*MODEL, "judge", "question_id", "context_id"])
    frame = frame.astype(dict.fromkeys(("answer_kind", "verdict", "rule", "subject_key"), object))
    differ = frame["subject_key"] != frame["question_id"].astype(object)
    over = "subject" if differ.any() else "question"
    return [row | {"interval_over": None if row["low"] is None else over} for row in _rows(frame, seed)]


def _rows(frame: Frame, seed: int) -> Iterator[Row]:
    for about, answers in by(frame, [*MODEL, "judge"]):
        kinds = {ALL: answers, **dict(iter(answers.groupby("answer_kind", sort=True)))}
        for kind, of_kind in kinds.items():
            judged = of_kind[of_kind["verdict"].notna()]
            one, other = judged["verdict"].tolist(), judged["rule"].tolist()
            same = [float(first == second) for first, second in zip(one, other, strict=True)]
            clusters = judged["subject_key"].astype(str).tolist()
            common = {
                **EMPTY, **{name: about[name] for name in MODEL}, "grouped_by": list(GROUP),
                "group_values": [about["judge"], str(kind)], "unit_of_analysis": "answer", "n": len(same),
                "prompts": len(of_kind),
            }  # fmt: skip
            share = share_interval(same, clusters) if same else Interval(0)
            mean = sum(same) / len(same) if same else None
            yield {**common, "quantity": AGREEMENT, "unit": SHARE, "mean": mean, **_ends(share)}
            kappa = cohens_kappa(counts_of(one, other))
            interval = Interval(share.clusters) if kappa is None else kappa_interval(one, other, clusters, seed)
            yield {**common, "quantity": KAPPA, "unit": "", "mean": kappa, **_ends(interval)}


def _ends(interval: Interval) -> Row:
    return {"items": interval.clusters, "low": interval.low, "high": interval.high}


AGREEMENT_WITH_JUDGE = Statistic("judge_agreement", 2, Summary, ("judged_greedy_answers",), agreement)
