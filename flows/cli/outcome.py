"""The outcome of a run or an audit on the terminal: a table, the main finding, thresholds, caveats and paths.

The table has a row for each bar of the headline figure, and a column for each part of the bars. If the terminal has
room, a dim column has the names of numbers, such as follow.supporting. The table is printed before the page is drawn;
notes and paths are printed after the page is drawn. A terminal of 80 columns shows at most 20 lines.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from swaymeter.data.records.findings import Bar, Findings, GateCheck, HeadlineFigure, Part, whole_percent
from swaymeter.data.records.statistics import SHARE

MAX_LINES = 14
"""Upper bound on the lines of an outcome with its notes, without the line `computed now` and the paths at its end."""
MAX_ROWS, MAX_NUMBERS, MAX_CHECKS, MAX_FINDINGS, MAX_CAVEATS = 6, 2, 2, 3, 3
"""Upper bounds on the rows of the table, and on the lines that begin with number, gate, found or caveat."""
KEY_WIDTH = 9
"""Width of the first word of a line, such as `gate`, in columns of the terminal."""
_LABEL_START = re.compile("^with (an? )?")
"""Beginning of a label that the table omits, such as \"with a \" in \"with a supporting passage\"."""
_HEADS: Mapping[str, str] = {"passage": "passage's answer"}
"""Heads of columns, by the name of the part; other columns have the name of their part as head."""


def show_outcome(console: Console, name: str, findings: Findings, note_count: int = 0) -> None:
    """Print the headline figure, the main finding (`=>`), further findings, thresholds (`gate`), and caveats.

    Args:
        console: The terminal.
        name: Name of the study.
        findings: Findings of the report.
        note_count: Number of lines to leave free for notes, which are printed after the page is drawn.
    """
    chart = findings.figure
    console.print(Text(f"{name} · {chart.basis}" if chart else name), soft_wrap=True)
    used = 1 + (_show_figure(console, chart) if chart else 0)
    if findings.verdict:
        _line(console, "=>", Text(findings.verdict, "bold"), whole=True)
        used += 1 + (cell_len(findings.verdict) > console.width - 3)  # a long sentence after "=> " takes two lines
    gate = list(_checks(findings.gate))
    room = MAX_LINES - used - len(gate) - note_count
    caveat_limit = max(1, min(MAX_CAVEATS, room))
    claims = [claim for claim in findings.headline if not claim.pictured]
    for claim in claims[: max(0, min(MAX_FINDINGS, room - min(caveat_limit, len(findings.caveats))))]:
        _line(console, "found", Text(claim.line))
    for line in gate:
        _line(console, "gate", line)
    caveats = findings.caveats if len(findings.caveats) <= caveat_limit else findings.caveats[: caveat_limit - 1]
    for caveat in caveats:
        _line(console, "caveat", Text(caveat.strip()))
    if len(caveats) < len(findings.caveats):
        _line(console, "caveat", Text(f"{len(findings.caveats) - len(caveats)} more on the page"))


def show_notes(console: Console, notes: Sequence[str]) -> None:
    """Print lines about a run, none of them cut."""
    for note in notes:
        _line(console, "note", Text(note), whole=True)


def _checks(gate: Sequence[GateCheck]) -> Iterator[Text]:
    """Yield a line for each threshold, unmet thresholds first; if there are too many, the first lines and a count."""
    failed = sum(bool(check.reason) for check in gate)
    shown = MAX_CHECKS if len(gate) <= MAX_CHECKS else MAX_CHECKS - 1
    for check in sorted(gate, key=lambda check: not check.reason)[:shown]:
        outcome = Text("FAIL", "bold red") if check.reason else Text("pass", "green")
        variant = f" ({check.variant})" if len({each.variant for each in gate}) > 1 else ""
        yield Text.assemble(outcome, f"  {check.name} {check.measured}, bound {check.bound}{variant}")
    if len(gate) > shown:
        met = f"{failed} of {len(gate)} thresholds are not met" if failed else f"all {len(gate)} thresholds are met"
        yield Text(met)


def show_paths(console: Console, outputs: Mapping[str, Path]) -> None:
    """Print the paths that exist, but the workspace only if there is no database."""
    for word, path in outputs.items():
        if path.exists() and not (word == "workspace" and "database" in outputs and outputs["database"].exists()):
            console.print(Text.assemble(f"{word:<{KEY_WIDTH}}", str(path)), soft_wrap=True)


def _line(console: Console, key: str, text: Text, *, whole: bool = False) -> None:
    """Print `key`, such as `gate`, and the text; a terminal cuts the line at its width, unless `whole` is True."""
    line = Text.assemble(f"{key:<{KEY_WIDTH}}" if len(key) > 2 else f"{key} ".lstrip(), text)
    if console.is_terminal and not whole:
        line.truncate(console.width, overflow="ellipsis")
    console.print(line, soft_wrap=not (console.is_terminal and whole))


def _show_figure(console: Console, chart: HeadlineFigure) -> int:
    """Print the figure as a table with its lines `number`, and return the count of printed lines."""
    has_variants = any(bar.variant for bar in chart.bars)
    bars = _table_bars(chart, has_variants=has_variants)
    parts = [name for name in chart.parts if any(_occurs(bar.part(name), chart.unit) for bar in bars)]
    labels = [f"{_LABEL_START.sub('', bar.label)} · {bar.variant}" if has_variants else bar.label for bar in bars]
    cells = [[_cell(bar, name, chart.unit) for name in parts] for bar in bars]
    columns = [labels, *([row[at] for row in cells] for at in range(len(parts)))]
    heads = ["", *(_HEADS.get(name, name) for name in parts)]
    widths = [max(cell_len(text) for text in (head, *column)) for head, column in zip(heads, columns, strict=True)]
    names = [bar.name for bar in bars]
    has_name_column = any(names) and sum(widths) + 2 * len(widths) + max(map(cell_len, names)) <= console.width
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, show_edge=False, header_style="")
    for head in heads:
        table.add_column(Text(head), no_wrap=True, overflow="ellipsis")
    if has_name_column:
        table.add_column("", style="dim", no_wrap=True)
    for label, row, name in zip(labels, cells, names, strict=True):
        table.add_row(Text(label), *map(Text, row), *([Text(name)] if has_name_column else []))
    console.print(table)
    number_lines = [f"{bar.threshold_words}{f' · {bar.variant}' * has_variants}" for bar in bars if bar.threshold]
    for text in number_lines[:MAX_NUMBERS]:
        _line(console, "number", Text(text, "dim"))
    if omitted := len(chart.bars) + chart.omitted - len(bars):
        _line(console, "", Text(f"{omitted} more rows on the page", "dim"))
    return 1 + len(bars) + len(number_lines[:MAX_NUMBERS]) + bool(omitted)


def _table_bars(chart: HeadlineFigure, *, has_variants: bool) -> Sequence[Bar]:
    """Return the bars for at most MAX_ROWS rows; with variants, all bars of the first labels."""
    if not has_variants or len(chart.bars) <= MAX_ROWS:
        return chart.bars[:MAX_ROWS]
    labels = list(dict.fromkeys(bar.label for bar in chart.bars))
    per_label = max(sum(bar.label == label for bar in chart.bars) for label in labels)
    shown_labels = labels[: max(1, MAX_ROWS // per_label)]
    return [bar for bar in chart.bars if bar.label in shown_labels][:MAX_ROWS]


def _occurs(part: Part | None, unit: str) -> bool:
    return part is not None and (part.mean > 0 or unit != SHARE)


def _cell(bar: Bar, name: str, unit: str) -> str:
    """Return a part of a bar as text: a mean with its interval, a count, or a share (with interval if main part)."""
    part = bar.part(name)
    if part is None:
        return "-"
    if unit != SHARE:
        ends = "" if part.low is None or part.high is None else f" [{part.low:.2f},{part.high:.2f}]"
        return f"{part.mean:.2f}{ends}"
    if not bar.has_shares:
        return f"{part.count} of {bar.n}"
    ends = part.interval.replace(" ", "") if name == bar.main else ""
    return f"{whole_percent(part.mean)}% {ends}".strip()
