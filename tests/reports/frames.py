"""Frames as the database gives them, made up from a seed: small studies with known traits."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from data.records.tables import RUNS
from reports.card import NotRun, StudyCard
from tests.reports.draws import draw
from tests.reports.frames_of_answers import make_answers, make_answers_to_read, make_questions_to_read, make_summary
from tests.reports.frames_of_queries import (
    make_agreement,
    make_answer_sets,
    make_degree_agreement,
    make_degrees,
    make_entity_independent,
    make_fisher,
    make_followed,
    make_memorization,
    make_persuasion,
    make_precision,
    make_queries,
    make_susceptibility,
)

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
    queries = make_queries(models, relations, entities)
    answers = make_answers(models, questions)
    scored = make_susceptibility(queries)
    fisher, answer_sets = make_fisher(scored), make_answer_sets(scored)
    memorization = make_memorization(scored)
    degrees = make_degrees(scored)
    frames = {
        "susceptibility_of_queries": scored,
        "persuasion_by_kind": make_persuasion(queries),
        "fisher_of_queries": fisher,
        "memorization_of_queries": memorization,
        "followed": make_followed(models, relations),
        "entity_independent_of_contexts": make_entity_independent(models, relations, entities),
        "answer_set_of_queries": answer_sets,
        "precision_of_queries": make_precision(scored),
        "degree_of_queries": degrees,
        "agreement": pd.concat(
            [
                make_agreement(fisher, "fisher"),
                make_agreement(fisher, "fisher_top_k"),
                make_agreement(answer_sets, "answer_set_susceptibility"),
                make_agreement(memorization, "memorization_ratio"),
                *(make_degree_agreement(degrees, name) for name in ("degree", "relation_degree")),
            ],
            ignore_index=True,
        ),
        "answers_of_questions": answers,
        "partition_summary": make_summary(answers),
        "answers_to_read": make_answers_to_read(answers),
        "questions_to_read": make_questions_to_read(answers),
        "rejected_questions": _dropped(),
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


def _dropped() -> pd.DataFrame:
    rows = [
        ("static", "birthPlace", "not_mentioned", 7, "Kopernik, revision 12"),
        ("static", "capital", "not_mentioned", 2, None),
        ("static", "capital", "no_replacement", 4, "none fits of 3"),
        ("disputable", "disputable", "anonymous_editor", 31, None),
        ("temporal", "capital", "not_mentioned", 1, None),
        (None, "capital", "subject_missing", 5, None),
    ]
    return pd.DataFrame(rows, columns=["partition", "relation", "reason", "candidates", "example"])


def _as_stored(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame with the nullable types that the database gives."""
    kinds = {"i": "Int64", "b": "boolean"}
    truths = [name for name in ("persuaded", "stubborn") if name in frame and frame[name].dtype == object]
    frame = frame.astype(dict.fromkeys(truths, "boolean"))
    return frame.astype({name: kinds[frame[name].dtype.kind] for name in frame if frame[name].dtype.kind in kinds})


def _statistics(models: list[tuple[str, str]], relations: list[str]) -> pd.DataFrame:
    rng, rows = draw("statistics"), []
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
