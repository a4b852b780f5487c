"""Frames as the database gives them, made up from a seed: small studies with known traits."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from data.tables import RUNS
from reports.card import NotRun, StudyCard

RELATIONS = ("capital", "officialLanguage", "author", "birthPlace", "founder", "spouse", "currency", "headquarters")
MODEL = "smollm2-135m-instruct"
SAMPLES = 10
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
    scored = _susceptibility(queries)
    fisher, answer_sets = _fisher(scored), _answer_sets(scored)
    memorization = _memorization(scored)
    degrees = _degrees(scored)
    frames = {
        "susceptibility_of_queries": scored,
        "persuasion_by_kind": _persuasion(queries),
        "fisher_of_queries": fisher,
        "memorization_of_queries": memorization,
        "followed": _followed(models, relations),
        "entity_independent_of_contexts": _entity_independent(models, relations, entities),
        "answer_set_of_queries": answer_sets,
        "precision_of_queries": _precision(scored),
        "degree_of_queries": degrees,
        "agreement": pd.concat(
            [
                _agreement(fisher, "fisher"),
                _agreement(fisher, "fisher_top_k"),
                _agreement(answer_sets, "answer_set_susceptibility"),
                _agreement(memorization, "memorization_ratio"),
                *(_degree_agreement(degrees, name) for name in ("degree", "relation_degree")),
            ],
            ignore_index=True,
        ),
        "answers_of_questions": answers,
        "partition_summary": _summary(answers),
        "answers_to_read": _answers_to_read(answers),
        "questions_to_read": _questions_to_read(answers),
        "dropped_questions": _dropped(),
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


def _fisher(scored: pd.DataFrame) -> pd.DataFrame:
    """Fisher susceptibility that follows susceptibility loosely, over a range of two decades."""
    rng = _draw("fisher")
    slope = np.where(scored["query_type"] == "open", 1.4, 0.6)
    fisher = 900 * scored["susceptibility"] ** slope * rng.lognormal(0, 0.5, len(scored))
    return scored.assign(
        top_k=10,
        fisher_top_k=fisher * rng.uniform(0.4, 0.8, len(scored)),
        draws=64,
        fisher=fisher,
        fisher_standard_error=fisher * rng.uniform(0.03, 0.06, len(scored)),
    )


def _memorization(scored: pd.DataFrame) -> pd.DataFrame:
    """Ratios of four conflicting contexts a query, higher where susceptibility is low; some 0/0."""
    rng = _draw("memorization")
    followed = rng.integers(0, 5, len(scored))
    original = rng.binomial(followed, 1 / (1 + 2 * scored["susceptibility"]))
    ratio = np.where(followed > 0, original / np.maximum(followed, 1), np.nan)
    return scored.drop(columns="contexts").assign(
        original=original,
        substitute=followed - original,
        memorization_ratio=ratio,
        negation_original=1,
        negation_substitute=1,
        all_original=30 + original,
        all_substitute=12,
        memorization_ratio_all=(30 + original) / (42 + original),
    )


def _followed(models: list[tuple[str, str]], relations: list[str]) -> pd.DataFrame:
    rng, rows = _draw("followed"), []
    moved = {"context": 1.6, "original": 0.5, "other": 0.9}
    for model, dtype in models:
        for relation in relations:
            for query_type, size in (("open", 1.0), ("closed", 0.3)):
                for kind in ("base", "assertive", "negation"):
                    for conflict in (None, "negation" if kind == "negation" else "substitution"):
                        for follows, far in moved.items():
                            rows.append(
                                {
                                    "model": model,
                                    "dtype": dtype,
                                    "relation": relation,
                                    "query_type": query_type,
                                    "kind": kind,
                                    "conflict": conflict,
                                    "follows": follows,
                                    "answers": int(rng.integers(5, 40)) * (1 if conflict else 10),
                                    "persuasion": size * far * rng.gamma(9, 1 / 9) * (2 if conflict else 1),
                                }
                            )
    return pd.DataFrame(rows)


def _entity_independent(models: list[tuple[str, str]], relations: list[str], entities: int) -> pd.DataFrame:
    rng, rows = _draw("entity independent"), []
    for model, dtype in models:
        for at, relation in enumerate(relations):
            for query_type, size in (("open", 0.5), ("closed", 0.15)):
                for form in (1, 2):
                    for kind, factor in (("base", 0.8), ("assertive", 1.0), ("negation", 0.6)):
                        for number in range(2 * entities):
                            rows.append(
                                {
                                    "model": model,
                                    "dtype": dtype,
                                    "relation": relation,
                                    "query_type": query_type,
                                    "form": form,
                                    "context_id": f"{relation}-{kind}-{number}",
                                    "kind": kind,
                                    "context": f"The {relation} of Norway is, {kind}, number {number}.",
                                    "entities": 2 * entities,
                                    "entity_independent_persuasion": size * factor * (1 + at / 4) * rng.gamma(4, 0.25),
                                }
                            )
    return pd.DataFrame(rows)


def _answer_sets(scored: pd.DataFrame) -> pd.DataFrame:
    rng, closed = _draw("answer sets"), scored["query_type"] == "closed"
    return scored.assign(
        answers=np.where(closed, 2, 40),
        answer_set_susceptibility=scored["susceptibility"] * rng.gamma(12, 1 / 10, len(scored)),
        mass=np.where(closed, rng.uniform(0.8, 1, len(scored)), rng.uniform(0.1, 0.7, len(scored))),
    )


def _precision(scored: pd.DataFrame) -> pd.DataFrame:
    """Four queries a relation of the models in a reduced format."""
    reduced = scored[~scored["dtype"].isin(["float32", "float64"])]
    sample = reduced.groupby(["model", "dtype", "relation", "query_type"]).head(2).reset_index(drop=True)
    rng = _draw("precision")
    exact = sample["susceptibility"] + rng.normal(0, 0.004, len(sample))
    largest = rng.gamma(2, 0.02, len(sample))
    return sample[["model", "dtype", "relation", "query_type", "query_id", "susceptibility"]].assign(
        reference="float32", susceptibility_reference=exact, largest_difference=largest, mean_difference=largest / 5
    )


def _agreement(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
    made = []
    for (model, dtype), of_model in rows.dropna(subset=[measure]).groupby(["model", "dtype"]):
        for query_type in ("open", "closed", "all"):
            part = of_model if query_type == "all" else of_model[of_model["query_type"] == query_type]
            for level in ("query", "relation"):
                pairs = part[[measure, "susceptibility"]]
                if level == "relation":
                    pairs = part.groupby("relation")[[measure, "susceptibility"]].mean()
                few = len(pairs) < 3
                made.append(
                    {
                        "model": model,
                        "dtype": dtype,
                        "measure_a": measure,
                        "measure_b": "susceptibility",
                        "level": level,
                        "relation": "all",
                        "query_type": query_type,
                        "n": len(pairs),
                        "pearson": None if few else pairs.corr().iloc[0, 1],
                        "pearson_p": None if few else 0.001,
                        "spearman": None if few else pairs.rank().corr().iloc[0, 1],
                        "spearman_p": None if few else 0.001,
                        "untestable": "fewer than three pairs" if few else None,
                    }
                )
    return pd.DataFrame(made).astype(dict.fromkeys(("pearson", "pearson_p", "spearman", "spearman_p"), float))


def _degrees(scored: pd.DataFrame) -> pd.DataFrame:
    """Real entities of very different degree, which sways them the less the higher it is; invented ones of none."""
    rng = _draw("degrees")
    entities = scored[["relation", "entity", "invented"]].drop_duplicates().reset_index(drop=True)
    drawn = np.ceil(10 ** rng.uniform(0, 4, len(entities))).astype(int)
    entities["degree"] = np.where(entities["invented"], 0, drawn)
    entities["relation_degree"] = np.where(entities["invented"], 0, 1 + drawn % 7)
    return scored.merge(entities, on=["relation", "entity", "invented"]).drop(columns="contexts")


def _degree_agreement(rows: pd.DataFrame, degree: str) -> pd.DataFrame:
    real = rows[~rows["invented"]].rename(columns={degree: f"log_{degree}"})
    pooled = _agreement(real, f"log_{degree}")
    pooled = pooled[pooled["level"] == "query"].assign(level="entity")
    return pd.concat([pooled, pooled.assign(relation="capital")], ignore_index=True)


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
                        "semantic_entropy_standard_error": 0.2,
                        "groups": 3,
                        "context_cut": 12 if condition == "original" and number % 4 == 0 else 0,
                        "answers": SAMPLES,
                        "empty_answers": int(number % 5 == 0),
                        "unfinished_answers": int(number % 3 == 0),
                        "answer": "Oslo",
                        "accurate": bool(rng.random() < 0.4),
                        "coherent_persuasion": None if alone else moved,
                        "coherent_persuasion_standard_error": None if alone else moved / 10,
                        "persuaded": persuaded,
                        "stubborn": None if alone else (not persuaded and bool(rng.random() < 0.4)),
                        "stand_in": "all-MiniLM-L6-v2 for deberta-large-mnli",
                    }
                )
    missing = ("coherent_persuasion", "coherent_persuasion_standard_error", "object_popularity")
    return pd.DataFrame(rows).astype(dict.fromkeys(missing, float))


def _answers_to_read(answers: pd.DataFrame) -> pd.DataFrame:
    """The greedy answer and ten samples in three groups; here and there an empty one, or one that was cut short."""
    words = {"none": "Oslo", "original": "It is Oslo", "counter_memory": "Bergen"}
    rows = []
    for one in answers.to_dict("records"):
        number = int(one["question_id"][1:])
        keys = {name: one[name] for name in ("model", "dtype", "relation", "question_id", "condition")}
        for sample in (None, *range(SAMPLES)):
            group = None if sample is None else (0, 0, 0, 1, 0, 1, 2, 0, 2, 0)[sample]
            text = words[one["condition"]] if not group else f"A town {group} of subject {number}, {one['dtype']}"
            empty = sample == 8 and one["empty_answers"]
            cut = sample == 6 and one["unfinished_answers"]
            rows.append(
                {
                    **keys,
                    "sample": sample,
                    "text": "" if empty else text,
                    "answer_group": group,
                    "log_probability": -len(text) / 4 - (sample == 6),
                    "finished": not cut,
                }
            )
    return pd.DataFrame(rows).astype({"sample": "Int64", "answer_group": "Int64"})


def _questions_to_read(answers: pd.DataFrame) -> pd.DataFrame:
    asked = answers.drop_duplicates("question_id").reset_index(drop=True)
    said = asked["subject"] + " is a place by the sea. Its capital is "
    return asked[
        [
            "question_id",
            "relation",
            "partition",
            "subject",
            "question",
            "edits",
            "subject_popularity",
            "object_popularity",
        ]
    ].assign(
        subject_id=[f"Q{20 + at}" for at in asked.index],
        property_id="P36",
        object="Oslo",
        object_id="Q585",
        accepted="Oslo; Kristiania",
        replacement="Bergen",
        original_context=said + "Oslo.",
        counter_memory_context=said + "Bergen.",
    )


def _summary(answers: pd.DataFrame) -> pd.DataFrame:
    shares = answers.assign(
        **{name: answers[name].astype("boolean").astype("Float64") for name in ("accurate", "persuaded", "stubborn")}
    )
    return (
        shares.groupby(["model", "dtype", "partition", "condition"])
        .agg(
            questions=("question_id", "count"),
            answers=("answers", "sum"),
            empty_answers=("empty_answers", "sum"),
            unfinished_answers=("unfinished_answers", "sum"),
            contexts_cut=("context_cut", lambda cut: int((cut > 0).sum())),
            accuracy=("accurate", "mean"),
            groups=("groups", "mean"),
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
