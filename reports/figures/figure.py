"""Declaration of a figure, and its drawing for one model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from swaymeter.data.catalog import paper_items
from swaymeter.data.errors import InputError
from swaymeter.reports.estimates import stood_in
from swaymeter.reports.frames import Frames, is_audit, with_empty
from swaymeter.reports.models import EVERY_MODEL, RUNS, Model, models, rows_of
from swaymeter.reports.published import Printed, are_published, printed_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

SINGLE = " It would be a single mark."
"""Sentence behind the question of a figure that would be a single mark."""


@dataclass(frozen=True)
class Drawing:
    """A figure of one model: how to read it, its numbers, and how it is painted.

    `numbers` goes whole into the CSV, `shown` into the page.
    """

    caption: str
    numbers: pd.DataFrame
    shown: pd.DataFrame
    paint: Callable[[], Canvas]


Draw = Callable[[Model, Frames], Drawing | None]
"""Function from a model and the frames of its rows to a drawing, or to None without a drawing.

All frames but the first can be empty.
"""


@dataclass(frozen=True)
class Figure:
    """A figure of the page.

    Attributes:
        name: Stem of its files, before the model's name.
        question: Title of the figure.
        picture: Description of the drawing for readers who cannot see it.
        queries: Named queries of the warehouse. A model without rows of the first query has no figure.
        draw: Function that draws one model, or EVERY_MODEL.
        measures: Measures whose stand-in models the caption names.
        expected: Function from frames to True if the page mentions a missing figure.
        items: Items of papers.yaml that the figure draws, such as du-fig-3; the caption ends with them.
        shows_all_models: If one drawing shows all models; `draw` then receives EVERY_MODEL and all rows.
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
class Drawn:
    """A figure drawn of a model; its caption ends with what of the papers it draws and what stood in for what."""

    figure: Figure
    model: Model
    drawing: Drawing
    caption: str
    printed: Printed = field(default_factory=Printed, repr=False)

    @property
    def name(self) -> str:
        return f"{self.figure.name}-{self.model.slug}"

    @property
    def alt(self) -> str:
        """The picture in words, for those who cannot see it."""
        return f"{self.figure.picture}, of {self.model}. The numbers stand in the table below."


def draw_all(figures: Iterable[Figure], frames: Frames) -> tuple[list[Drawn], list[str]]:
    """Every figure that the frames allow, model by model, and the questions of those that they do not allow.

    A figure of a single mark shows nothing that its number does not say, and is omitted, too.
    """
    drawings = {figure: _drawn(figure, frames) for figure in figures}
    by_figure = {
        figure: [each for each in drawn if len(each.drawing.numbers) > 1] for figure, drawn in drawings.items()
    }
    omitted = [
        figure.question + SINGLE * bool(drawings[figure])
        for figure, drawn in by_figure.items()
        if not drawn and (drawings[figure] or figure.expected(frames))
    ]
    return [drawn for drawn_of_figure in by_figure.values() for drawn in drawn_of_figure], omitted


def as_in(items: Sequence[str]) -> str:
    """A caption's last sentence: what of the papers a figure or table shows; empty where it is in none.

    InputError where one is no key of papers.yaml.
    """
    printed_items = paper_items()
    if unknown := [item for item in items if item not in printed_items]:
        example = next(iter(printed_items))
        raise InputError(f"`items` names {unknown[0]!r}, which papers.yaml lacks; its keys are such as {example}")
    by_paper: dict[str, list[str]] = {}
    for item in items:
        by_paper.setdefault(printed_items[item].paper.short, []).append(printed_items[item].label)
    words = [f"{short}, {', '.join(numbers)}" for short, numbers in by_paper.items()]
    return f" As in {'; '.join(words)}." if items else ""


def _drawn(figure: Figure, frames: Frames) -> list[Drawn]:
    filled = with_empty(frames, (*figure.queries, "stand_ins", RUNS))
    drawings, every = [], models(filled[figure.queries[0]])
    in_papers = () if is_audit(frames) else figure.items
    for model in every[:1] and [EVERY_MODEL] if figure.shows_all_models else every:
        frames_of = filled
        if not figure.shows_all_models:
            frames_of = {name: rows_of(filled[name], model) for name in figure.queries} | {RUNS: filled[RUNS]}
        if drawing := figure.draw(model, frames_of):
            names = [each.name for each in (every if figure.shows_all_models else [model])]
            printed = printed_of(in_papers, names, frames_of, listed=True)
            words = stood_in(rows_of(filled["stand_ins"], model), figure.measures)
            items = in_papers if are_published(frames_of) else ()
            caption = drawing.caption + as_in(items) + printed.note + (f" Stand-in: {words}." if words else "")
            drawings.append(Drawn(figure, model, drawing, caption, printed))
    return drawings
