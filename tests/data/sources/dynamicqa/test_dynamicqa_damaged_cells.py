"""Copies of sound files with a damaged cell: an error that says where, or its row flagged and no other."""

from collections.abc import Callable
from pathlib import Path

import pytest

from data.errors import InputError
from data.records import PARTITIONS, Partition
from data.sources import dynamicqa, slots
from data.sources.dynamicqa.layout import FILES, Row, Rows, content_of, read_rows

ROW = 5
"""The row that is damaged."""


def cell(column: str, change: Callable[[str], str]) -> Callable[[Rows], Rows]:
    """One row's cell changed."""

    def damage(rows: Rows) -> Rows:
        listed = list(rows.rows)
        row = listed[ROW]
        listed[ROW] = Row(row.line, {**row.cells, column: change(row.cells[column])})
        return Rows(rows.columns, tuple(listed), rows.line_end)

    return damage


CELLS: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "a number in words": (cell("num_edits", lambda said: "two"), "column num_edits: is no number: 'two'"),
    "a number without end": (cell("s_pop", lambda said: "inf"), "column s_pop: is no number: 'inf'"),
    "a number below nothing": (cell("s_pop", lambda said: "-5"), "column s_pop: is no count: '-5'"),
    "a number with a comma": (cell("s_pop", lambda said: "1,500"), "column s_pop: is no number: '1,500'"),
    "half an edit": (cell("num_edits", lambda said: "1.5"), "column num_edits: is no whole number: '1.5'"),
}
OF_PROPERTY: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "half a list": (cell("possible_answers", lambda said: said[:-3]), "column possible_answers: is no JSON list"),
    "no list": (cell("possible_answers", lambda said: "7"), "column possible_answers: is no JSON list: '7'"),
    "a list of numbers": (
        cell("possible_answers", lambda said: "[7]"),
        "column possible_answers: holds what is no text",
    ),
    "a quality in words": (
        cell("replace_quality", lambda said: "good"),
        "column replace_quality: is no number: 'good'",
    ),
}


@pytest.mark.parametrize(
    ("partition", "kind"),
    [(partition, kind) for partition in PARTITIONS for kind in CELLS]
    + [(partition, kind) for partition in ("static", "temporal") for kind in OF_PROPERTY],
)
def test_damaged_cells_are_refused_with_their_line_and_column(
    partition: Partition, kind: str, sound_files: Path, tmp_path: Path
) -> None:
    damage, said = (CELLS | OF_PROPERTY)[kind]
    rows = read_rows(sound_files / FILES[partition], partition)
    file = tmp_path / FILES[partition]
    file.write_bytes(content_of(damage(rows)))
    with pytest.raises(InputError) as raised:
        dynamicqa.questions(tmp_path, partition)
    assert str(raised.value).startswith(f"{file}, line {rows.rows[ROW].line}, {said}")


FLAGGED: dict[str, tuple[Callable[[Rows], Rows], str]] = {
    "an answer lost": (cell("obj", lambda said: ""), slots.EMPTY_ANSWER),
    "a replacement lost": (cell("replace_name", lambda said: ""), slots.EMPTY_REPLACEMENT),
    "a question lost": (cell("question", lambda said: " "), slots.EMPTY_QUESTION),
    "a subject lost": (cell("subj", lambda said: ""), slots.EMPTY_SUBJECT),
    "a context lost": (cell("context", lambda said: "x"), slots.NO_SLOT),
    "a number that is none": (cell("num_edits", lambda said: "nan"), slots.NUMBER_UNKNOWN),
    "edits of another partition": (cell("num_edits", lambda said: "0"), slots.EDITS_CONTRADICT_PARTITION),
}


@pytest.mark.parametrize("partition", PARTITIONS)
@pytest.mark.parametrize("kind", FLAGGED)
def test_a_cell_that_says_nothing_sure_gives_its_row_a_flag_and_no_other(
    kind: str, partition: Partition, sound_files: Path
) -> None:
    damage, flag = FLAGGED[kind]
    if partition == "disputable" and flag == slots.NO_SLOT:
        flag = slots.OBJECT_NOT_IN_CONTEXT
    rows = read_rows(sound_files / FILES[partition], partition)
    sound = dynamicqa.questions_of(rows, partition, "sound")
    damaged = dynamicqa.questions_of(damage(rows), partition, "damaged")
    assert flag in damaged[ROW].flags
    assert flag not in sound[ROW].flags
    others = [place for place in range(len(sound)) if sound[place] != damaged[place] and place != ROW]
    assert all(set(sound[at].flags) ^ set(damaged[at].flags) <= {slots.DUPLICATE_QUESTION} for at in others)
