"""Frames as the database gives them, made up from a seed: small studies with known traits."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from data.tables import RUNS
from reports.card import NotRun, StudyCard

RELATIONS = ("capital", "officialLanguage", "author", "birthPlace", "founder", "spouse", "currency", "headquarters")
MODEL = "smollm2-135m-instruct"
CARD = StudyCard(
    name="quickstart",
    seed=7,
    asked="How far do contexts sway a small instruct model away from what it believes of eight relations?",
    not_run=(NotRun("author", MODEL, "persuasion", "the model ran out of memory"),),
    made_at="2025-01-02T03:04:05+00:00",
    versions={"swaymeter": "0.1.0", "torch": "2.13.0"},
    sources=("YAGO 4.5, CC BY-SA 4.0, https://yago-knowledge.org/.", "Wikidata, CC0"),
)


def study(
    models: Iterable[tuple[str, str]] = ((MODEL, "float32"),),
    *,
    relations: Iterable[str] = RELATIONS,
    entities: int = 10,
    questions: int = 60,
) -> dict[str, pd.DataFrame]:
    """Every frame of a study with these models."""
    models, relations = list(models), list(relations)
    queries = _queries(models, relations, entities)
    answers = _answers(models, questions)
    frames = {
        "susceptibility_of_queries": _susceptibility(queries),
        "persuasion_by_kind": _persuasion(queries),
        "answers_of_questions": answers,
        "partition_summary": _summary(answers),
        "statistics": _statistics(models, relations),
        "overview": pd.DataFrame(
            [
                {
                    "models": len(models),
                    "relations": len(relations),
                    "queries": len(queries),
                    "contexts": 480,
                    "prompts": 9000,
                    "questions": questions,
                    "answers": 1980,
                    "seconds": 12.5,
                    "forward_passes": 640,
                }
            ]
        ),
        "stand_ins": pd.DataFrame(
            [
                {
                    "model": models[0][0],
                    "measure": "semantic_entropy",
                    "stand_in": "all-MiniLM-L6-v2 for deberta-large-mnli",
                }
            ]
        ),
        "runs": _runs(models, relations),
    }
    return {name: _as_stored(frame) for name, frame in frames.items()}


def _as_stored(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the nullable types that the database gives."""
    kinds = {"i": "Int64", "b": "boolean"}
    truths = [name for name in ("persuaded", "stubborn") if name in frame and frame[name].dtype == object]
    frame = frame.astype(dict.fromkeys(truths, "boolean"))
    return frame.astype({name: kinds[frame[name].dtype.kind] for name in frame if frame[name].dtype.kind in kinds})


def _draw(*parts: object) -> np.random.Generator:
    return np.random.default_rng(list("/".join(map(str, parts)).encode()))


def _queries(models: list[tuple[str, str]], relations: list[str], entities: int) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "model": model,
                "dtype": dtype,
                "relation": relation,
                "query_type": kind,
                "form": form,
                "entity": f"{'Invented' if invented else 'Real'} {relation} {number}",
                "invented": invented,
                "query_id": f"{relation}-{kind}-{form}-{invented}-{number}",
            }
            for model, dtype in models
            for relation in relations
            for kind in ("open", "closed")
            for form in (1, 2)
            for invented in (False, True)
            for number in range(entities)
        ]
    )


def _susceptibility(queries: pd.DataFrame) -> pd.DataFrame:
    rng = _draw("susceptibility")
    base = queries["relation"].map(
        {name: 0.15 + 0.1 * at for at, name in enumerate(dict.fromkeys(queries["relation"]))}
    )
    level = base * np.where(queries["query_type"] == "open", 1.0, 0.35) * np.where(queries["invented"], 1.35, 1.0)
    return queries.assign(contexts=120, susceptibility=level * rng.gamma(8, 1 / 8, len(queries)))


def _persuasion(queries: pd.DataFrame) -> pd.DataFrame:
    rng = _draw("persuasion")
    parts = []
    for kind, size in (("base", 0.4), ("assertive", 0.5), ("negation", 0.3)):
        for relevant, times in ((True, 2.5), (False, 0.8)):
            slope = queries["relation"].str.len() / 8 * np.where(queries["query_type"] == "open", 1, 0.4)
            parts.append(
                queries.assign(
                    kind=kind,
                    relevant=relevant,
                    contexts=2 if relevant else 38,
                    persuasion=size * times * slope * rng.gamma(6, 1 / 6, len(queries)),
                )
            )
    return pd.concat(parts, ignore_index=True)


def _answers(models: list[tuple[str, str]], questions: int) -> pd.DataFrame:
    rng, rows = _draw("answers"), []
    for model, dtype in models:
        for number in range(questions):
            partition = ("static", "temporal", "disputable")[number % 3]
            for condition in ("none", "original", "counter_memory"):
                alone = condition == "none"
                moved = rng.gamma(2 + number % 3, 0.8)
                persuaded = None if alone else bool(rng.random() < 0.25 + 0.1 * moved / 2)
                entropy = float(rng.normal(2.4 if alone else 1.2, 0.9))
                rows.append(
                    {
                        "model": model,
                        "dtype": dtype,
                        "partition": partition,
                        "relation": "P36",
                        "question_id": f"q{number}",
                        "subject": f"Subject {number}",
                        "question": f"What is the capital of subject {number}?",
                        "condition": condition,
                        "edits": 1 + number % 4,
                        "subject_popularity": 100.0,
                        "object_popularity": None,
                        "semantic_entropy": entropy,
                        "semantic_entropy_length_normalised": entropy / 3,
                        "semantic_entropy_rao": abs(entropy) / 4,
                        "cluster_assignment_entropy": abs(entropy) / 4,
                        "groups": 3,
                        "answer": "Oslo",
                        "accurate": bool(rng.random() < 0.4),
                        "coherent_persuasion": None if alone else moved,
                        "persuaded": persuaded,
                        "stubborn": None if alone else (not persuaded and bool(rng.random() < 0.4)),
                        "stand_in": "all-MiniLM-L6-v2 for deberta-large-mnli",
                    }
                )
    return pd.DataFrame(rows).astype({"coherent_persuasion": float, "object_popularity": float})


def _summary(answers: pd.DataFrame) -> pd.DataFrame:
    shares = answers.assign(
        **{name: answers[name].astype("boolean").astype("Float64") for name in ("accurate", "persuaded", "stubborn")}
    )
    return (
        shares.groupby(["model", "dtype", "partition", "condition"])
        .agg(
            questions=("question_id", "count"),
            accuracy=("accurate", "mean"),
            semantic_entropy=("semantic_entropy", "mean"),
            semantic_entropy_length_normalised=("semantic_entropy_length_normalised", "mean"),
            semantic_entropy_rao=("semantic_entropy_rao", "mean"),
            coherent_persuasion=("coherent_persuasion", "mean"),
            persuaded=("persuaded", "mean"),
            stubborn=("stubborn", "mean"),
        )
        .reset_index()
    )


def _statistics(models: list[tuple[str, str]], relations: list[str]) -> pd.DataFrame:
    rng, rows = _draw("statistics"), []
    groups = {
        "relevance": ("relevant", "irrelevant"),
        "familiarity": ("invented", "real"),
        "assertiveness": ("assertive", "base"),
        "negation": ("negation", "base"),
    }
    for model, dtype in models:
        for comparison, (first, second) in groups.items():
            for at, relation in enumerate(relations):
                for kind in ("open", "closed"):
                    effect = float(rng.normal(0.5 if comparison == "relevance" else 0.1, 0.4))
                    none = at == 3 and kind == "closed"
                    p = None if none else float(np.clip(np.exp(-6 * max(effect, 0)), 1e-4, 1))
                    rows.append(
                        {
                            "comparison": comparison,
                            "measure": "susceptibility" if comparison == "familiarity" else "persuasion",
                            "model": model,
                            "dtype": dtype,
                            "relation": relation,
                            "query_type": kind,
                            "group_a": first,
                            "group_b": second,
                            "n_a": 0 if none else 20,
                            "n_b": 20,
                            "mean_a": None if none else 0.5 + effect / 5,
                            "mean_b": 0.5,
                            "statistic": None if none else effect * 3.2,
                            "alternative": "two-sided" if comparison == "negation" else "greater",
                            "p": p,
                            "p_adjusted": None if p is None else min(1.0, 1.5 * p),
                            "effect_size": None if none else effect,
                            "untestable": "the first group is empty" if none else None,
                        }
                    )
    numbers = ("mean_a", "mean_b", "statistic", "p", "p_adjusted", "effect_size")
    return pd.DataFrame(rows).astype(dict.fromkeys(numbers, float))


def _runs(models: list[tuple[str, str]], relations: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "relation": relation,
                "model": model,
                "measure": measure,
                "measure_version": 1,
                "key": "0" * 64,
                "file": "scores/x",
                "rows": 40,
                "dtype": dtype,
                "seed": 7,
                "started_at": "2025-01-02T00:00:00Z",
                "finished_at": "2025-01-02T00:00:01Z",
                "seconds": 1.25,
                "forward_passes": 80,
                "prompts": 480,
                "swaymeter_version": "0.1.0",
                "torch_version": "2.13.0",
                "transformers_version": "5.23",
            }
            for model, dtype in models
            for relation in relations
            for measure in ("persuasion", "susceptibility")
        ],
        columns=[column.name for column in RUNS.columns],
    )
