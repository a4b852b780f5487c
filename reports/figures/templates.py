"""How far each wording of contexts persuades, whatever the entity, beside the mean of all contexts ([D] App. B)."""

from functools import partial

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas

from swaymeter.data.records import CONTEXT_KINDS
from swaymeter.reports.estimates import plural, span
from swaymeter.reports.figures.figure import Drawing, Figure
from swaymeter.reports.figures.panels import relation_panels, relations_by
from swaymeter.reports.frames import Frames, Model, in_order, without_unit
from swaymeter.reports.style import INK, KIND_MARKERS, QUERY_HUES, legend_above, mark, strokes

_OFFSET = 0.17


def persuasion_of_templates(axes: Axes, data: pd.DataFrame, forms: pd.DataFrame, relations: list[str]) -> None:
    """Draws kappa of every template in nats, a row per relation and query form; gamma is a stroke across its row.

    `data` has relation, query_type, form, kind and mean; `forms` relation, form and mean; one query type.
    """
    hue = QUERY_HUES[str(forms["query_type"].iloc[0])]
    y = _rows(forms, relations)
    axes.plot(*strokes(forms["mean"], forms["mean"], y - 0.15, y + 0.15), color=INK, linewidth=1.8)
    for kind, shape in KIND_MARKERS.items():
        rows = data[data["kind"] == kind]
        axes.plot(rows["mean"], _rows(rows, relations), shape, color=hue, markersize=3.6, alpha=0.75)
    axes.set_xlabel("entity-independent persuasion (nats)")


def _rows(rows: pd.DataFrame, relations: list[str]) -> pd.Series:
    return rows["relation"].map(relations.index).astype(float) + _OFFSET * (2 * rows["form"].astype(float) - 3)


def draw(model: Model, frames: Frames) -> Drawing | None:
    templates, forms = without_unit(frames["entity_independent_of_templates"]), frames["entity_independent_of_forms"]
    relations = relations_by(forms.groupby(["relation", "query_type"], as_index=False)[["mean"]].mean(), "mean")
    order = {"relation": relations, "query_type": QUERY_HUES, "form": (1, 2)}
    templates, forms = in_order(templates, **order, kind=CONTEXT_KINDS), in_order(forms, **order)
    count = templates[["relation", "template"]].drop_duplicates().shape[0]
    caption = (
        "A context's entity-independent persuasion (kappa) is its mean persuasion over the entities of a query form; "
        "a template is the wording of a context with slots for the names. Each mark is the mean over the contexts of a "
        "template before a form; the upright stroke is the mean over all contexts of the form (gamma). A relation has "
        "a row for each of the two forms, the first above; further right persuades more. "
        f"{model}; n = {plural(count, 'template')} in {plural(len(relations), 'relation')}, "
        f"{span(templates['contexts'].min(), templates['contexts'].max())} contexts each. Sorted by the open queries' "
        "mean, largest first. The CSV file has 95% intervals over contexts, and the wordings."
    )
    return Drawing(caption, templates, _shown(forms), partial(_paint, templates, forms, relations))


def _shown(forms: pd.DataFrame) -> pd.DataFrame:
    return without_unit(forms).rename(columns={"mean": "gamma"})


def _paint(templates: pd.DataFrame, forms: pd.DataFrame, relations: list[str]) -> Canvas:
    canvas, panels = relation_panels(forms, relations, 0.34, 0.2)
    for kind, axes in panels.items():
        first, second = (rows[rows["query_type"] == kind] for rows in (templates, forms))
        persuasion_of_templates(axes, first, second, relations)
        axes.set_xlim(left=0)
    marks = [mark(shape, f"{kind} contexts") for kind, shape in KIND_MARKERS.items()]
    legend_above(canvas, [*marks, mark("|", "mean of all contexts", INK)])
    return canvas


FIGURE = Figure(
    "entity-independent-by-template",
    "Which wordings of contexts persuade most, whatever the entity asked about?",
    "Dot plot of entity-independent persuasion in nats by relation and template",
    ("entity_independent_of_templates", "entity_independent_of_forms"),
    draw,
    measures=("entity_independent_persuasion",),
    items=("du-app-b",),
)
