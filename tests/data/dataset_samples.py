"""Facts and questions like fetched ones, workspaces with them, and a yago_qec.json like the published file."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from swaymeter.data.records import Dispute, Fact, Question, as_row, both_contexts, from_row
from swaymeter.data.records.row import table_of
from swaymeter.data.storage.workspace import Workspace

YAGO = "http://yago-knowledge.org/resource/"
CAPITAL = f"{YAGO}capital"
_SAMPLES = yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


def iri(name: str) -> str:
    """Return the IRI of an entity, with its name percent-encoded."""
    return YAGO + quote(name.replace(" ", "_"))


def fact(subject: str, answer: str, relation: str = "capital", **columns: Any) -> Fact:
    """Return a fact whose IRIs follow from its names; keyword arguments replace the values of other columns."""
    names = {"relation": relation, "subject": subject, "object": answer}
    sample = from_row(Fact, _SAMPLES["fact"] | names | {"subject_uri": iri(subject), "object_uri": iri(answer)})
    return replace(sample, **columns)


NORWAY, PERU, KENYA = fact("Norway", "Oslo"), fact("Peru", "Lima"), fact("Kenya", "Nairobi")


def changed(old: Question, /, **columns: Any) -> Question:
    """Return a question with other values of some columns.

    The texts `original_context` and `counter_memory_context` stand in place of the contexts.
    """
    texts = [columns.pop(name, getattr(old, name)) for name in ("original_context", "counter_memory_context")]
    new = replace(old, **columns)
    return replace(new, contexts=both_contexts(*texts, new.forms, new.replacement))


def question(**columns: Any) -> Question:
    """Return a question like those built from live sources; keyword arguments are those of `changed`."""
    return changed(from_row(Question, _SAMPLES["question"]), **columns)


def disputed(**columns: Any) -> Question:
    """Return a question about a disputed sentence of a page, like those built from live sources."""
    return changed(from_row(Question, _SAMPLES["disputed question"]), **columns)


RECOUNTED_DISPUTE = from_row(Dispute, _SAMPLES["dispute"])
"""The dispute of the disputed question with later counts."""


def store(folder: Path, *records: Fact | Question | Dispute, part: str = "", seed: int = 0) -> Path:
    """Store the facts of a relation, or the questions or disputes of a part, in a workspace, and return their file.

    A part of the questions is a partition, a property or a page.
    """
    table = table_of(type(records[0]))
    subject = records[0].relation if isinstance(records[0], Fact) else "disputable"
    key_inputs = {"step": ["fetch", table.name], "subject": [subject, part], "seed": seed}
    artifact = Workspace(folder).table(("facts",), f"{table.name}-{part or subject}", table, key_inputs)
    return artifact.write(table.of([as_row(record) for record in records]))


def workspace(folder: Path, *facts: Fact) -> Path:
    """Store facts as in the workspace of a study, and return its folder."""
    for relation in dict.fromkeys(record.relation for record in facts):
        store(folder, *(record for record in facts if record.relation == relation))
    return folder


def qec_content() -> dict[str, Any]:
    """Return the content of a yago_qec.json with one predicate; South Africa occurs once for each of its capitals."""
    content: dict[str, Any] = json.loads(Path(__file__).with_name("yago_qec.json").read_text(encoding="utf-8"))
    return content


def qec_file(folder: Path, content: Any) -> Path:
    """Write a yago_qec.json, and return it; the content is a text or a value that is written as JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "yago_qec.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return file
