"""A threshold that is met since a model states nothing says so."""

from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from swaymeter.flows.study.silence import lines_on, notes_on, silent
from swaymeter.flows.study.thresholds import Judged, Measured, judged, thresholds_of, write_junit

RESISTS = Measured("m (float32)", "resist_wrong", "all", 12, 12, "question", 1.0, 0.8, 1.0, "share")
FOLLOWS = Measured("m (float32)", "follow", "conflicting", 12, 12, "question", 0.0, 0.0, 0.2, "share")
OF = {"model": ["m"], "dtype": ["float32"], "greedy_answers": [42]}
CUT_OFF = "met, but 42 of 42 greedy answers ended at the limit of tokens"


def outcome(*, under: str = "resist_wrong.all=0.9") -> Judged:
    return judged(thresholds_of([under], ["follow.conflicting=0.3"]), [RESISTS, FOLLOWS])


@pytest.mark.parametrize(
    ("cut_off", "neither", "note"),
    [
        (42, 42, CUT_OFF),
        (21, 21, ""),
        (0, 22, "met, but 22 of 42 greedy answers with a context state neither answer"),
    ],
)
def test_a_threshold_that_silence_meets_is_noted(cut_off: int, neither: int, note: str) -> None:
    unfinished = pd.DataFrame(OF | {"unfinished": [cut_off]})
    of_neither = pd.DataFrame(OF | {"reason": ["other words"], "answers": [neither]})
    assert notes_on(outcome(), silent(unfinished, of_neither)) == [note, note]


def test_what_silence_does_not_meet_is_not_noted() -> None:
    follows = judged(thresholds_of(["follow.conflicting=0"], ["resist_wrong.all=1"]), [RESISTS, FOLLOWS])
    assert notes_on(follows, {"m (float32)": "42 of 42"}) == ["", ""]


def test_a_note_is_a_line_and_output_of_a_case_that_passes(tmp_path: Path) -> None:
    held = outcome()
    assert lines_on(held, [CUT_OFF, ""]) == [f"resist_wrong.all >= 0.9, m (float32): {CUT_OFF}"]
    write_junit(tmp_path / "a.xml", "mine", held, notes=[CUT_OFF, ""])
    suite = ElementTree.parse(tmp_path / "a.xml").getroot()
    assert suite.get("failures") == "0"
    assert [case.findtext("system-out") for case in suite] == [CUT_OFF, None]
