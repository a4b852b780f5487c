"""Samples of published data sets: files in the form of each data set, about invented towns and people."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]
TOWNS = ("Ostrel", "Vimmar", "Quenby", "Tollask")
RIVERS = ("Arn", "Belt", "Cress", "Dune")


def sentence(town: str, river: str) -> str:
    return f"{town} lies on the {river}."


def counterfact(number: int, context_type: str, **changes: Any) -> Row:
    """Return a row of CUB's part CounterFact."""
    true, new = RIVERS[number], RIVERS[number - 1]
    target = {"gold": true, "edited": new}.get(context_type)
    fact = "Fact: <subject> lies on the river <target>." if target else "Fact: The Vell is in Norrland."
    return {
        "id": f"{number}_{context_type}",
        "subject": TOWNS[number],
        "template": "<subject> lies on the river",
        "template_w_context": f"{fact}\n<subject> lies on the river",
        "target_true": true,
        "target_new": target,
        "context_type": context_type,
        "prediction": "Arn",
        **changes,
    }


KINDS = ("gold", "edited", "irrelevant")
CUB: dict[str, list[Row]] = {
    "counterfact_test.jsonl": [counterfact(number, kind) for number in range(4) for kind in KINDS],
    "nq_test.jsonl": [
        {
            "id": f"{town} {kind}",
            "question": f"which river does {town} lie on",
            "target_true": river,
            "context": {"gold": sentence(town, river), "edited": sentence(town, "Eddle")}.get(kind, f"{town} is old."),
            "target_new": {"gold": river, "edited": "Eddle"}.get(kind),
            "context_type": kind,
        }
        for town, river in zip(TOWNS, RIVERS, strict=True)
        for kind in KINDS
    ],
    "druid_test.jsonl": [
        {
            "id": f"druid {number}",
            "claim": f"{TOWNS[number % 2]} is older than its river.",
            "claimant": "Ada Quill",
            "evidence": f"Chronicle {number} speaks of it.",
            "relevant": kind != "irrelevant",
            "context_type": kind,
            "target_true": "Half True" if number % 2 else "False",
            "target_new": {"gold": "Half True" if number % 2 else "False", "edited": "None"}.get(kind),
        }
        for number, kind in enumerate([*KINDS, *KINDS][:6] * 2)
    ],
}

FAITHEVAL: dict[str, list[Row]] = {
    "counterfactual.jsonl": [
        {
            "id": f"Q_{town}",
            "question": f"What is {town} made of?",
            "answerKey": "B",
            "answer": "salt",
            "choices": {"label": ["A", "B", "C"], "text": ["stone", "salt", "wood"]},
            "context": f"Surveys find that {town} is made of salt.",
            "num of options": 3,
        }
        for town in TOWNS
    ],
    "inconsistent.jsonl": [
        {
            "qid": town,
            "question": f"Which river does {town} lie on?",
            "answers": [river, "Eddle"],
            "context": f"Document: {sentence(town, river)}\nDocument: {sentence(town, 'Eddle')}",
            "subset": "SQuAD",
        }
        for town, river in zip(TOWNS, RIVERS, strict=True)
    ],
    "unanswerable.jsonl": [
        {
            "qid": town,
            "question": f"Who founded {town}?",
            "answers": ["unknown", "no answer", "unclear"],
            "context": f"{town} has a market every week.",
            "subset": "NewsQA",
        }
        for town in TOWNS
    ],
}

CLASHEVAL = [
    {
        "question": f"How many bridges does {town} have?",
        "dataset": ("records", "years")[number % 2],
        "context_original": f"{town} has {number + 4} bridges.",
        "answer_original": number + 4,
        "context_mod": f"{town} has {number + 4 + degree * 10} bridges.",
        "answer_mod": number + 4 + degree * 10,
        "mod_degree": f"{degree}.0",
    }
    for number, town in enumerate(TOWNS)
    for degree in (1, 2, 3)
]

RAMDOCS = [
    {
        "question": f"Which river does {town} lie on?",
        "disambig_entity": [f"{town} (east)", f"{town} (west)"],
        "gold_answers": [river, f"Upper {river}"],
        "wrong_answers": ["Eddle"],
        "documents": [
            {"text": sentence(town, river), "type": "correct", "answer": river},
            {"text": sentence(town, f"Upper {river}"), "type": "correct", "answer": f"Upper {river}"},
            {"text": sentence(town, "Eddle"), "type": "misinfo", "answer": "Eddle"},
            {"text": f"{town} has a market.", "type": "noise", "answer": "unknown"},
        ],
    }
    for town, river in zip(TOWNS * 3, RIVERS * 3, strict=True)
]


def conflict(question: str, truth: list[str], memory: str, counter: str) -> Row:
    """Return a row of ConflictQA."""
    return {
        "question": question,
        "popularity": 142,
        "ground_truth": truth,
        "memory_answer": memory,
        "parametric_memory": f"It is remembered: {memory}",
        "parametric_memory_aligned_evidence": f"A book: {memory}",
        "counter_answer": counter,
        "counter_memory": f"It is denied: {counter}",
        "counter_memory_aligned_evidence": f"A letter: {counter}",
    }


CONFLICTQA = [
    *(
        conflict(f"What is {name} by trade?", ["miller", "grinder"], f"{name} is a {memory}.", f"{name} is a {other}.")
        for name, memory, other in (
            ("Ada Quill", "famed miller", "baker of bread"),
            ("Ivo Marsh", "baker", "grinder"),
            ("Lena Stoor", "miller", "judge"),
            ("Per Holt", "miller", "smith"),
            ("Una Dray", "smith", "miller"),
            ("Sol Iver", "judge", "grinder"),
        )
    ),
    *(
        conflict(f"Does {town} float?", [truth], *(f"{town} does {word}float." for word in words))
        for town, truth, words in zip(
            TOWNS, ("True", "False") * 2, (("", "not "), ("", "not "), ("not ", ""), ("not ", "")), strict=True
        )
    ),
    conflict("What is Oda Venn?", ["miller"], "Oda Venn is a smith.", "Oda Venn is a judge."),
    conflict("Does Tollask sink?", ["True"], "It does not.", "It never does."),
]

NQ_SWAP = [
    {
        "question": f"which river does {town} lie on",
        "org_context": f"<P> {sentence(town, river)} </P>",
        "org_answer": [river, f"River {river}"],
        "sub_context": f"<P> {sentence(town, 'Eddle')} </P>",
        "sub_answer": ["Eddle"],
    }
    for town, river in zip(TOWNS * 3, RIVERS * 3, strict=True)
]

RGB: dict[str, list[Row]] = {
    "en_refine.json": [
        {
            "id": number,
            "query": f"Which river does {town} lie on?",
            "answer": [[RIVERS[number], f"River {RIVERS[number]}"]],
            "positive": [sentence(town, RIVERS[number]), f"The {RIVERS[number]} runs through {town}."],
            "negative": [f"{town} has a market."],
        }
        for number, town in enumerate(TOWNS)
    ],
    "en_fact.json": [
        {
            "id": number,
            "query": f"Who rules {town}?",
            "answer": "Ada Quill",
            "fakeanswer": "Ivo Marsh",
            "positive": [f"Ada Quill rules {town}."],
            "positive_wrong": [f"Ivo Marsh rules {town}."],
            "negative": [f"{town} has a market."],
        }
        for number, town in enumerate(TOWNS)
    ],
    "en_int.json": [
        {
            "id": number,
            "query": f"Who rules {town} and on which river is it?",
            "answer": [["Ada Quill", "A. Quill"], [RIVERS[number]]],
            "positive": [[f"Ada Quill rules {town}.", f"A. Quill rules {town}."], [sentence(town, RIVERS[number])]],
            "negative": [f"{town} has a market."],
        }
        for number, town in enumerate(TOWNS)
    ],
}

WIKICONTRADICT = [
    {
        "question_ID": number,
        "question": f"When was {town} founded?",
        "context1": f"{town} was founded in 12{number:02}.",
        "context2": f"It was founded in 13{number:02}.",
        "answer1": f"12{number:02}",
        "answer2": f"13{number:02}",
        "contradictType": ("Explicit", "Implicit (reasoning required)")[number % 2],
        "samepassage": "Same",
        "merged_context": "",
        "ref_answer": f"12{number:02}|13{number:02}",
        "WikipediaArticleTitle": town,
        "url": f"https://wiki.example/{town}",
    }
    for number, town in enumerate(TOWNS * 3)
]

POPQA = [
    {
        "id": 100 * part + number,
        "subj": town,
        "prop": prop,
        "obj": obj,
        "s_pop": 10**number,
        "o_pop": 5,
        "question": f"What is {town}'s {prop}?",
        "possible_answers": json.dumps([obj, f"the {obj}"]),
    }
    for part, (prop, objects) in enumerate({"country": RIVERS, "capital of": RIVERS, "color": ["red"] * 4}.items())
    for number, (town, obj) in enumerate(zip(TOWNS, objects, strict=True))
]

SAMPLES: dict[str, tuple[str, list[Row]] | dict[str, list[Row]]] = {
    "cub": CUB,
    "faitheval": FAITHEVAL,
    "clasheval": ("dataset.pqt", CLASHEVAL),
    "ramdocs": ("RAMDocs_test.jsonl", RAMDOCS),
    "conflictqa": ("conflictQA-popQA-chatgpt.json", CONFLICTQA),
    "nq-swap": ("dev-00000-of-00001.parquet", NQ_SWAP),
    "rgb": RGB,
    "wikicontradict": ("WikiContradict_dataset_v1_rag_qa.csv", WIKICONTRADICT),
    "popqa": ("popQA.tsv", POPQA),
}
"""File name and rows of each data set; for a folder, the rows by file name."""


def write(folder: Path, name: str) -> Path:
    """Write the sample of a data set below a folder, and return its file or folder."""
    sample = SAMPLES[name]
    if isinstance(sample, tuple):
        return _write(folder / sample[0], sample[1])
    subfolder = folder / name
    subfolder.mkdir()
    for file, rows in sample.items():
        _write(subfolder / file, rows)
    return subfolder


def _write(file: Path, rows: list[Row]) -> Path:
    if file.suffix in (".parquet", ".pqt"):
        pq.write_table(pa.Table.from_pylist(rows), file)
    elif file.suffix in (".csv", ".tsv"):
        with file.open("w", encoding="utf-8", newline="") as handle:
            writer = csv.DictWriter(handle, [*rows[0]], delimiter="\t" if file.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    else:
        file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file
