"""Declaration of a figure, and its drawing for one model."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import pandas as pd
from matplotlib.figure import Figure as Canvas

from swaymeter.data.catalog import paper_items
from swaymeter.data.errors import InputError
from swaymeter.reports.estimates import stood_in
from swaymeter.reports.frames import Frames, is_audit, with_empty
from swaymeter.reports.models import EVERY_MODEL, RUNS, Model, models, rows_of
from swaymeter.reports.published import Printed, of_papers, printed_of

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
"""(model, frames of its rows alone, all but the first perhaps empty) -> the drawing; None where there is none."""


@dataclass(frozen=True)
class Figure:
    """A figure that a page can have.

    name: of its files, before the model's. question: its title. picture: what is drawn, for those who cannot see it.
    queries: the named queries of the warehouse that it
    reads, first the one without whose rows there is no figure of a model. measures: those whose stand-ins the caption
    names. expected: whether the page says so where it is omitted. items: what of the papers it draws, by the
    keys of papers.yaml, as in du-fig-3; the caption ends with them. of_models: whether it is drawn once, of all models;
    `draw` then receives EVERY_MODEL, and the rows of all.
    """

    name: str
    question: str
    picture: str
    queries: tuple[str, ...]
    draw: Draw
    measures: tuple[str, ...] = ()
    expected: Callable[[Frames], bool] = lambda frames: True
    items: tuple[str, ...] = ()
    of_models: bool = False


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
    kept = {figure: [one for one in drawn if len(one.drawing.numbers) > 1] for figure, drawn in drawings.items()}
    omitted = [
        figure.question + SINGLE * bool(drawings[figure])
        for figure, drawn in kept.items() if not drawn and (drawings[figure] or figure.expected(frames))
    ]  # fmt: skip
    return [drawn for of_figure in kept.values() for drawn in of_figure], omitted


def as_in(items: Sequence[str]) -> str:
    """A caption's last sentence: what of the papers a figure or table shows; empty where it is in none.

    InputError where one is no key of papers.yaml.
    """
    known = paper_items()
    if unknown := [item for item in items if item not in known]:
        known_one = next(iter(known))
        raise InputError(f"`items` names {unknown[0]!r}, which papers.yaml lacks; its keys are such as {known_one}")
    of_papers: dict[str, list[str]] = {}
    for item in items:
        of_papers.setdefault(known[item].paper.short, []).append(known[item].label)
    words = [f"{short}, {', '.join(some)}" for short, some in of_papers.items()]
    return f" As in {'; '.join(words)}." if items else ""


def _drawn(figure: Figure, frames: Frames) -> list[Drawn]:
    known = with_empty(frames, (*figure.queries, "stand_ins", RUNS))
    drawings, every = [], models(known[figure.queries[0]])
    in_papers = () if is_audit(frames) else figure.items
    for model in every[:1] and [EVERY_MODEL] if figure.of_models else every:
        frames_of = known
        if not figure.of_models:
            frames_of = {name: rows_of(known[name], model) for name in figure.queries} | {RUNS: known[RUNS]}
        if drawing := figure.draw(model, frames_of):
            names = [one.name for one in (every if figure.of_models else [model])]
            printed = printed_of(in_papers, names, frames_of, listed=True)
            words = stood_in(rows_of(known["stand_ins"], model), figure.measures)
            items = in_papers if of_papers(frames_of) else ()
            caption = drawing.caption + as_in(items) + printed.note + (f" Stand-in: {words}." if words else "")
            drawings.append(Drawn(figure, model, drawing, caption, printed))
    return drawings
