"""The spread of entity-independent persuasion: how far contexts persuade whatever the entity asked about.

    kappa(c)    of a context before a query form: its mean persuasion over the form's entities
    gamma       of a query form: the mean of kappa over its relation's contexts, one that occurs twice counted twice

Groups: kinds of context, and all of them, by relation and over all relations; query forms (their mean is gamma), and
the wordings of contexts before each. Unit of analysis: a context before a query form.

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Appendix B.
"""

from swaymeter.data.records.statistics import Summary
from swaymeter.tasks.statistics.frames import sorted_by
from swaymeter.tasks.statistics.statistic import Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, RELATION, TYPE, summaries

QUANTITY = "entity_independent_persuasion"
UNIT_OF_ANALYSIS = "context before a query form"


def compute(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary` for entity-independent persuasion, and for the entities that it is over."""
    frame = sorted_by(frames["entity_independent_of_contexts"], [*RELATION, "form", "kind", "context_id"])
    rows = []
    for keys in ((*RELATION, "kind"), RELATION, (*TYPE, "kind"), MODEL):
        rows += summaries(
            frame, keys, QUANTITY, unit_of_analysis=UNIT_OF_ANALYSIS, quantiles=True,
            others=lambda group: {"items": int(group["context_id"].nunique())},
        )  # fmt: skip
    for of_form in ((*RELATION, "form"), (*RELATION, "form", "kind", "template")):
        rows += summaries(
            sorted_by(frame, [*of_form, "context_id"]), of_form, QUANTITY, unit_of_analysis="context", interval=True,
            quantiles=True, others=lambda group: {"items": int(group["context_id"].nunique())},
        )  # fmt: skip
    return rows + summaries(frame, MODEL, "entities", unit="", unit_of_analysis=UNIT_OF_ANALYSIS, quantiles=True)


STATISTIC = Statistic("entity_independent_spread", 3, Summary, ("entity_independent_of_contexts",), compute)
