"""Declaration of a figure, and its drawing for one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from swaymeter.data.catalog import paper_items
from swaymeter.data.errors import InputError
from swaymeter.reports.estimates import stand_in_words
from swaymeter.reports.frames import Frames, is_audit, with_empty
from swaymeter.reports.models import EVERY_MODEL, RUNS, Model, models, rows_of
from swaymeter.reports.published import PublishedValues, is_comparable_with_papers, published_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SINGLE = " It would be a single mark."
"""Sentence after the question of a figure that is omitted because it would have a single mark."""


@dataclass(frozen=True)
class Drawing:
    """The content of a figure for one model.

    Attributes:
        caption: Text that explains the drawing.
        numbers: Rows of the CSV file.
        shown: Rows of the table on the page.
        paint: Function that returns the painted canvas.
    """

    caption: str
    numbers: pd.DataFrame
    shown: pd.DataFrame
    paint: Callable[[], Canvas]


Draw = Callable[[Model, Frames], Drawing | None]
"""Function from a model and the frames of its rows to a drawing; None if there is nothing to draw.

The frame of the figure's first query has rows; other frames can be empty.
"""


@dataclass(frozen=True)
class Figure:
    """The declaration of a figure of the page.

    Attributes:
        name: Beginning of the names of the figure's files; the model's name follows.
        question: Title of the figure.
        picture: Description of the drawing for readers who cannot see it.
        queries: Named queries of the warehouse. A model without rows of the first query has no figure.
        draw: Function that draws the figure of a model.
        measures: Measures whose stand-in models the caption names.
        expected: Function from frames to True if the page mentions the figure even without a drawing.
        items: Items of papers.yaml that the figure draws, such as du-fig-3. The caption cites these items.
        shows_all_models: True if one drawing shows all models; `draw` then receives EVERY_MODEL and all rows.
    """

    name: str
    question: str
    picture: str
    queries: tuple[str, ...]
    draw: Draw
    measures: tuple[str, ...] = ()
    expected: Callable[[Frames], bool] = lambda frames: True
    items: tuple[str, ...] = ()
    shows_all_models: bool = False


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with its drawing for one model.

    Attributes:
        figure: The declared figure.
        model: The model, or EVERY_MODEL.
        drawing: The drawing of the model.
        caption: Caption of the drawing, and after it the papers' items, the published values and the stand-in models.
        published: Published values to compare the drawn values with.
    """

    figure: Figure
    model: Model
    drawing: Drawing
    caption: str
    published: PublishedValues = field(default_factory=PublishedValues, repr=False)

    @property
    def name(self) -> str:
        return f"{self.figure.name}-{self.model.slug}"

    @property
    def alt(self) -> str:
        """The alternative text of the picture."""
        return f"{self.figure.picture}, of {self.model}. The numbers stand in the table below."


def draw_all(figures: Iterable[Figure], frames: Frames) -> tuple[list[DrawnFigure], list[str]]:
    """Draw every figure for every model.

    Returns:
        The drawn figures, and the questions of the omitted figures that the page mentions. A figure is omitted if the
        figure has no drawing or a single mark. A single mark shows no more than a number.
    """
    drawn, omitted = list[DrawnFigure](), list[str]()
    for figure in figures:
        drawings = _draw_by_model(figure, frames)
        multi_mark_drawings = [each for each in drawings if len(each.drawing.numbers) > 1]
        drawn += multi_mark_drawings
        if drawings and not multi_mark_drawings:
            omitted.append(figure.question + SINGLE)
        elif not drawings and figure.expected(frames):
            omitted.append(figure.question)
    return drawn, omitted


def as_in(items: Sequence[str]) -> str:
    """Return the caption's sentence that cites figures and tables of the papers; empty without items.

    Raises:
        InputError: An item is not a key of papers.yaml.
    """
    printed_items = paper_items()
    if unknown := [item for item in items if item not in printed_items]:
        example = next(iter(printed_items))
        raise InputError(
            f"`items` has {unknown[0]!r}, which is not a key of papers.yaml; use a key of that file, such as {example}"
        )
    by_paper: dict[str, list[str]] = {}
    for item in items:
        by_paper.setdefault(printed_items[item].paper.short, []).append(printed_items[item].label)
    words = [f"{short}, {', '.join(numbers)}" for short, numbers in by_paper.items()]
    return f" As in {'; '.join(words)}." if items else ""


def _draw_by_model(figure: Figure, frames: Frames) -> list[DrawnFigure]:
    filled = with_empty(frames, (*figure.queries, "stand_ins", RUNS))
    drawings, scored_models = [], models(filled[figure.queries[0]])
    if not scored_models:
        return []
    compared_items = () if is_audit(frames) else figure.items
    if figure.shows_all_models:
        models_of_drawings = {EVERY_MODEL: [model.name for model in scored_models]}
    else:
        models_of_drawings = {model: [model.name] for model in scored_models}
    for model, names in models_of_drawings.items():
        model_frames = filled
        if not figure.shows_all_models:
            model_frames = {name: rows_of(filled[name], model) for name in figure.queries} | {RUNS: filled[RUNS]}
        if drawing := figure.draw(model, model_frames):
            published = published_of(compared_items, names, model_frames, listed=True)
            stand_ins = stand_in_words(rows_of(filled["stand_ins"], model), figure.measures)
            cited_items = compared_items if is_comparable_with_papers(model_frames) else ()
            stand_in_note = f" Stand-in: {stand_ins}." if stand_ins else ""
            caption = drawing.caption + as_in(cited_items) + published.note + stand_in_note
            drawings.append(DrawnFigure(figure, model, drawing, caption, published))
    return drawings
