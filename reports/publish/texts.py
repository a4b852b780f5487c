r"""Tables and figures with captions in LaTeX and Markdown, and a LaTeX document with all of them.

The LaTeX compiles with any content. Special characters are escaped, accents become commands, and a character that the
fonts of pdfLaTeX lack becomes its code point, such as [U+6771]. Markdown and CSV have the character itself.
"""

import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from swaymeter.data.escaping import latex, markdown
from swaymeter.reports.figures.figure import DrawnFigure
from swaymeter.reports.page import cell, heading
from swaymeter.reports.tables import FilledTable

MAX_ROWS = 120
"""Upper bound on rows of a table in print."""
ROWS_PER_PAGE = 40
"""Rows of a table that fit on a printed page."""
COLUMNS_PER_TEXT_COLUMN = 5
"""Columns of a table that fit into a column of text; a wider table spans both columns of a page."""
_NEEDS = "% needs \\usepackage[T1]{{fontenc}} and \\usepackage{{{}}}\n"
"""First line of a file: the packages that a document with this file needs."""
_SMALL = r"\scriptsize\setlength{\tabcolsep}{3pt}"
_FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"
_MAX_CELL, _MAX_NAME = 28, 12  # characters of a cell, and of a column's name, in one line


def latex_table(filled: FilledTable) -> str:
    """Return a table as booktabs LaTeX with numbers as in the report; a part has at most ROWS_PER_PAGE rows."""
    caption, columns, rows = _contents(filled)
    cells = pd.DataFrame([list(map(latex, row)) for row in rows], columns=list(map(_stacked, columns)))
    formats = "".join(map(_format, filled.shown.dtypes, zip(*rows, strict=True)))
    label, parts = f"tab:{filled.table.name}", []
    for index, start in enumerate(range(0, len(cells), ROWS_PER_PAGE)):
        words = f"{filled.table.title}, continued." if index else f"{filled.table.title}. {caption}"
        part_label = f"{label}-{index + 1}" if index else label
        parts.append(_part(cells[start : start + ROWS_PER_PAGE], formats, words, part_label))
    return _NEEDS.format("booktabs,graphicx") + "\n".join(parts)


def markdown_table(filled: FilledTable) -> str:
    """Return a table in Markdown with its title and caption, and with numbers as in the report."""
    caption, columns, rows = _contents(filled)
    return f"**{markdown(filled.table.title)}.** {markdown(caption)}\n\n{grid(columns, rows)}"


def grid(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return columns and rows of any texts as a Markdown table."""
    head, *lines = (f"| {' | '.join(map(markdown, line))} |" for line in (columns, *rows))
    return "\n".join((head, "| --- " * len(columns) + "|", *lines)) + "\n"


def _contents(filled: FilledTable) -> tuple[str, list[str], list[list[str]]]:
    """Return the caption, the names of columns and the first rows of a table as texts."""
    shown = filled.shown
    units = {name: shown.attrs.get("units", {}).get(name, "") for name in shown}
    more = f" The first {MAX_ROWS} of {len(shown)} rows; the CSV has all." if len(shown) > MAX_ROWS else ""
    values = shown.head(MAX_ROWS).itertuples(index=False, name=None)
    rows = [[cell(value, units[name]) for name, value in zip(units, row, strict=True)] for row in values]
    return filled.caption + filled.in_common + more, [heading(str(name), unit) for name, unit in units.items()], rows


def _part(cells: pd.DataFrame, formats: str, caption: str, label: str) -> str:
    """Return escaped cells as a table environment that is no wider than the text."""
    # Environments can be replaced by name, because the braces of the content are escaped.
    tabular: str = cells.to_latex(
        index=False, escape=False, column_format=formats, caption=latex(caption), label=label, position="tbp"
    )
    tabular = tabular.replace("{table}", "{table*}" if len(cells.columns) > COLUMNS_PER_TEXT_COLUMN else "{table}")
    tabular = tabular.replace(r"\begin{tabular}", f"{_SMALL}\n\\centering\n{_FITTED}{{%\n\\begin{{tabular}}", 1)
    return tabular.replace(r"\end{tabular}", "\\end{tabular}}", 1)


def _stacked(text: str) -> str:
    """Return a column's name in LaTeX, wrapped to about the width of a number."""
    lines = [latex(line) for line in textwrap.wrap(text, _MAX_NAME)] or [""]
    return r"\shortstack[l]{" + r" \\ ".join(lines) + "}" if len(lines) > 1 else lines[0]


def _format(dtype: Any, cells: Sequence[str]) -> str:
    if pd.api.types.is_numeric_dtype(dtype):
        return "r"
    return "p{0.18\\linewidth}" if max(map(len, cells)) > _MAX_CELL else "l"


def figure(drawn: DrawnFigure) -> str:
    """Return the environment of a figure with its caption."""
    caption = latex(f"{drawn.figure.question} {drawn.caption}")
    return _NEEDS.format("graphicx") + (
        "\\begin{figure}[tbp]\n\\centering\n"
        f"\\includegraphics[width=\\linewidth,height=0.85\\textheight,keepaspectratio]{{figures/{drawn.name}.pdf}}\n"
        f"\\caption{{{caption}}}\n\\label{{fig:{drawn.name}}}\n\\end{{figure}}\n"
    )


def document(name: str, figures: Iterable[str], tables: Iterable[str]) -> str:
    """Return a two-column document with every figure and table, to test that the figures and tables compile."""
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
