"""The file of verdicts by hand."""

from pathlib import Path

import pytest

from swaymeter.data.errors import InputError
from swaymeter.tasks.contexts.annotation.verdicts import read_verdicts

HEAD = "question,context,model,sample,answer,verdict,who,why\n"


def test_verdicts_are_read_with_their_rows(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.csv"
    file.write_text(f'{HEAD}q1,none,,,"\'=1+1\n2",both,Ada,\n\n"What, then?",a,m,0,Oslo,refusal,Ben,says no\n')
    first, second = read_verdicts(file)
    assert (first.row, first.question, first.answer, first.verdict) == (2, "q1", "=1+1\n2", "both")
    assert (second.row, second.question, second.model, second.sample) == (4, "What, then?", "m", "0")


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("q,none,,,x,maybe,Ada,\n", "row 2: 'maybe' is not a verdict; write one of context"),
        ("q,none,,,,both,Ada,\n", "row 2: answer is empty"),
        ("q,none,,,x,both,,\n", "row 2: who is empty"),
        ("q,none,,first,x,both,Ada,\n", "row 2: 'first' is not a sample"),
        ("q,none,,,x y,both,Ada,\nq,none,,,x  y ,neither,Ben,\n", "row 3: row 2 says 'both' of the same answer"),
    ],
)
def test_a_wrong_row_is_refused_by_its_number(tmp_path: Path, rows: str, message: str) -> None:
    file = tmp_path / "verdicts.csv"
    file.write_text(HEAD + rows)
    with pytest.raises(InputError, match=message):
        read_verdicts(file)


def test_a_file_without_a_column_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.csv"
    file.write_text("question,context,answer,verdict\nq,none,x,both\n")
    with pytest.raises(InputError, match="no column 'model', 'sample', 'who', 'why'"):
        read_verdicts(file)
