"""Questions about real facts, and judgements by invented people."""

from typing import Any

from swaymeter.data.records import Question, WikidataId
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.sources.slots import fill_slot
from swaymeter.tasks.contexts.judged_questions import shown_text, texts
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


def judgements_by(
    judged_question: Question, annotator: str, choice: str, *, note: str = "", **corrections: str
) -> list[Judgement]:
    """Return the rows of an annotator: the choice and the corrections."""
    shown_texts = {"choice": shown_text(judged_question), **texts(judged_question)}
    return [
        Judgement(
            0,
            f"{annotator}.csv",
            row,
            judged_question.question_id,
            "original" if name == "text" else "",
            name,
            shown_texts[name],
            value,
            annotator,
            note if name == "choice" else "",
        )
        for row, (name, value) in enumerate({"choice": choice, **corrections}.items(), 2)
    ]
