"""Made-up frames of queries: what each measure on the next token says of them."""

import numpy as np
import pandas as pd

from tests.reports.draws import draw


def make_queries(models: list[tuple[str, str]], relations: list[str], entities: int) -> pd.DataFrame:
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


def make_susceptibility(queries: pd.DataFrame) -> pd.DataFrame:
    rng = draw("susceptibility")
    base = queries["relation"].map(
        {name: 0.15 + 0.1 * at for at, name in enumerate(dict.fromkeys(queries["relation"]))}
    )
    level = base * np.where(queries["query_type"] == "open", 1.0, 0.35) * np.where(queries["invented"], 1.35, 1.0)
    return queries.assign(contexts=120, susceptibility=level * rng.gamma(8, 1 / 8, len(queries)))


def make_fisher(scored: pd.DataFrame) -> pd.DataFrame:
    """Fisher susceptibility that follows susceptibility loosely, over a range of two decades."""
    rng = draw("fisher")
    slope = np.where(scored["query_type"] == "open", 1.4, 0.6)
    fisher = 900 * scored["susceptibility"] ** slope * rng.lognormal(0, 0.5, len(scored))
    return scored.assign(
        top_k=10,
        fisher_top_k=fisher * rng.uniform(0.4, 0.8, len(scored)),
        draws=64,
        fisher=fisher,
        fisher_standard_error=fisher * rng.uniform(0.03, 0.06, len(scored)),
    )


def make_memorization(scored: pd.DataFrame) -> pd.DataFrame:
    """Ratios of four conflicting contexts a query, higher where susceptibility is low; some 0/0."""
    rng = draw("memorization")
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


def make_followed(models: list[tuple[str, str]], relations: list[str]) -> pd.DataFrame:
    rng, rows = draw("followed"), []
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


def make_entity_independent(models: list[tuple[str, str]], relations: list[str], entities: int) -> pd.DataFrame:
    rng, rows = draw("entity independent"), []
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


def make_answer_sets(scored: pd.DataFrame) -> pd.DataFrame:
    rng, closed = draw("answer sets"), scored["query_type"] == "closed"
    return scored.assign(
        answers=np.where(closed, 2, 40),
        answer_set_susceptibility=scored["susceptibility"] * rng.gamma(12, 1 / 10, len(scored)),
        mass=np.where(closed, rng.uniform(0.8, 1, len(scored)), rng.uniform(0.1, 0.7, len(scored))),
    )


def make_precision(scored: pd.DataFrame) -> pd.DataFrame:
    """Four queries a relation of the models in a reduced format."""
    reduced = scored[~scored["dtype"].isin(["float32", "float64"])]
    sample = reduced.groupby(["model", "dtype", "relation", "query_type"]).head(2).reset_index(drop=True)
    rng = draw("precision")
    exact = sample["susceptibility"] + rng.normal(0, 0.004, len(sample))
    largest = rng.gamma(2, 0.02, len(sample))
    return sample[["model", "dtype", "relation", "query_type", "query_id", "susceptibility"]].assign(
        reference="float32", susceptibility_reference=exact, largest_difference=largest, mean_difference=largest / 5
    )


def make_agreement(rows: pd.DataFrame, measure: str) -> pd.DataFrame:
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


def make_degrees(scored: pd.DataFrame) -> pd.DataFrame:
    """Real entities of very different degree, which sways them the less the higher it is; invented ones of none."""
    rng = draw("degrees")
    entities = scored[["relation", "entity", "invented"]].drop_duplicates().reset_index(drop=True)
    drawn = np.ceil(10 ** rng.uniform(0, 4, len(entities))).astype(int)
    entities["degree"] = np.where(entities["invented"], 0, drawn)
    entities["relation_degree"] = np.where(entities["invented"], 0, 1 + drawn % 7)
    return scored.merge(entities, on=["relation", "entity", "invented"]).drop(columns="contexts")


def make_degree_agreement(rows: pd.DataFrame, degree: str) -> pd.DataFrame:
    real = rows[~rows["invented"]].rename(columns={degree: f"log_{degree}"})
    pooled = make_agreement(real, f"log_{degree}")
    pooled = pooled[pooled["level"] == "query"].assign(level="entity")
    return pd.concat([pooled, pooled.assign(relation="capital")], ignore_index=True)


def make_persuasion(queries: pd.DataFrame) -> pd.DataFrame:
    rng = draw("persuasion")
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
