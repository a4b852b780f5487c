"""Questions made from Wikidata, which people judge: the study asks only accepted and changed questions."""

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import krippendorff
import yaml

from swaymeter.data import reasons
from tests.end_to_end.tiny_study import TinyStudy
from tests.end_to_end.wiki_runs import RepairedStudy, rows

NEW_QUESTION = "By which trade did Bram Okoto live?"
Choices = Mapping[str, tuple[str, str]]
ADA: Choices = {"Adela Fenwick": ("discard", ""), "Bram Okoto": ("change", NEW_QUESTION)}
BEN: Choices = {
    **ADA,
    "Ansel Brook": ("", ""),  # no choice
    "Cora Ashdown": ("incomplete", ""),
    "The Salt Ledger": ("misinformation", ""),
}
CEM: Choices = {"Cora Ashdown": ("incomplete", "")}
"""Three people's choices and new texts by subject; they accept every other question."""
LEFT_OUT = {
    "Adela Fenwick": reasons.ANNOTATORS_DISCARD,
    "Cora Ashdown": reasons.ANNOTATORS_INCOMPLETE,
    "Ansel Brook": reasons.NOT_ANNOTATED,
}


def test_only_accepted_or_changed_questions_are_asked(repaired: RepairedStudy, tmp_path: Path) -> None:
    content = yaml.safe_load(repaired.study.file.read_text())
    content["questions"]["annotated"] = True
    sheets = {name: tmp_path / f"{name}.csv" for name in ("ada", "ben", "cem")}

    def study_with_sheets(*names: str) -> TinyStudy:
        content["judgements"] = [str(sheets[name]) for name in names]
        (tmp_path / "annotated.yaml").write_text(yaml.safe_dump(content))
        study = repaired.study.copy(tmp_path / f"workspace-{len(names)}")
        return replace(study, file=tmp_path / "annotated.yaml")

    def export(study: TinyStudy, name: str, *options: str) -> None:
        run = study.run("export", str(sheets[name]), "--annotator", name, *options, group=("annotate",))
        assert run.code == 0, run.output

    questions = {row["subject"]: row["question_id"] for row in rows(repaired.study, "questions")}
    study, choices_by_person = study_with_sheets(), dict[str, dict[str, str]]()
    for name, choices in (("ada", ADA), ("ben", BEN)):
        export(study, name)
        choices_by_person[name] = fill_in(sheets[name], choices, questions)
        assert choices_by_person[name].keys() == questions.keys()
    export(study_with_sheets("ada", "ben"), "cem", "--conflicts")
    assert fill_in(sheets["cem"], CEM, questions).keys() == {"Cora Ashdown", "The Salt Ledger"}
    study = study_with_sheets("ada", "ben", "cem")
    rated_subjects = sorted(questions.keys() - {"Ansel Brook"})
    choice_names = sorted({choice for chosen in choices_by_person.values() for choice in chosen.values()})
    ratings = [
        [choice_names.index(chosen[subject]) for subject in rated_subjects] for chosen in choices_by_person.values()
    ]
    alpha = krippendorff.alpha(ratings, level_of_measurement="nominal")
    status = study.run("status", group=("annotate",)).output
    assert f"Krippendorff's alpha of the field choice: {alpha:.3f} over {len(rated_subjects)} items" in status
    for stage in ("build", "aggregate"):
        assert (run := study.run("run", "--stage", stage)).code == 0, run.output
    final = {row["subject"]: row for row in rows(study, "questions")}
    assert final.keys() == questions.keys() - LEFT_OUT.keys()
    assert final["Bram Okoto"]["question"] == NEW_QUESTION
    before, now = (
        Counter((row["subject"], row["reason"]) for row in rows(each, "rejected")) for each in (repaired.study, study)
    )
    assert now - before == Counter(LEFT_OUT.items())
    assert before <= now


def fill_in(sheet: Path, choices: Choices, questions: Mapping[str, str]) -> dict[str, str]:
    """Fill in a sheet, which has each question once, and return the choices by subject."""
    subjects = {question_id: subject for subject, question_id in questions.items()}
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        listed = list(csv.DictReader(file))
    for row in listed:
        choice, text = choices.get(subjects[row["question_id"]], ("accept", ""))
        row["value"] = {"choice": choice, "question": text}.get(row["field"], "")
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(listed[0]))
        writer.writeheader()
        writer.writerows(listed)
    chosen = [row for row in listed if row["field"] == "choice"]
    assert len({row["question_id"] for row in chosen}) == len(chosen)
    return {subjects[row["question_id"]]: row["value"] for row in chosen}
