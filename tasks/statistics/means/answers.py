"""How far contexts move the sampled answers of a partition's questions, and how uncertain these are.

Groups: partitions under a context; the same by what the context did to the greedy answer. Unit of analysis: an
instance, that is a question with a context. Beside them the mean standard error of a question's scores.
"""

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import sorted_by
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, summaries

MOVED = "coherent_persuasion"


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for coherent persuasion, semantic entropy and their standard errors."""
    keys = [*MODEL, "condition", "partition"]
    frame = sorted_by(frames["instances"], [*keys, "relation", "question_id", "context_id"]).dropna(subset=[MOVED])
    rows = summaries(frame, keys, MOVED, unit_of_analysis="instance", quantiles=True)
    keys += ["outcome"]
    for entropy in ("semantic_entropy_without", "semantic_entropy_with"):
        both = frame.dropna(subset=[entropy]).assign(beside=entropy)
        rows += summaries(both, keys, entropy, unit_of_analysis="instance")
        rows += summaries(both, [*keys, "beside"], MOVED, unit_of_analysis="instance")
    answers = frames["answers_of_questions"]
    for error in ("semantic_entropy_standard_error", "coherent_persuasion_standard_error"):
        errors = answers.dropna(subset=[error]).sort_values(error)
        rows += summaries(errors, MODEL, error, unit_of_analysis="question under a condition")
    return rows


STATISTIC = Statistic("answer_means", 3, Summary, ("instances", "answers_of_questions"), compute)
