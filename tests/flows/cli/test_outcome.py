"""The end of a run on the terminal."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from swaymeter.data.records.findings import Bar, Claim, Findings, GateCheck, HeadlineFigure, Number, Part
from swaymeter.flows.cli.outcome import show_outcome

PARTS = ("right", "wrong", "both", "neither", "declined")


def bar(label: str, main: str, *shares: float, variant: str = "") -> Bar:
    """Return a bar over 15 replies; its main part has an interval."""
    intervals = [(0.2, 0.64) if name == main else (None, None) for name in PARTS]
    parts = (Part(name, share, *ends) for name, share, ends in zip(PARTS, shares, intervals, strict=True))
    return Bar(label, tuple(parts), variant, 15, main, f"follow.{main}")


FIGURE = HeadlineFigure(
    "Whose answer?",
    "share",
    PARTS,
    (
        bar("with a right passage", "right", 0.4, 0, 0, 0.6, 0),
        bar("with a wrong passage", "wrong", 0, 0.733, 0, 0.267, 0),
    ),
    "m · 15 questions",
)
GATE = [GateCheck("follow.right", "40.0%", ">= 90%", "m", "unmet"), GateCheck("follow.wrong", "73.3%", "<= 80%", "m")]
CLAIM = Claim("[red]half[/red] is said in", (Number("50.0% of 8"),))
FINDINGS = Findings("Repeats wrong passages (73%).", FIGURE, [CLAIM])


def printed(findings: Findings, width: int = 80, note_count: int = 0) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    show_outcome(console, "mine", findings, note_count)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_an_outcome_has_table_findings_and_gate() -> None:
    caveats = ["Few items: " + "x" * 90, "two", "three", "four"]
    assert printed(replace(FINDINGS, gate=GATE, caveats=caveats), note_count=1) == [
        "mine · m · 15 questions",
        "                      right        wrong        neither",
        "with a right passage  40% [20,64]  0%           60%      follow.right",
        "with a wrong passage  0%           73% [20,64]  27%      follow.wrong",
        "=> Repeats wrong passages (73%).",
        "found    [red]half[/red] is said in 50.0% of 8",
        "gate     FAIL  follow.right 40.0%, bound >= 90%",
        "gate     pass  follow.wrong 73.3%, bound <= 80%",
        f"caveat   Few items: {'x' * 59}…",
        "caveat   two",
        "caveat   2 more on the page",
    ]


@pytest.mark.parametrize("variants", [1, 3, 30])
def test_an_outcome_fits_on_a_screen(variants: int) -> None:
    bars = [
        bar(row.label, row.main, 0.2, 0.2, 0.2, 0.2, 0.2, variant=f"variant {number}")
        for row in FIGURE.bars
        for number in range(variants)
    ]
    lines = printed(replace(FINDINGS, figure=replace(FIGURE, bars=tuple(bars)), gate=GATE * 9, caveats=["a"] * 9))
    assert len(lines) <= 15
    assert max(map(len, lines)) <= 80
    assert any("more rows on the page" in line for line in lines) == (variants > 3)  # 2 * 3 rows fit


def test_means_are_shown_with_their_intervals() -> None:
    means = Bar("capital", (Part("real", 0.31, 0.2, 0.4), Part("invented", 0.4)), n=8, main="real")
    figure = HeadlineFigure("How far?", "nats", ("real", "invented"), (means,), "open queries")
    assert printed(Findings("", figure))[2].split("  ") == ["capital", "0.31 [0.20,0.40]", "0.40"]


def test_equal_shares_have_equal_numbers() -> None:
    """Half a percent is rounded up in every part, also in the part with an interval."""
    row = bar("with a right passage", "right", 0.125, 0.125, 0.125, 0.625, 0)
    words = printed(Findings("", replace(FIGURE, bars=(row,))))[2].split()
    assert words[4:9] == [  # after the four words of the label
        "13%",
        "[20,64]",
        "13%",
        "13%",
        "63%",
    ]


def test_a_threshold_with_another_number_is_named() -> None:
    counts_both = Part("follow.conflicting", 0.375, 0.14, 0.69)
    row = replace(FIGURE.bars[1], name="", threshold=counts_both, counted="wrong or both")
    lines = printed(Findings("", replace(FIGURE, bars=(FIGURE.bars[0], row))))
    assert lines[2].endswith("follow.right")
    assert lines[3].endswith("27%")
    assert lines[4] == "number   follow.conflicting 38% [14, 69] (wrong or both)"


def test_threshold_names_without_room_are_left_out() -> None:
    assert printed(Findings("", FIGURE), width=56)[3:] == ["with a wrong passage  0%           73% [20,64]  27%"]
