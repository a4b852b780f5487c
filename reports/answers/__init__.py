"""The page of answers: one HTML file with every question, context and reply. The file loads no other file.

The texts of the page come from models and from the web. `blocks` writes these texts as JSON without markup characters.
The page's script shows the texts as text only, and the page's content security policy refuses other scripts.
"""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from swaymeter.data.digests import integrity
from swaymeter.data.records.findings import StudyCard
from swaymeter.reports.answers.blocks import blocks, options
from swaymeter.reports.estimates import incomplete_replies, people_sentences, thinking_sentence
from swaymeter.reports.page import linked
from swaymeter.reports.page.shell import asset, page_stream

FILE = "answers.html"
ANSWERS_QUERIES = (
    "answers_to_read",
    "questions_to_read",
    "contexts_to_read",
    "answers_of_questions",
    "unfinished_greedy_answers",
    "judged_greedy_answers",
    "answers_judged_by_people",
    "judgements_to_read",
    "changes_since_last_run",
)
SCRIPTS = (
    "element.js",
    "search.js",
    "data.js",
    "choices.js",
    "state.js",
    "list.js",
    "window.js",
    "question.js",
    "keys.js",
    "save.js",
    "judgements.js",
    "answers.js",
)
GROUP_HUES = (
    "#2f70ca",
    "#c8432f",
    "#208149",
    "#9157bb",
    "#a0631c",
    "#c4398a",
    "#147c8d",
    "#727519",
    "#687184",
    "#6c63cb",
)
"""Hues of the clusters of sampled replies. All hues are equally light, so that a white letter is legible on each."""


def write_answers(frames: Mapping[str, pd.DataFrame], folder: Path, card: StudyCard) -> str:
    """Write the page piece by piece into `folder`, and return the page's file name; without replies, return ""."""
    if frames["answers_to_read"].empty:
        return ""
    hues = "".join(f".hue-{number}{{--hue:{hue}}}" for number, hue in enumerate(GROUP_HUES))
    settings = options(frames)
    css = asset(__name__, "answers.css") + hues
    script = "\n".join(asset(__name__, file) for file in SCRIPTS)
    page_stream(
        __name__,
        "answers.html",
        css,
        {"linked": linked},
        card=card,
        options=settings,
        questions=len(frames["questions_to_read"]),
        blocks=blocks(frames),
        script=Markup(script),
        limits=thinking_sentence(frames["unfinished_greedy_answers"])
        + incomplete_replies(frames["unfinished_greedy_answers"]),
        by_people=people_sentences(frames["answers_judged_by_people"], frames["judgements_to_read"]),
        script_hash=integrity(script),
    ).dump(str(folder / FILE), encoding="utf-8")
    return FILE
