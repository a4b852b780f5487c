"""Live questions that people judge: what they accept or change is asked, and nothing else."""

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import krippendorff
import yaml

from swaymeter.data import reasons
from tests.end_to_end.tiny_study import TinyStudy
from tests.end_to_end.wiki_runs import Done
from tests.end_to_end.wiki_studies import WikiStudies, rows

NEW_QUESTION = "By which trade did Bram Okoto live?"
Choices = Mapping[str, tuple[str, str]]
ADA: Choices = {"Adela Fenwick": ("discard", ""), "Bram Okoto": ("change", NEW_QUESTION)}
BEN: Choices = {
    **ADA,
    "Ansel Brook": ("", ""),
    "Cora Ashdown": ("incomplete", ""),
    "The Salt Ledger": ("misinformation", ""),
}
CEM: Choices = {"Cora Ashdown": ("incomplete", "")}
"""What three people say of a subject's question, and its new words, where they do not accept it."""
LEFT_OUT = {
    "Adela Fenwick": reasons.ANNOTATORS_DISCARD,
    "Cora Ashdown": reasons.ANNOTATORS_INCOMPLETE,
    "Ansel Brook": reasons.NOT_ANNOTATED,
}


def test_only_what_annotators_accept_or_change_is_asked(done: Done, studies: WikiStudies, tmp_path: Path) -> None:
    content = yaml.safe_load(done.study.file.read_text())
    content["questions"]["annotated"] = True
    sheets = {name: tmp_path / f"{name}.csv" for name in ("ada", "ben", "cem")}

    def judged(*names: str) -> TinyStudy:
        content["judgements"] = [str(sheets[name]) for name in names]
        (tmp_path / "annotated.yaml").write_text(yaml.safe_dump(content))
        return studies.copy(done.study, tmp_path / "annotated.yaml")

    def export(study: TinyStudy, name: str, *options: str) -> None:
        run = study.run("export", str(sheets[name]), "--annotator", name, *options, group=("annotate",))
        assert run.code == 0, run.said

    questions = {row["subject"]: row["question_id"] for row in rows(done.study, "questions")}
    study, said = judged(), dict[str, dict[str, str]]()
    for name, choices in (("ada", ADA), ("ben", BEN)):
        export(study, name)
        said[name] = judge(sheets[name], choices, questions)
        assert said[name].keys() == questions.keys()
    export(judged("ada", "ben"), "cem", "--conflicts")
    assert judge(sheets["cem"], CEM, questions).keys() == {"Cora Ashdown", "The Salt Ledger"}
    study = judged("ada", "ben", "cem")
    units = sorted(questions.keys() - {"Ansel Brook"})
    names = sorted({choice for one in said.values() for choice in one.values()})
    ratings = [[names.index(of_one[subject]) for subject in units] for of_one in said.values()]
    alpha = krippendorff.alpha(ratings, level_of_measurement="nominal")
    status = study.run("status", group=("annotate",)).said
    assert f"Krippendorff's alpha of each choice: {alpha:.3f} over {len(units)} items" in status
    for stage in ("build", "aggregate"):
        assert (run := study.run("run", "--stage", stage)).code == 0, run.said
    asked = {row["subject"]: row for row in rows(study, "questions")}
    assert asked.keys() == questions.keys() - LEFT_OUT.keys()
    assert asked["Bram Okoto"]["question"] == NEW_QUESTION
    before, now = (
        Counter((row["subject"], row["reason"]) for row in rows(one, "rejected")) for one in (done.study, study)
    )
    assert now - before == Counter(LEFT_OUT.items())
    assert before <= now


def judge(sheet: Path, choices: Choices, questions: Mapping[str, str]) -> dict[str, str]:
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
