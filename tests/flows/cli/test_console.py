"""What anybody may have written does nothing on a terminal."""

import io

import pytest
from rich.table import Table

from swaymeter.flows.cli.console import PlainConsole

HOSTILE = "a\x1b]0;title\x07b\x9b31m\r\u202ec"
SHOWN = r"a\x1b]0;titleb\x9b31m\u202ec"  # rich drops bells and returns


@pytest.mark.parametrize("form", ["line", "folded", "table", "traceback"])
def test_no_text_acts(form: str) -> None:
    console = PlainConsole(file=io.StringIO(), width=200, force_terminal=True, color_system=None)
    if form == "table":
        table = Table(HOSTILE, title=HOSTILE)
        table.add_row(HOSTILE)
        console.print(table)
    elif form == "traceback":
        try:
            raise ValueError(HOSTILE)
        except ValueError:
            console.print_exception()
    else:
        console.print(HOSTILE, soft_wrap=form == "line")
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert SHOWN in written
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & {*written}
