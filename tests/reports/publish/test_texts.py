import re
import shutil
import subprocess
from pathlib import Path

import pandas as pd
import pytest

from swaymeter.data.escaping import latex, markdown
from swaymeter.reports.page import linked
from swaymeter.reports.page.shell import script_json
from swaymeter.reports.publish.texts import latex_table, markdown_table
from swaymeter.reports.tables import FilledTable, Table
from tests.reports.hostile import HOSTILE

NASTY = (
    *HOSTILE,
    r"\input{/etc/passwd} ^^41 a_b # 50% & ~ {x} --- ''",
    "Ångström Dvořák Nguyễn Łódź ẞ",
    "a | b\n\n| c |",
    "[x](javascript:alert(1)) <b>*_`",
    "x ≥ 3 − ∞ … “q” ≠",
    "București Phở 한 x\u0304 東\u0301",
)


@pytest.mark.parametrize("text", NASTY)
def test_hostile_text_stays_text_in_every_format(text: str) -> None:
    assert latex(text).isascii()
    assert not re.search(r"\\(input|frac)|(?<!\\)[$%&#_]", latex(text))
    assert not re.search(r"(?<!\\)[<>\[\]*_`&|]", markdown(text))
    assert not re.search("[<>\"']", linked(text))
    assert not re.search("[<>&\u2028\u2029]", script_json(text))


def filled_table(rows: int = 1) -> FilledTable:
    cells = pd.DataFrame({"name & unit_1": list(NASTY) * rows, "value": 0.5, "share": [None, *NASTY[1:]] * rows})
    cells.attrs["units"] = {"value": "nats"}
    return FilledTable(Table("nasty", r"100% \nasty", "caption", (), lambda frames: cells), f"A_b {NASTY[2]}.", cells)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r"50% of $x_1$ & #2 {a}", r"50\% of \$x\_1\$ \& \#2 \{a\}"),
        (r"~ ^ \b [c] *", r"\textasciitilde{} \textasciicircum{} \textbackslash{}b {[}c{]} {*}"),
        ("Łódź, Nguyễn", r"\L{}\'{o}d\'{z}, Nguy\~{\^{e}}n"),
        ("--a '' ,,", r"-{}-a '{}' ,{},"),
        ("東\u202e\x00", "{[}U+6771{]}"),
        ("a ≠ b ≮ c", r"a \ensuremath{\neq} b {[}U+226E{]} c"),
        ("București, Phở, 한", r"Bucure\textcommabelow{s}ti, Ph{[}U+1EDF{]}, {[}U+D55C{]}"),
        ("x\u0304\u0326 x\u0310", r"\={\textcommabelow{x}} x{[}U+0310{]}"),
        ("x ≥ −∞", r"x \ensuremath{\geq} \ensuremath{-}\ensuremath{\infty}"),
    ],
)
def test_any_text_is_escaped_for_latex(text: str, expected: str) -> None:
    assert latex(text) == expected


def test_cells_and_titles_add_no_latex_commands() -> None:
    table = latex_table(filled_table())
    assert table.startswith("% needs \\usepackage[T1]{fontenc} and \\usepackage{booktabs,graphicx}\n")
    assert table.isascii()
    for command in (r"\input", r"\frac", r"\nasty"):
        assert command not in table
    assert len(re.findall(r"\\\\$", table, re.MULTILINE)) == len(NASTY) + 1


def test_long_tables_continue_in_another() -> None:
    tables = latex_table(filled_table(20))
    assert tables.count(r"\toprule") == tables.count(r"\end{table}") == 3
    assert tables.count("continued.") == 2
    assert f"The first 120 of {len(NASTY) * 20} rows" in tables


def test_cells_and_titles_add_no_markdown() -> None:
    title, _, columns, rule, *rows = markdown_table(filled_table()).splitlines()
    assert len(rows) == len(NASTY)
    for line in (columns, rule, *rows):
        assert len(re.findall(r"(?<!\\)\|", line)) == 4
    text = "\n".join((title, *rows))
    assert not re.search(r"(?<!\\)[<>\[\]*_`&]", text.replace("**", ""))


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(publication: Path, tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    shutil.copytree(publication, folder)
    for name, rows in (("nasty", 1), ("nastier", 6)):
        (folder / "tables" / f"{name}.tex").write_text(latex_table(filled_table(rows)), encoding="utf-8")
    document = (folder / "document.tex").read_text(encoding="utf-8")
    extra = f"{latex(NASTY)}\n\\input{{tables/nasty.tex}}\n\\input{{tables/nastier.tex}}\n\\end{{document}}"
    (folder / "document.tex").write_text(document.replace(r"\end{document}", extra), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "document.tex"]
    process = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    assert process.returncode == 0, process.stdout[-2000:]
    assert (folder / "document.pdf").stat().st_size > 10_000
