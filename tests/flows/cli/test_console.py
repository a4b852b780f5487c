"""Texts of users cannot control the terminal."""

import io
from unittest.mock import Mock

import pytest
from rich.table import Table

from swaymeter.flows.cli import main as cli
from swaymeter.flows.cli.console import PlainConsole

HOSTILE = "a\x1b]0;title\x07b\x9b31m\r\u202ec"
VISIBLE = r"a\x1b]0;titleb\x9b31m\u202ec"  # rich removes bells and carriage returns


@pytest.mark.parametrize("form", ["line", "folded", "table", "traceback"])
def test_no_text_controls_the_terminal(form: str) -> None:
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
    assert VISIBLE in written
    assert not {"\x1b", "\x07", "\x9b", "\r", "\u202e"} & {*written}


def test_unexpected_errors_cannot_control_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise ValueError(HOSTILE)

    console, end_process = PlainConsole(file=io.StringIO(), width=200), Mock(side_effect=SystemExit)
    replacements = {"run_command": fail, "end_when_interrupted": Mock(), "err": console}
    for name, value in replacements.items():
        monkeypatch.setattr(cli, name, value)
    monkeypatch.setattr("os._exit", end_process)
    monkeypatch.setattr("logging.shutdown", Mock())
    monkeypatch.setattr("logging.raiseExceptions", True)
    with pytest.raises(SystemExit):
        cli.main()
    end_process.assert_called_once_with(1)
    written = console.file.getvalue()  # type: ignore[attr-defined]
    assert "ValueError" in written
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & {*written}
