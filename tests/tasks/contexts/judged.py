"""Questions of real facts, and judgements of them by people who do not exist."""

from typing import Any

from swaymeter.data.records import Question, WikidataId
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.sources.slots import fill_slot
from swaymeter.tasks.contexts.judged_questions import shown_text, texts
from tests.data.a_dataset import question

SNIPPET = "Ludwig Wittgenstein was born in [ENTITY], then a city of Austria-Hungary."


def a_question(number: int = 1, **changes: Any) -> Question:
    """A question that can be asked; `snippet` is the text of both contexts."""
    snippet = changes.pop("snippet", SNIPPET)
    answer, replacement = changes.get("object", "Vienna"), changes.get("replacement", "Graz")
    return question(
        **{
            "question_id": f"{number:016x}",
            "subject": "Ludwig Wittgenstein",
            "property_id": WikidataId("P19"),
            "object": answer,
            "answers": (answer, "Wien"),
            "replacement": replacement,
            "question": f"Where was Ludwig Wittgenstein born, in text {number}?",
            "original_context": fill_slot(snippet, answer),
            "counter_memory_context": fill_slot(snippet, replacement),
            "edit_revisions": (7,),
        }
        | changes
    )


def says(of: Question, annotator: str, choice: str, *, note: str = "", **corrections: str) -> list[Judgement]:
    """The rows in which an annotator judges a question."""
    judged = {"choice": shown_text(of), **texts(of)}
    return [
        Judgement(
            0,
            f"{annotator}.csv",
            row,
            of.question_id,
            "original" if name == "text" else "",
            name,
            judged[name],
            value,
            annotator,
            note if name == "choice" else "",
        )
        for row, (name, value) in enumerate({"choice": choice, **corrections}.items(), 2)
    ]
