"""The tables: one function per table, each over every model and number format, never mixed."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from data.reasons import REASONS
from data.records import PARTITIONS
from reports.figures.effects import SHOWN, drawable, significant
from reports.figures.instances import instances, partitions
from reports.frames import by_model, finite, is_null, numbers
from reports.style import CONDITION_NAMES, QUERY_HUES

MOST_PERSUASIVE = 10


@dataclass(frozen=True)
class Sheet:
    """A table with its safe file name, title, how to read it, and whether the page folds it."""

    name: str
    title: str
    caption: str
    rows: pd.DataFrame
    folded: bool = False

    @property
    def only_model(self) -> str:
        """The model where all rows are of one model and number format; empty where there are several."""
        models = list(by_model(self.rows)) if "model" in self.rows else []
        return str(models[0][0]) if len(models) == 1 else ""

    @property
    def shown(self) -> pd.DataFrame:
        """The rows for the page, without the model's columns where `only_model` says it for all."""
        return self.rows.drop(columns=["model", "dtype"]) if self.only_model else self.rows


def accuracy_entropy_persuasion(frames: dict[str, pd.DataFrame]) -> Sheet:
    """Accuracy, semantic entropy and coherent persuasion per partition and context (as [M] Table 2)."""
    return Sheet(
        "accuracy-entropy-persuasion",
        "Accuracy, uncertainty and persuasion, with and without context",
        "A row is a partition under a context. Accuracy is the share of greedy answers that are the expected one: "
        "the original object, or what the context states. Entropies and coherent persuasion are means in nats; "
        f"there is no persuasion without a context.{_standard_errors(frames['answers_of_questions'])}",
        _by_partition(
            frames["partition_summary"],
            "questions",
            "accuracy",
            "semantic_entropy",
            "semantic_entropy_length_normalised",
            "semantic_entropy_rao",
            "coherent_persuasion",
        ),
    )


def what_became_of_answers(frames: dict[str, pd.DataFrame]) -> Sheet:
    """Empty and unfinished answers, contexts cut, and the mean number of groups, per partition and context."""
    summary = frames["partition_summary"]
    return Sheet(
        "what-became-of-answers",
        "What became of the answers",
        "Answers are the samples; greedy ones are not counted here. An empty answer ended before its first word: it is "
        "equivalent to other empty ones alone, and as a greedy answer it matches nothing. An unfinished one was cut "
        "off at the limit of tokens. Where a context was cut, its end did not fit into the model's window. Nothing is "
        "left out: all of them are in the scores. Groups: how many different things the answers to a question say, on "
        "average.",
        _by_partition(
            summary[summary["answers"].notna()],
            "questions",
            "answers",
            "empty_answers",
            "unfinished_answers",
            "contexts_cut",
            "groups",
        ),
    )


def _by_partition(summary: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """These columns of partition_summary: models by name, partitions and contexts in their fixed order."""
    made = []
    for model, rows in by_model(summary):
        for partition in partitions(rows):
            for condition, said in CONDITION_NAMES.items():
                for row in rows[(rows["partition"] == partition) & (rows["condition"] == condition)].to_dict("records"):
                    where = {"model": model.name, "dtype": model.dtype, "partition": partition, "context": said}
                    made.append({**where, **{name: row[name] for name in columns}})
    return pd.DataFrame(made)


def _standard_errors(answers: pd.DataFrame) -> str:
    """How exact one question's scores are, per model; empty where no half-samples were drawn."""
    named = {"semantic_entropy": "semantic entropy", "coherent_persuasion": "coherent persuasion"}
    said = []
    for model, rows in by_model(answers):
        errors = {name: finite(rows, f"{name}_standard_error").rows[f"{name}_standard_error"] for name in named}
        means = [f"{one.mean():.2g} ({named[name]})" for name, one in errors.items() if len(one)]
        if means:
            said.append(f"{' and '.join(means)} for {model}")
    if not said:
        return ""
    return f" Mean standard error of a single question's score, from half-samples of its answers: {'; '.join(said)}."


def persuaded_and_stubborn(frames: dict[str, pd.DataFrame]) -> Sheet:
    """Instances, and the share of persuaded and stubborn ones, per partition (as [M] Table 1)."""
    made = []
    for model, answers in by_model(frames["answers_of_questions"]):
        rows = instances(answers)
        for partition in partitions(rows):
            for condition, said in CONDITION_NAMES.items():
                part = rows[(rows["partition"] == partition) & (rows["condition"] == condition)]
                if not part.empty:
                    measured = int((part["outcome"] != "unmeasured").sum())
                    counts = {name: int((part["outcome"] == name).sum()) for name in ("persuaded", "stubborn")}
                    made.append(
                        {
                            "model": model.name,
                            "dtype": model.dtype,
                            "partition": partition,
                            "context": said,
                            "instances": len(part),
                            "measured": measured,
                            **counts,
                            **{f"share_{name}": count / (measured or np.nan) for name, count in counts.items()},
                        }
                    )
    return Sheet(
        "persuaded-and-stubborn",
        "Who is persuaded, who is stubborn",
        "An instance is a question with a context. Persuaded: without it another answer, with it the context's. "
        "Stubborn: the same answer with and without, and not the context's. The rest is neither; shares are of the "
        "measured instances.",
        pd.DataFrame(made),
    )


def what_became_no_question(frames: dict[str, pd.DataFrame]) -> Sheet:
    """How many candidates became no question, by partition and reason, in each partition most first."""
    dropped, known = frames["rejected_questions"], set(frames["answers_of_questions"]["question_id"])
    rows = pd.DataFrame()
    if len(dropped):
        place = {name: at for at, name in enumerate(PARTITIONS)}
        rows = (
            dropped.assign(partition=dropped["partition"].fillna("not known yet"))
            .groupby(["partition", "reason"], sort=True)
            .agg(candidates=("candidates", "sum"), relations=("relation", "nunique"), example=("example", "first"))
            .reset_index()
            .sort_values("candidates", ascending=False, kind="stable")
            .sort_values("partition", key=lambda names: names.map(place).fillna(len(place)), kind="stable")
        )
        rows.insert(2, "meaning", [REASONS.get(reason, "") for reason in rows["reason"]])
    return Sheet(
        "what-became-no-question",
        "What became no question, and why",
        f"A candidate is a fact, a dispute or a question that was looked at beside the {len(known)} questions with "
        "scores, and dropped by a rule. Nothing is dropped without one; the database lists each in its table dropped.",
        rows.reset_index(drop=True),
    )


def most_persuasive_contexts(frames: dict[str, pd.DataFrame]) -> Sheet:
    """The contexts that persuade most whatever the entity, in their words, ten per model and query type."""
    keys = ["query_type", "relation", "context_id", "kind", "context"]
    shown = ["model", "dtype", "query_type", "rank", "context", "kind", "relation", "forms", "entities"]
    made = []
    for model, rows in by_model(frames["entity_independent_of_contexts"]):
        means = (
            finite(rows, "entity_independent_persuasion")
            .rows.groupby(keys, sort=True, dropna=False)
            .agg(
                forms=("form", "nunique"),
                entities=("entities", "max"),
                entity_independent_persuasion=("entity_independent_persuasion", "mean"),
            )
            .reset_index()
            .sort_values(["entity_independent_persuasion", "relation", "context_id"], ascending=[False, True, True])
        )
        for kind in QUERY_HUES:
            top = means[means["query_type"] == kind].head(MOST_PERSUASIVE)
            made.append(top.assign(model=model.name, dtype=model.dtype, rank=range(1, len(top) + 1)))
    return Sheet(
        "most-persuasive-contexts",
        "The contexts that persuade most, whatever the entity",
        f"The {MOST_PERSUASIVE} contexts with the largest entity-independent persuasion before queries of a type: the "
        "mean over the entities of a query form, here averaged over the forms of the type.",
        pd.concat(made, ignore_index=True)[[*shown, "entity_independent_persuasion"]] if made else pd.DataFrame(),
    )


def agreement_of_measures(frames: dict[str, pd.DataFrame]) -> Sheet:
    """Each measure's correlations with susceptibility, over queries and over relation means (as [L] Table 1)."""
    rows = frames["agreement"]
    first = ["measure", "level", "model", "dtype"]
    rows = rows[rows["level"] != "entity"]  # those stand below their figure
    if len(rows):
        place = {kind: at for at, kind in enumerate((*QUERY_HUES, "all"))}
        rows = rows.rename(columns={"measure_a": "measure"})
        rows = rows.sort_values([*first, "query_type"], key=lambda c: c.map(place) if c.name == "query_type" else c)
        rows = rows[[*first, "query_type", "n", "pearson", "pearson_p", "spearman", "spearman_p", "untestable"]]
    return Sheet(
        "agreement-of-measures",
        "How far other measures agree with susceptibility",
        "Pearson's and Spearman's correlation of a measure with the susceptibility of the same queries, or of the same "
        "relations' means, with their two-sided p; a dash where one is undefined, and why.",
        rows.reset_index(drop=True),
    )


def statistics_in_short(frames: dict[str, pd.DataFrame]) -> Sheet:
    """Relations tested, untestable and significant, and the mean effect, per comparison (as [D] Fig 5)."""
    keys = ["comparison", "measure", "query_type", "group_a", "group_b", "alternative"]
    made = []
    for model, rows in by_model(frames["statistics"]):
        rows = rows.sort_values("query_type", ascending=False)
        for (comparison, measure, kind, first, second, sided), part in rows.groupby(keys, sort=False):
            tested = is_null(part["untestable"])
            hits = int(significant(part).sum())
            effects = numbers(part.loc[drawable(part), "effect_size"])
            made.append(
                {
                    "model": model.name,
                    "dtype": model.dtype,
                    "comparison": comparison,
                    "query_type": kind,
                    "asked": f"{first} {'≠' if sided == 'two-sided' else '>'} {second}",
                    "measure": measure,
                    "tested": int(tested.sum()),
                    "untestable": int((~tested).sum()),
                    "significant": hits,
                    "share_significant": hits / int(tested.sum()) if tested.any() else np.nan,
                    "mean_effect_size": float(effects.mean()) if len(effects) else np.nan,
                    "finite_effects": len(effects),
                }
            )
    made.sort(key=lambda row: (row["model"], row["dtype"], row["comparison"], row["measure"]))
    return Sheet(
        "tests-in-short",
        "The tests in short",
        "A row is a comparison over all relations: in how many the difference is significant (permutation test, p < "
        "0.05 after Benjamini-Hochberg), and the mean of the signed effect sizes that are finite (Cohen's d, above "
        "zero where the first group is larger).",
        pd.DataFrame(made),
    )


def statistics_of_relations(frames: dict[str, pd.DataFrame]) -> Sheet:
    """Every test, relation by relation."""
    first = ["comparison", "measure", "model", "dtype"]
    rows = frames["statistics"]
    rows = rows.sort_values([*first, "query_type", "relation"])[[*first, *SHOWN]] if len(rows) else rows
    return Sheet(
        "tests-of-relations",
        "Every test, relation by relation",
        "Means in nats; p by permutation; p adjusted by Benjamini-Hochberg over relations within model, query type "
        "and comparison.",
        rows.reset_index(drop=True),
        folded=True,
    )


def sheets(frames: dict[str, pd.DataFrame]) -> list[Sheet]:
    """Every table in the page's order, empty ones too."""
    return [
        accuracy_entropy_persuasion(frames),
        persuaded_and_stubborn(frames),
        what_became_of_answers(frames),
        what_became_no_question(frames),
        most_persuasive_contexts(frames),
        agreement_of_measures(frames),
        statistics_in_short(frames),
        statistics_of_relations(frames),
    ]
