r"""LaTeX that compiles and Markdown, whatever the content is: tables, figures with captions, a document of all.

Content stays text. In LaTeX every special character is escaped, accents become commands, and a character that the fonts
of pdfLaTeX lack is written as its code point, such as [U+6771]; Markdown and CSV have the character itself.
"""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from swaymeter.data.escaping import latex, markdown
from swaymeter.reports.figures.figure import Drawn
from swaymeter.reports.page import cell, heading
from swaymeter.reports.tables import Filled

MAX_ROWS = 120
"""Rows of a table in print, whose readers have no CSV beside it: more than the page shows."""
LONG = 40
"""Rows of a table that still fit on a page."""
WIDE = 5
"""Columns of a table that still fit into a column of text."""
_NEEDS = "% needs \\usepackage[T1]{{fontenc}} and \\usepackage{{{}}}\n"
"""The first line of a file: what the document that takes it in has to load."""
_SMALL = r"\scriptsize\setlength{\tabcolsep}{3pt}"
_FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"
_PROSE, _NAME = 28, 12


def latex_table(filled: Filled) -> str:
    """A table as booktabs LaTeX, its numbers as the page shows them; longer than a page, it continues in another."""
    caption, columns, lines = _contents(filled)
    cells = pd.DataFrame([list(map(latex, line)) for line in lines], columns=list(map(_stacked, columns)))
    formats = "".join(map(_format, filled.shown.dtypes, zip(*lines, strict=True)))
    label, parts = f"tab:{filled.table.name}", []
    for number, start in enumerate(range(0, len(cells), LONG)):
        words = f"{filled.table.title}, continued." if number else f"{filled.table.title}. {caption}"
        part_label = f"{label}-{number + 1}" if number else label
        parts.append(_part(cells[start : start + LONG], formats, words, part_label))
    return _NEEDS.format("booktabs,graphicx") + "\n".join(parts)


def markdown_table(filled: Filled) -> str:
    """A table with its title and caption, its numbers as the page shows them."""
    caption, columns, lines = _contents(filled)
    return f"**{markdown(filled.table.title)}.** {markdown(caption)}\n\n{grid(columns, lines)}"


def grid(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns and rows of any texts as a table of Markdown."""
    head, *lines = (f"| {' | '.join(map(markdown, line))} |" for line in (columns, *rows))
    return "\n".join((head, "| --- " * len(columns) + "|", *lines)) + "\n"


def _contents(filled: Filled) -> tuple[str, list[str], list[list[str]]]:
    """The caption, the names of columns and the first rows of a table, as the page shows them."""
    shown = filled.shown
    units = {name: shown.attrs.get("units", {}).get(name, "") for name in shown}
    more = f" The first {MAX_ROWS} of {len(shown)} rows; the CSV has all." if len(shown) > MAX_ROWS else ""
    rows = shown.head(MAX_ROWS).itertuples(index=False, name=None)
    lines = [[cell(value, units[name]) for name, value in zip(units, row, strict=True)] for row in rows]
    return filled.caption + filled.in_common + more, [heading(str(name), unit) for name, unit in units.items()], lines


def _part(cells: pd.DataFrame, formats: str, caption: str, label: str) -> str:
    """Escaped cells as a table that is no wider than its place; braces around a name are never of the content."""
    tabular: str = cells.to_latex(
        index=False, escape=False, column_format=formats, caption=latex(caption), label=label, position="tbp"
    )
    tabular = tabular.replace("{table}", "{table*}" if len(cells.columns) > WIDE else "{table}")
    tabular = tabular.replace(r"\begin{tabular}", f"{_SMALL}\n\\centering\n{_FITTED}{{%\n\\begin{{tabular}}", 1)
    return tabular.replace(r"\end{tabular}", "\\end{tabular}}", 1)


def _stacked(text: str) -> str:
    """A column's name in lines that are no wider than a number."""
    lines = [latex(line) for line in textwrap.wrap(text, _NAME)] or [""]
    return r"\shortstack[l]{" + r" \\ ".join(lines) + "}" if len(lines) > 1 else lines[0]


def _format(dtype: Any, cells: Sequence[str]) -> str:
    if pd.api.types.is_numeric_dtype(dtype):
        return "r"
    return "p{0.18\\linewidth}" if max(map(len, cells)) > _PROSE else "l"


def figure(drawn: Drawn) -> str:
    """A figure's environment with its caption."""
    caption = latex(f"{drawn.figure.question} {drawn.caption}")
    return _NEEDS.format("graphicx") + (
        "\\begin{figure}[tbp]\n\\centering\n"
        f"\\includegraphics[width=\\linewidth,height=0.85\\textheight,keepaspectratio]{{figures/{drawn.name}.pdf}}\n"
        f"\\caption{{{caption}}}\n\\label{{fig:{drawn.name}}}\n\\end{{figure}}\n"
    )


def document(name: str, figures: Iterable[str], tables: Iterable[str]) -> str:
    """A document of two columns that has every figure and table, to see that all compile and to copy from."""
    inputs = [f"\\input{{figures/{stem}.tex}}\n\\clearpage" for stem in figures]
    inputs += [f"\\input{{tables/{stem}.tex}}\n\\clearpage" for stem in tables]
    return (
        "\\documentclass[twocolumn]{article}\n\\usepackage[T1]{fontenc}\n"
        "\\IfFileExists{lmodern.sty}{\\usepackage{lmodern}}{}\n\\usepackage{booktabs,graphicx}\n"
        "\\usepackage[a4paper,hmargin=17mm,vmargin=20mm]{geometry}\n\\setlength{\\columnsep}{8mm}\n"
        f"\\title{{{latex(name)}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n"
        + "\n".join(inputs)
        + "\n\\end{document}\n"
    )
