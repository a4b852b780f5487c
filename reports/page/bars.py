"""Rows of the headline figure for HTML and SVG: positions of parts in percent, and words beside them."""

from dataclasses import dataclass
from itertools import groupby

from swaymeter.data.records.findings import Bar, HeadlineFigure, whole_percent
from swaymeter.data.records.statistics import SHARE
from swaymeter.reports.headline import PART_NAMES, shown_parts

LEAST_WRITTEN = 0.07
"""Smallest share whose number is written into its part."""
SHORTEST_SCALE = 1e-9
"""Lower bound on the largest value of a scale; it prevents a division by 0."""
SCALE_WIDTH = 98
"""Position of the largest value of a scale, in percent of the width; the rest is room for the right half of a dot."""


@dataclass(frozen=True)
class Mark:
    """A part of a row; positions are in percent of the row's width.

    Attributes:
        kind: CSS class of the part's colour.
        x: Left end of a share, or the mean.
        width: Width of a share; 0 for a mean.
        words: The number in words, for a tooltip and for readers who cannot see the figure.
        text: The number that is written into the part; "" if the part is too small.
        address: Page and anchor of the replies that the part counts; "" without a page.
        low: Left end of the interval; None without an interval.
        high: Right end of the interval; None without an interval.
    """

    kind: str
    x: float
    width: float
    words: str
    text: str
    address: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Row:
    """A row of the figure."""

    variant: str
    """Label of the variant; "" if there is only one."""
    marks: tuple[Mark, ...]
    number: str
    """Main number of the row with its interval, as text."""
    name: str
    """Name of the main number in thresholds, such as `follow.conflicting`; "" without such a name."""
    threshold: str = ""
    """Name and value of another number that thresholds compare, as text; "" without such a number."""


def groups(chart: HeadlineFigure) -> list[tuple[str, list[Row]]]:
    """Return the labels of a figure, each with its rows."""
    largest = max((part.high or part.mean for bar in chart.bars for part in bar.parts), default=0.0)
    draw = stacked if chart.unit == SHARE else dotted
    scale = max(largest, SHORTEST_SCALE)
    by_label = groupby(chart.bars, key=lambda bar: bar.label)
    return [(label, [draw(chart, bar, scale) for bar in bars]) for label, bars in by_label]


def legend(chart: HeadlineFigure) -> list[tuple[str, str]]:
    """Return the CSS class and the words of each part that occurs."""
    return [(kind_of(chart, name), PART_NAMES.get(name, name)) for name in shown_parts(chart)]


def kind_of(chart: HeadlineFigure, name: str) -> str:
    """Return the CSS class of a part, such as "wrong" for a share and "mean-0" for a mean.

    The class of a mean has the part's index, because users can choose the part's name.
    """
    return name if chart.unit == SHARE else f"mean-{chart.parts.index(name)}"


def stacked(chart: HeadlineFigure, bar: Bar, scale: float) -> Row:
    """Return the row of a bar of shares; a share needs no `scale`.

    The main part comes first and begins at 0, because the ends of its interval are measured from 0.
    """
    start, marks, main = 0.0, [], bar.part(bar.main)
    for part in sorted(bar.parts, key=lambda part: part.name != bar.main):
        low, high = (part.low, part.high) if part is main else (None, None)
        if not part.mean and low is None:
            continue
        share = f"{whole_percent(part.mean)}%"
        words = f"{PART_NAMES.get(part.name, part.name)}: {part.count} of {bar.n} replies, {share} {part.interval}"
        ends = (None if end is None else 100 * end for end in (low, high))
        text = share if part.mean >= LEAST_WRITTEN else ""
        address = part.address if part.mean else ""
        marks.append(Mark(part.name, 100 * start, 100 * part.mean, words.strip(), text, address, *ends))
        start += part.mean
    number = f"{main.count if main else 0} of {bar.n}"
    if main and bar.has_shares:
        number = f"{whole_percent(main.mean)}% {main.interval}"
    return Row(
        bar.variant,
        tuple(marks),
        f"{PART_NAMES.get(bar.main, bar.main)} {number}".strip(),
        bar.name,
        bar.threshold_words,
    )


def dotted(chart: HeadlineFigure, bar: Bar, scale: float) -> Row:
    """Return the row of a bar of means: dots on a scale from 0 to the largest end of an interval."""
    marks = []
    for part in bar.parts:
        low, high = (None if end is None else SCALE_WIDTH * max(end, 0.0) / scale for end in (part.low, part.high))
        ends = f" [{part.low:.2f}, {part.high:.2f}]" if part.low is not None and part.high is not None else ""
        words = f"{bar.label}, {part.name}: {part.mean:.2f}{ends} {chart.unit}"
        x = SCALE_WIDTH * part.mean / scale
        marks.append(Mark(kind_of(chart, part.name), x, 0.0, words, "", part.address, low, high))
    number = " · ".join(f"{part.name} {part.mean:.2f}" for part in bar.parts)
    return Row(bar.variant, tuple(marks), number, bar.name)
