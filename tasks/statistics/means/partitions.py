"""Accuracy, uncertainty and persuasion of a partition's questions, and what contexts do to the uncertainty.

Groups: partitions under a context; all stands for every partition, and for every context of a question (an instance is
a question with a context; DynamicQA has two a question). Entropies of instances also by what the context did to the
greedy answer: by whose answer it states, and as published, by ROUGE-L. Unit of analysis: a question under a condition.
Coherent persuasion also by the number of edits of the fact, its creation counted; a disputable question has none.
Intervals draw whole subjects: questions about one subject, and the contexts of one question, depend on each other.
A disputable question without a context has no right answer, and counts for no accuracy, not for the pooled one either.
What rests on fewer than 5 sampled answers is in no mean.

Source: Marjanovic et al. 2024, DynamicQA, Tables 1 and 2, Figures 2 and 4, sections 1 and 6.5.
"""

from collections.abc import Iterator

import numpy as np

from swaymeter.data.records.statistics import EDITS, Summary
from swaymeter.tasks.statistics.frames import ALL, WITH, WITHOUT, of_enough_samples, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, summaries

GROUPS = ("partition", "condition")
ENTROPIES = ("semantic_entropy", "semantic_entropy_length_normalised")
SAMPLED = (*ENTROPIES, "semantic_entropy_rao", "cluster_assignment_entropy")
OF_QUESTIONS = {"accuracy": ("accurate", "share"), **{name: (name, "nats") for name in SAMPLED}}
"""What questions have under every condition: the column, and the unit of its mean."""

OF_INSTANCES = {
    "coherent_persuasion": ("coherent_persuasion", "nats"),
    "coherent_persuasion_unchanged": ("coherent_persuasion_unchanged", "nats"),
    "following": ("is_following", "share"),
    "persuaded": ("is_persuaded", "share"),
    "stubborn": ("is_stubborn", "share"),
    "persuaded_as_published": ("persuaded_as_published", "share"),
    "stubborn_as_published": ("stubborn_as_published", "share"),
}
BY_OUTCOME = tuple(f"{entropy}_{what}" for entropy in ENTROPIES for what in ("without", "with", "change"))
OUTCOMES = {
    "persuaded": "is_persuaded",
    "stubborn": "is_stubborn",
    "persuaded as published": "persuaded_as_published",
    "stubborn as published": "stubborn_as_published",
}
"""The columns, 1 or 0, that say of an instance what became of the greedy answer."""


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for every quantity of `OF_QUESTIONS`, `OF_INSTANCES` and `BY_OUTCOME`."""
    rows: list[Row] = []
    for values, quantities in (
        (of_enough_samples(frames["answers_of_questions"], SAMPLED), OF_QUESTIONS),
        (_instances(frames["instances"]), OF_INSTANCES),
    ):
        pooled = _pooled(values)
        for quantity, (column, unit) in quantities.items():
            rows += _means(pooled, GROUPS, column, quantity, unit, seed)
    instances = _pooled(_with_outcomes(_instances(frames["instances"])))
    for quantity in BY_OUTCOME:
        rows += _means(instances, (*GROUPS, "outcome"), quantity, quantity, "nats", seed)
    edited = instances[(instances["outcome"] == ALL) & (instances["partition"] == ALL)].dropna(subset=["edits"])
    classes = np.searchsorted([*EDITS.values()], edited["edits"].to_numpy(dtype="float64"), side="right")
    edited = edited.assign(edits=np.array([*EDITS], dtype=object)[classes])
    moved = "coherent_persuasion"
    return [*rows, *_means(edited, ("condition", "edits"), moved, moved, "nats", seed)]


def _instances(frame: Frame) -> Frame:
    """The instances with outcomes as 1, 0 or missing, and with the change of both entropies.

    Shares of answers that follow, or are persuaded, are of the instances whose context states an answer.
    """
    frame = of_enough_samples(frame, ["coherent_persuasion"], (WITH, WITHOUT))
    frame = of_enough_samples(frame, ["coherent_persuasion_unchanged"], (WITHOUT,), parts=2)
    for count, when in ((WITH, "with"), (WITHOUT, "without")):
        frame = of_enough_samples(frame, [f"{name}_{when}" for name in ENTROPIES], (count,))
    outcome = frame["outcome"].astype(object)
    measured = outcome != "unmeasured"
    stating = measured & frame["states_answer"].fillna(value=False).astype(bool)
    return frame.assign(
        is_following=outcome.isin(("persuaded", "agreed")).astype("float64").where(stating),
        is_persuaded=(outcome == "persuaded").astype("float64").where(stating),
        is_stubborn=(outcome == "stubborn").astype("float64").where(measured),
        **{f"{name}_change": frame[f"{name}_with"] - frame[f"{name}_without"] for name in ENTROPIES},
    )


def _pooled(frame: Frame) -> Frame:
    """The rows, again for every context together, and all of these again for every partition together."""
    import pandas as pd

    frame = sorted_by(frame, [*MODEL, "relation", "question_id", "context_id"])
    frame = frame.astype(dict.fromkeys(GROUPS, object))
    frame = frame.assign(subject=pd.factorize(frame["subject_key"], sort=True)[0])
    every_context = frame[frame["condition"] != "none"].assign(condition=ALL)
    frame = pd.concat([frame, every_context])
    return pd.concat([frame, frame.assign(partition=ALL)])


def _with_outcomes(frame: Frame) -> Frame:
    """The instances, again for each outcome that they have."""
    import pandas as pd

    parts = [frame.assign(outcome=ALL)]
    for outcome, column in OUTCOMES.items():
        had = frame[column].astype("float64") == 1
        parts.append(frame[had].assign(outcome=outcome))
    return pd.concat(parts)


def _means(frame: Frame, groups: tuple[str, ...], column: str, quantity: str, unit: str, seed: int) -> Iterator[Row]:
    values = frame.dropna(subset=[column]).astype({column: "float64"})
    yield from summaries(
        values, [*MODEL, *groups], column, unit=unit, quantity=quantity, unit_of_analysis="question under a condition",
        interval=True, clusters="subject", over="subject", seed=seed,
    )  # fmt: skip


STATISTIC = Statistic("partition_means", 8, Summary, ("answers_of_questions", "instances"), compute)
