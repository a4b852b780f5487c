"""What changed from one run of a study to the next: the headline numbers, paired where the items are the same.

A run is kept as states: what each answer and each query was, as JSON. Two runs are compared as two models are
(`swaymeter.tasks.statistics.models`), each model with itself: the mean difference of the items that both runs have, its
interval, and a test. An item is a question under a context with these texts, or a query: where a text changes, it is
another one.

    change   = mean over the items of both runs, now minus before
    verdict  larger or smaller: the interval is on one side of 0, and p_adjusted at most 0.05; equal within the margin
             that two models have; undecided else

p_adjusted is after Benjamini-Hochberg over all numbers of the models in which anything changed. What it is not: a bound
over many runs. Of a hundred runs in which nothing changes, about five may show a change by chance, where answers vary
at all; greedy answers of the same weights and prompts do not.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from swaymeter.data.digests import identity
from swaymeter.data.records.history import ItemKind
from swaymeter.data.records.statistics import ALL
from swaymeter.data.storage.history import Key
from swaymeter.tasks.statistics.formulas.groups import adjust
from swaymeter.tasks.statistics.models import BETWEEN, MODEL_QUERIES, differences, with_verdicts
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row

ANSWER: Mapping[str, str] = {
    "partition": "str", "subject_key": "str", "question": "str", "condition": "str", "asked": "str",
    "states_answer": "boolean", "verdict": "str", "outcome": "str", "answer": "str", "answers": "Int64",
    "binary_utilisation": "float64", "continuous_utilisation": "float64", "coherent_persuasion": "float64",
    "coherent_persuasion_unchanged": "float64",
}  # fmt: skip
"""What is kept of an answer; asked: the digest of the question's and the context's texts."""
QUERY: Mapping[str, str] = {"entity": "str", "query_type": "str", "susceptibility": "float64"}
"""What is kept of a query."""
IDS = {"answer": ("question_id", "context_id"), "query": ("query_id",)}
KEPT: Mapping[ItemKind, Mapping[str, str]] = {"answer": ANSWER, "query": QUERY}
FRAMES: Mapping[ItemKind, str] = dict(zip(KEPT, MODEL_QUERIES, strict=True))
"""The named query whose rows an item of a kind is a row of."""
DIGITS = 5
"""Decimals of a number that are kept: a year of runs has to stay small."""
STATES = 1
"""Another number wherever `states` says something else of the same rows: what a snapshot has of them is read again."""

States = Mapping[Key, str]
"""What each item of a run says, as JSON."""


def states(frames: Frames) -> dict[Key, str]:
    """What a run's answers and queries are; the frames have the columns `text` of contexts and `model` as it is called.

    frames: of `MODEL_QUERIES`.
    """
    kept = dict[Key, str]()
    answers = frames[FRAMES["answer"]]
    texts = zip(answers["question"], answers["text"].astype(object).where(answers["text"].notna(), ""), strict=True)
    with_texts = {**frames, FRAMES["answer"]: answers.assign(asked=[identity(*text) for text in texts])}
    for kind, columns in KEPT.items():
        frame = with_texts[FRAMES[kind]][["model", "dtype", *IDS[kind], *columns]].astype(object)
        for row in frame.where(frame.notna(), None).to_dict("records"):
            item = BETWEEN.join(str(row[name]) for name in IDS[kind])
            kept[kind, str(row["model"]), str(row["dtype"]), item] = as_state({name: row[name] for name in columns})
    return kept


def as_state(values: Mapping[str, Any]) -> str:
    """Values as the JSON of an item, without those that are missing."""
    short = {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in values.items()}
    return json.dumps({name: value for name, value in short.items() if value is not None}, ensure_ascii=False)


def frames_of(kept: States) -> dict[str, Frame]:
    """The frames that `states` were made from, with what was kept of them; an answer's context_id has its texts."""
    import pandas as pd

    frames = {}
    for kind, columns in KEPT.items():
        ids = ("model", "dtype", *IDS[kind])
        rows = [
            dict(zip(ids, (model, dtype, *item.split(BETWEEN)), strict=True)) | json.loads(state)
            for (of, model, dtype, item), state in sorted(kept.items()) if of == kind
        ]  # fmt: skip
        frame = pd.DataFrame(rows, columns=[*ids, *columns]).astype(dict.fromkeys(ids, "str") | dict(columns))
        if kind == "answer":
            about = zip(frame["context_id"], frame["asked"], strict=True)
            frame = frame.assign(context_id=[identity(*one) for one in about])
        frames[FRAMES[kind]] = frame
    return frames


def moved(before: Frames, now: Frames, seed: int) -> list[Row]:
    """How each model differs from itself in the run before: rows of `ModelDifference`, n 0 where nothing is paired.

    before, now: as of `frames_of`.
    """
    rows: list[Row] = []
    for model, dtype in models_of(now):
        both = {}
        for name in MODEL_QUERIES:
            # Models are compared in the order of their names: the run now minus the run before.
            runs = (("a", now), ("b", before))
            both[name] = _joined(_of_model(of[name], model, dtype).assign(model=run) for run, of in runs)
        rows += [{**row, "model": model, "against_model": model, "dtype": dtype} for row in differences(both, seed)]
    return decided(rows)


def decided(rows: list[Row]) -> list[Row]:
    """The rows with p_adjusted over all of them, the margin, and the verdict."""
    return with_verdicts(adjust(rows, ()))


def group_of(row: Mapping[str, Any]) -> str:
    """What a row of `ModelDifference` is over, as the headline numbers call it."""
    return str(row["query_type"] if row["condition"] == ALL else row["condition"])


def models_of(frames: Frames) -> list[tuple[str, str]]:
    """The models of a run, each with its dtype."""
    pairs = (frames[name][["model", "dtype"]].itertuples(index=False, name=None) for name in MODEL_QUERIES)
    return sorted({(str(model), str(dtype)) for of_query in pairs for model, dtype in of_query})


def _of_model(frame: Frame, model: str, dtype: str) -> Frame:
    return frame[(frame["model"] == model) & (frame["dtype"] == dtype)]


def _joined(frames: Iterable[Frame]) -> Frame:
    import pandas as pd

    return pd.concat(frames, ignore_index=True)
