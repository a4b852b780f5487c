"""Questions about the birthplace of Ludwig Wittgenstein, which invented people judge."""

from typing import Any

from swaymeter.data.records import Question, WikidataId
from swaymeter.data.sources.slots import fill_slot
from tests.data.dataset_samples import question

SNIPPET = "Ludwig Wittgenstein was born in [ENTITY], then a city of Austria-Hungary."


def a_question(snippet: str = SNIPPET, object: str = "Vienna", replacement: str = "Graz", **changes: Any) -> Question:
    """Return a valid question. The snippet, with an answer in its slot, is the text of each context."""
    columns = {
        "subject": "Ludwig Wittgenstein",
        "property_id": WikidataId("P19"),
        "answers": (object, "Wien"),
        "question": "Where was Ludwig Wittgenstein born?",
        "original_context": fill_slot(snippet, object),
        "counter_memory_context": fill_slot(snippet, replacement),
    }
    return question(object=object, replacement=replacement, **(columns | changes))
