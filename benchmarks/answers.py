"""Sampled answers to judge: a file of real ones, or made-up ones that repeat about as real ones do.

A file is a JSON list of {"question": str, "condition": str, "answers": [str, ...]}, as many answers in each.
"""

import json
import random
from pathlib import Path

from benchmarks import workload

CONDITIONS = ("none", "original", "counter_memory")
SAMPLES = 10
SEED = 0

# How often an answer names the right city, the one that the context tells, and any other.
NAMED = {"none": (0.7, 0.0, 0.3), "original": (0.9, 0.0, 0.1), "counter_memory": (0.3, 0.6, 0.1)}
# The likeliest first: the n-th is drawn in proportion to 1 / (n + 2).
PHRASES = (
    "The capital of {place} is {city}.",
    "{city} is the capital of {place}.",
    "The capital city of {place} is {city}.",
    "It is {city}, the largest city of {place}.",
    "The capital of {place} is {city}, which lies on a river.",
    "{city}, as far as I know.",
    "The capital and the seat of the government of {place} is {city}.",
    "I believe that the capital of {place} is called {city}.",
    "{place} has had its capital in {city} since it became independent.",
    "The answer is {city}, not what the name would make you think.",
    "{city} is where the parliament of {place} and most ministries have their offices.",
    "That would be {city}, the most populous city of the country.",
    "The government of {place} sits in {city}, so that is the capital.",
    "The capital is {city}.",
)


def read(file: Path) -> list[tuple[str, ...]]:
    """The answers of a file, question by question."""
    found = [tuple(entry["answers"]) for entry in json.loads(file.read_text(encoding="utf-8"))]
    if len({len(one) for one in found}) != 1:
        raise SystemExit(f"{file}: it must hold questions, each with as many answers as the others")
    return found


def made(questions: int) -> list[tuple[str, ...]]:
    """Answers to so many questions under three conditions; the first n are the same however many there are."""
    entries = json.loads(workload.TEXTS.read_text(encoding="utf-8"))
    if not 1 <= questions <= len(entries):
        raise SystemExit(f"answers can be made to 1 to {len(entries)} questions, not {questions}")
    cities = [entry["answer"] for entry in entries]
    found = []
    for entry in entries[:questions]:
        draw = random.Random(f"{SEED} {entry['entity']}")
        told, other = draw.sample([city for city in cities if city != entry["answer"]], 2)
        for condition in CONDITIONS:
            named = draw.choices((entry["answer"], told, other), NAMED[condition], k=SAMPLES)
            phrases = draw.choices(PHRASES, [1 / (rank + 3) for rank in range(len(PHRASES))], k=SAMPLES)
            asked = zip(phrases, named, strict=True)
            found.append(tuple(phrase.format(place=entry["entity"], city=city) for phrase, city in asked))
    return found
