"""Standard output and standard error, and how lines, warnings and long lists are printed."""

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout

import typer
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from swaymeter.data.errors import WorkFailed, first_few
from swaymeter.data.escaping import terminal


class PlainConsole(Console):
    """A console that prints control characters as codes, because names, paths and replies may contain any text."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the segments to print, with control characters as codes such as \\x1b."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else terminal(text), style, control)


out = PlainConsole()
err = PlainConsole(stderr=True)

MAX_UNFOLDED = 24
"""Largest width, in letters, of a first column that is never folded."""


def print_line(line: str | Text, console: Console = out) -> None:
    """Print a line as it is, never folded."""
    console.print(Text(line) if isinstance(line, str) else line, soft_wrap=True)


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Text] | None],
    console: Console = out,
    *,
    title: str = "",
    numbers: Collection[str] = (),
) -> None:
    """Print a table; long cells are folded.

    Args:
        columns: Titles of the columns.
        rows: Cells of each row; None for a line between rows.
        console: The console.
        title: Title of the table.
        numbers: Titles of the columns with numbers, which are right-aligned.
    """
    rows = list(rows)
    table = Table(title=Text(title) if title else None, title_justify="left")
    for column in columns:
        limit = min(MAX_UNFOLDED, console.width // 3)
        is_unfolded = column == columns[0] and all(len(str(row[0])) <= limit for row in rows if row)
        justify: JustifyMethod = "right" if column in numbers else "left"
        table.add_column(Text(column), overflow="fold", justify=justify, no_wrap=is_unfolded)
    for row in rows:
        if row is None:
            table.add_section()
        else:
            table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    console.print(table)


def print_product(text: str, *, nl: bool = True) -> None:
    """Print JSON or a script for another program, without rich's markup.

    Raises:
        WorkFailed: Standard output cannot be written.
    """
    try:
        typer.echo(text, nl=nl)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WorkFailed(f"standard output cannot be written: {error.strerror or error}") from None


@contextmanager
def stdout_to_stderr() -> Iterator[None]:
    """Send the standard output of this process and its children to standard error, for commands that print JSON."""
    sys.stdout.flush()
    try:
        standard_output = os.dup(1)
    except OSError:  # standard output is closed; `print_product` raises an error
        yield
        return
    os.dup2(2, 1)
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os.dup2(standard_output, 1)
        os.close(standard_output)


def warn(line: str) -> None:
    """Print a warning on standard error."""
    err.print(f"[yellow]warning[/yellow]  {escape(line)}", soft_wrap=True)


def by_reason(reasons: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return, by reason, a text with the first few names that have this reason; `reasons` has (name, reason) pairs."""
    names: dict[str, list[str]] = {}
    for name, reason in reasons:
        names.setdefault(reason, []).append(name)
    return {reason: first_few(names[reason]) for reason in names}
