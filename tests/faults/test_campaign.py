"""The campaign tells what is noticed from what is silently different, and finds nothing in the notes of a run."""

import random
from pathlib import Path

import pytest

from data.storage.sealed import sealed, unsealed
from tests.faults.campaign.flips import Kept, _flipped, _notes
from tests.faults.campaign.record import Outcome, Record

FLIPS = 40


def test_a_silent_difference_breaks_a_guarantee(tmp_path: Path) -> None:
    file = tmp_path / "note"
    file.write_text("Oslo")
    record = Record()
    record.add("flips", _flipped(Kept("note", (file,), lambda path: {"text": path.read_bytes()}), 5, random.Random(0)))
    assert record.broken == 5
    assert "| note | 5 | DIFFERENT 5 |" in record.markdown()
    assert file.read_text() == "Oslo"


@pytest.mark.parametrize(
    ("outcome", "broken"),
    [(Outcome("a", "equal", 119.0), 0), (Outcome("a", "equal", 121.0), 1), (Outcome("a", "refused", mib=2049.0), 1)],
)
def test_time_and_memory_are_bounded(outcome: Outcome, broken: int) -> None:
    record = Record()
    record.add("services", [outcome])
    assert record.broken == broken


def test_flips_in_notes_are_never_silent(tmp_path: Path) -> None:
    record, generator = Record(), random.Random(0)
    for kept in _notes(tmp_path):
        record.add(kept.kind, _flipped(kept, FLIPS, generator))
    assert (len(record.parts), record.broken) == (3, 0)


def test_sealed_notes_are_read_as_written_or_refused() -> None:
    content = {"step": "fetch · Zürich", "sha256 of": ["x", 1.5, None]}
    text = sealed(content)
    assert unsealed(text) == content
    for place, character in enumerate(text):
        changed = text[:place] + chr(ord(character) ^ 1) + text[place + 1 :]
        try:
            assert unsealed(changed) == content
        except ValueError:
            continue
