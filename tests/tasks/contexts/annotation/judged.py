"""Questions of real facts, and annotations of them by people who do not exist."""

from typing import Any

from swaymeter.data.records import Annotation, AnnotationChoice, Question, RelationName, WikidataId
from swaymeter.data.sources.slots import fill_slot
from swaymeter.tasks.contexts.annotation.judging import shown
from tests.data.a_dataset import with_texts

SNIPPET = "Ludwig Wittgenstein was born in [ENTITY], then a city of Austria-Hungary."


def a_question(number: int = 1, **changes: Any) -> Question:
    """A question that can be asked; `snippet` is the text of both contexts."""
    snippet = changes.pop("snippet", SNIPPET)
    answer, replacement = changes.get("object", "Vienna"), changes.get("replacement", "Graz")
    plain: dict[str, Any] = {
        "question_id": f"{number:016x}", "relation": RelationName("placeOfBirth"), "partition": "static",
        "subject": "Ludwig Wittgenstein", "subject_id": WikidataId("Q9391"), "property_id": WikidataId("P19"),
        "object": answer, "object_id": WikidataId("Q1741"), "answers": (answer, "Wien"), "replacement": replacement,
        "question": f"Where was Ludwig Wittgenstein born, in text {number}?",
        "original_context": fill_slot(snippet, answer), "counter_memory_context": fill_slot(snippet, replacement),
        "edits": 1, "subject_popularity": 1.0, "object_popularity": 2.0, "id_source": "wikidata", "source": "Wikidata",
        "licence": "CC0 1.0", "flags": (), "replacement_id": WikidataId("Q13298"), "replacement_by": "embeddings",
        "replacement_quality": 0.9, "edit_revisions": (7,),
    }  # fmt: skip
    return with_texts(**(plain | changes))


def says(of: Question, annotator: str, choice: AnnotationChoice, *, at: int = 0, **texts: Any) -> Annotation:
    """An annotation of a question; at: how many minutes after noon it was imported."""
    question_id, digest = shown(of)
    plain: dict[str, Any] = dict.fromkeys(("question", "object", "replacement", "context", "note"))
    imported_at = f"2026-01-01T12:{at:02d}:00.000000+00:00"
    return Annotation(
        question_id=question_id, texts=digest, annotator=annotator, choice=choice, file=f"{annotator}.xlsx",
        imported_at=imported_at, **(plain | texts),
    )  # fmt: skip
