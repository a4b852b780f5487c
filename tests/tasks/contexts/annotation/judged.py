"""Questions of real facts, and annotations of them by people who do not exist."""

from typing import Any

from swaymeter.data.records import Annotation, AnnotationChoice, Question, WikidataId
from swaymeter.data.sources.slots import fill_slot
from swaymeter.tasks.contexts.annotation.judging import shown
from tests.data.a_dataset import question

SNIPPET = "Ludwig Wittgenstein was born in [ENTITY], then a city of Austria-Hungary."


def a_question(number: int = 1, **changes: Any) -> Question:
    """A question that can be asked; `snippet` is the text of both contexts."""
    snippet = changes.pop("snippet", SNIPPET)
    answer, replacement = changes.get("object", "Vienna"), changes.get("replacement", "Graz")
    return question(**{
        "question_id": f"{number:016x}", "subject": "Ludwig Wittgenstein", "property_id": WikidataId("P19"),
        "object": answer, "answers": (answer, "Wien"), "replacement": replacement,
        "question": f"Where was Ludwig Wittgenstein born, in text {number}?",
        "original_context": fill_slot(snippet, answer), "counter_memory_context": fill_slot(snippet, replacement),
        "edit_revisions": (7,),
    } | changes)  # fmt: skip


def says(of: Question, annotator: str, choice: AnnotationChoice, *, at: int = 0, **texts: Any) -> Annotation:
    """An annotation of a question; at: how many minutes after noon it was imported."""
    question_id, digest = shown(of)
    plain: dict[str, Any] = dict.fromkeys(("question", "object", "replacement", "context", "note"))
    imported_at = f"2026-01-01T12:{at:02d}:00.000000+00:00"
    return Annotation(
        question_id=question_id, texts=digest, annotator=annotator, choice=choice, file=f"{annotator}.xlsx",
        imported_at=imported_at, **(plain | texts),
    )  # fmt: skip
