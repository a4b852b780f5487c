"""Live questions that people judge: what they accept or change is asked, and nothing else."""

import csv
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import krippendorff
import yaml

from swaymeter.data import reasons
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
    (tmp_path / "annotated.yaml").write_text(yaml.safe_dump(content))
    study = studies.copy(done.study, tmp_path / "annotated.yaml")
    sheets = {name: tmp_path / f"{name}.csv" for name in ("ada", "ben", "cem")}

    def annotate(verb: str, name: str, *options: str) -> None:
        run = study.run(verb, str(sheets[name]), "--annotator", name, *options, group=("annotate",))
        assert run.code == 0, run.said

    questions = {row["subject"] for row in rows(done.study, "questions")}
    said: dict[str, dict[str, str]] = {}
    for name, choices in (("ada", ADA), ("ben", BEN)):
        annotate("export", name)
        said[name] = judge(sheets[name], choices)
        assert said[name].keys() == questions
    for name in ("ada", "ben"):
        annotate("import", name)
    annotate("export", "cem", "--conflicts")
    assert judge(sheets["cem"], CEM).keys() == {"Cora Ashdown", "The Salt Ledger"}
    annotate("import", "cem")
    units = sorted(questions - {"Ansel Brook"})
    names = sorted({choice for one in said.values() for choice in one.values()})
    ratings = [[names.index(of_one[subject]) for subject in units] for of_one in said.values()]
    alpha = krippendorff.alpha(ratings, level_of_measurement="nominal")
    status = study.run("status", group=("annotate",)).said
    assert f"Krippendorff's alpha: {alpha:.3f} over {len(units)} questions" in status
    for stage in ("build", "aggregate"):
        assert (run := study.run(stage)).code == 0, run.said
    asked = {row["subject"]: row for row in rows(study, "questions")}
    assert asked.keys() == questions - LEFT_OUT.keys()
    assert asked["Bram Okoto"]["question"] == NEW_QUESTION
    before, now = (
        Counter((row["subject"], row["reason"]) for row in rows(one, "rejected")) for one in (done.study, study)
    )
    assert now - before == Counter(LEFT_OUT.items())
    assert before <= now


def judge(sheet: Path, choices: Choices) -> dict[str, str]:
    """Fills a sheet in, which has each question once; what was chosen, by subject."""
    with sheet.open(encoding="utf-8-sig", newline="") as file:
        listed = list(csv.DictReader(file))
    for row in listed:
        row["choice"], row["new question"] = choices.get(row["subject"], ("accept", ""))
    with sheet.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(listed[0]))
        writer.writeheader()
        writer.writerows(listed)
    chosen = {row["subject"]: row["choice"] for row in listed}
    assert len(chosen) == len(listed)
    return chosen
