"""Questions about real facts, which invented people judge."""

from typing import Any

from swaymeter.data.records import Question, WikidataId
from swaymeter.data.sources.slots import fill_slot
from tests.data.dataset_samples import question

SNIPPET = "Ludwig Wittgenstein was born in [ENTITY], then a city of Austria-Hungary."


def a_question(number: int = 1, **changes: Any) -> Question:
    """Return a valid question. `snippet`, with an answer in its slot, is the text of each context."""
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
