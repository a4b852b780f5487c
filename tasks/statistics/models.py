"""Models side by side: what each does on the items of a study, and how every two of them differ on the same items.

    follows              the greedy answer states the answer of a context that states one,  1 or 0
                         and not both of two that conflict
    prefers_right        with a mixed context, it states the right answer alone             1 or 0
    prefers_wrong        likewise, that of a conflicting passage alone                      1 or 0
    names_both           likewise, both                                                     1 or 0
    follows_right        with a supporting or a mixed context, it states the right answer   1 or 0
                         and no conflicting one
    resists_wrong        with a conflicting or a mixed context, it does not state the       1 or 0
                         wrong answer alone
    abstains             with an irrelevant or a neutral context, it declines, or is empty  1 or 0
    keeps                the greedy answer stays what it was, with an irrelevant context,    1 or 0
                         a neutral one, which says nothing, or one of an unknown kind
    correct              the greedy answer without a context states the original answer      1 or 0
    refuses              the greedy answer declines, or is empty                             1 or 0
    context_bias         a conflicting context's answer takes the place of a right one       1 or 0
    prior_bias           a wrong answer stays as it is, though the context states the right  1 or 0
    binary_utilisation   of a question's context, where measured                             1 or 0
    continuous_utilisation  likewise                                                         -1 to 1
    coherent_persuasion  of a question's context, from 5 sampled answers on                  nats
    coherent_persuasion_unchanged  the same where nothing changes, between halves of 10 or more  nats
    susceptibility       of a query                                                          nats

A bias is over the questions where context and greedy answer without it disagree, and one of them is right (states the
original answer). Context bias: that answer is right alone; with a conflicting context it is the context's and no longer
the original one. Prior bias: that answer is another one, no refusal; with a supporting context it has the same words.
What they are not: shares of all questions. A model that knows other facts is asked other questions, so the difference
of two models is over those that count for both.
Source: Wu, Wu and Zou 2024, ClashEval, Table 2 and its released code; docs/measures.md says where this differs.

follows_right, resists_wrong and abstains are of one's own questions and take all conditions together: what a variant is
chosen by. Groups of the others: the condition of a question, the type of a query. Unit of analysis: an answer to a
question under a condition, so that a question counts as often as it has contexts of it; a query. Intervals and tests
take subjects as independent (a question where none is named), of queries entities, whatever their relations. p_adjusted
is over the verdicts on what variants are chosen by, and over all others.

verdict:
    larger, smaller  the interval of the difference is on one side of 0, and p_adjusted at most 0.05
    equal            else, where the interval lies within the margin on both sides of 0: 0.05, of nats a tenth of the
                     mean of both models
    undecided        else: nothing shows that they differ, nor that they do not
An interval of 95% within the margin is a test of equivalence with alpha = 0.025 on either side.
Source: Schuirmann 1987, A comparison of the two one-sided tests procedure and the power approach.
"""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from swaymeter.data.dataset.comparison import BETWEEN, QUERIES, REPLIES
from swaymeter.data.records import CONFLICTING, OWN_CONDITIONS, SUPPORTING
from swaymeter.data.records.statistics import ALPHA, EQUAL, SHARE, UNDECIDED, ModelDifference, Summary
from swaymeter.tasks.statistics.formulas.groups import adjust
from swaymeter.tasks.statistics.formulas.paired import paired_differences
from swaymeter.tasks.statistics.frames import ALL, WITH, WITHOUT, by, check_scored, drop_small_samples, sorted_by
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, Mean

MODEL_QUERIES = (REPLIES, QUERIES)
"""What the statistics of models read."""
CHOSEN_BY = ("follows_right", "resists_wrong", "abstains")
"""What says which variant to take; over all conditions."""
SHARES = (
    "follows", "prefers_right", "prefers_wrong", "names_both", *CHOSEN_BY, "keeps", "correct", "refuses",
    "context_bias", "prior_bias", "binary_utilisation",
)  # fmt: skip
UNITS = {
    **dict.fromkeys(SHARES, SHARE), "continuous_utilisation": "", "coherent_persuasion": "nats",
    "coherent_persuasion_unchanged": "nats", "susceptibility": "nats",
}  # fmt: skip
GROUP = ("condition", "query_type")
UNCHANGED = "coherent_persuasion_unchanged"
"""What another quantity is where nothing changes, on the same items: no models are compared by it."""
MARGIN, MARGIN_OF_MEAN = 0.05, 0.1
"""Within how much two models are equal: of shares and other numbers without unit; of nats, as a part of their mean."""
STAYED, UNRELATED = ("stubborn", "agreed"), ("irrelevant", "neutral", "unknown")
"""Outcomes of an answer that stays what it was, and the conditions in which that is asked."""


def items(frames: Frames) -> Iterator[tuple[str, Frame]]:
    """A frame for each quantity: model, dtype, condition, query_type, cluster, item, value, sorted by these."""
    answers = frames["answers_of_questions"]
    answers = answers.assign(
        query_type=ALL, cluster=answers["subject_key"].astype(str),
        item=answers["question_id"].astype(str) + BETWEEN + answers["context_id"].astype(str),
    )  # fmt: skip
    judged = answers[answers["verdict"].notna()]
    undecided = _is_disputable(judged)
    alone, verdict = judged["condition"] == "none", judged["verdict"].astype(object)
    stated = judged["states_answer"].fillna(value=False).astype(bool)
    mixed = judged["condition"] == "mixed"
    follows = judged.assign(value=verdict.isin(("context", "both")).astype(float))
    yield "follows", _sorted(follows[~alone & ~mixed & stated])
    yield from _chosen_by(judged, verdict)
    unrelated = judged["condition"].isin(UNRELATED) & judged["outcome"].notna()  # NULL: none without it to compare with
    yield "keeps", _sorted(judged.assign(value=judged["outcome"].isin(STAYED).astype(float))[unrelated])
    yield "correct", _sorted(judged.assign(value=verdict.isin(("original", "both")).astype(float))[alone & ~undecided])
    yield "refuses", _sorted(judged.assign(value=(verdict == "refusal").astype(float)))
    priors = judged.loc[alone, [*MODEL, "question_id", "verdict"]].rename(columns={"verdict": "prior"})
    clashes = judged[~alone & ~undecided].merge(priors, on=[*MODEL, "question_id"])
    wrong_context = clashes["condition"].isin(CONFLICTING) & (clashes["prior"] == "original")
    wrong_prior = clashes["condition"].isin(SUPPORTING) & clashes["prior"].isin(("context", "neither"))
    yield "context_bias", _sorted(clashes.assign(value=(clashes["verdict"] == "context").astype(float))[wrong_context])
    yield "prior_bias", _sorted(clashes.assign(value=(clashes["outcome"] == "stubborn").astype(float))[wrong_prior])
    for name in ("binary_utilisation", "continuous_utilisation"):
        yield name, _sorted(answers.assign(value=answers[name].astype("float64")))
    without = answers.loc[answers["condition"] == "none", [*MODEL, "question_id", WITH]]
    sampled = answers.merge(without.rename(columns={WITH: WITHOUT}), on=[*MODEL, "question_id"], how="left")
    for name, counts, parts in (("coherent_persuasion", (WITH, WITHOUT), 1), (UNCHANGED, (WITHOUT,), 2)):
        yield name, _sorted(drop_small_samples(sampled, [name], counts, parts).rename(columns={name: "value"}))
    check_scored(frames["susceptibility_of_queries"], "susceptibility")
    queries = frames["susceptibility_of_queries"].rename(columns={"query_id": "item", "susceptibility": "value"})
    entity = queries["entity"].astype(str)  # whatever its relations: a name stands in every set of contexts
    yield "susceptibility", _sorted(queries.assign(condition=ALL, cluster=entity))


def _chosen_by(judged: Frame, verdict: Any) -> Iterator[tuple[str, Frame]]:
    """What answers to one's own questions do with right and wrong passages; verdict: of each row, as objects."""
    condition = judged["condition"].astype(object)
    mixed, right = condition == "mixed", condition == "supporting"
    for name, of in (("prefers_right", "original"), ("prefers_wrong", "context"), ("names_both", "both")):
        yield name, _sorted(judged.assign(value=(verdict == of).astype(float))[mixed])
    over_all = judged.assign(condition=ALL)
    # With a supporting context there is one side to look for, and its answer is the context's.
    states_right = (right & verdict.isin(("context", "both"))) | (mixed & (verdict == "original"))
    yield "follows_right", _sorted(over_all.assign(value=states_right.astype(float))[right | mixed])
    resists = over_all.assign(value=(verdict != "context").astype(float))
    yield "resists_wrong", _sorted(resists[mixed | (condition == "conflicting")])
    unsupported = condition.isin(("irrelevant", "neutral"))
    yield "abstains", _sorted(over_all.assign(value=(verdict == "refusal").astype(float))[unsupported])


def _is_disputable(judged: Frame) -> Any:
    """Which rows are of DynamicQA's disputable questions, of whose answers none is right; a truth value each."""
    own = judged.loc[judged["condition"].isin(OWN_CONDITIONS), "question_id"]
    return (judged["partition"] == "disputable") & ~judged["question_id"].isin(own)


def _sorted(frame: Frame) -> Frame:
    columns = [*MODEL, *GROUP, "cluster", "item"]
    return sorted_by(frame[[*columns, "value"]].dropna(subset=["value"]), columns)


def over_what(frames: Frames) -> str:
    """What intervals of answers are over: subjects, or questions where none names another one than itself."""
    answers = frames["answers_of_questions"]
    differ = answers["subject_key"].astype(object) != answers["question_id"].astype(object)
    return "subject" if differ.any() else "question"


def means(frames: Frames, seed: int) -> list[Row]:
    """The rows of `Summary`: the mean of each quantity and its interval."""
    of_answers = over_what(frames)
    rows = []
    for quantity, frame in items(frames):
        unit, of = ("query", "entity") if quantity == "susceptibility" else ("answer", of_answers)
        mean = Mean(quantity, (*MODEL, *GROUP), unit, UNITS[quantity], column="value", interval=True, over=of)
        rows += mean.rows(frame, seed)
    return rows


def of_models(frames: Frames) -> Iterator[tuple[str, Row, list[tuple[Row, Frame]]]]:
    """Each quantity by which models are compared and each group, with the items of each model."""
    for quantity, frame in items(frames):
        if quantity != UNCHANGED:
            yield from ((quantity, group, [*by(of_group, MODEL)]) for group, of_group in by(frame, GROUP))


def differences(frames: Frames, seed: int) -> list[Row]:
    """The rows of `ModelDifference`, but for p_adjusted."""
    if len({tuple(model) for frame in frames.values() for model in frame[[*MODEL]].drop_duplicates().to_numpy()}) < 2:
        return []
    rows: list[Row] = []
    for quantity, group, models in of_models(frames):
        by_item = [(about, of_model.set_index(["cluster", "item"])["value"]) for about, of_model in models]
        abouts = [(one, other) for (one, _), (other, _) in combinations(by_item, 2)]
        both = [
            one.to_frame().join(other.rename("against"), how="inner")
            for (_, one), (_, other) in combinations(by_item, 2)
        ]
        changes = [(pair["value"] - pair["against"], pair.index.get_level_values("cluster")) for pair in both]
        tested = paired_differences(changes, seed, shares=UNITS[quantity] == SHARE)
        for (model, against), pair, paired in zip(abouts, both, tested, strict=True):
            rows.append(
                {
                    **model, "relation": ALL, **group, "against_model": against["model"],
                    "against_dtype": against["dtype"], "quantity": quantity, "unit": UNITS[quantity],
                    "mean": float(pair["value"].mean()) if len(pair) else None,
                    "against_mean": float(pair["against"].mean()) if len(pair) else None,
                    **paired._asdict(), "p_adjusted": None, "margin": None, "verdict": None,
                }
            )  # fmt: skip
    return rows


def adjusted(rows: list[Row]) -> list[Row]:
    """The rows with p_adjusted, the margin, and the verdict; what variants are chosen by is a family of its own."""
    adjust([row for row in rows if row["quantity"] in CHOSEN_BY], ())
    adjust([row for row in rows if row["quantity"] not in CHOSEN_BY], ())
    return with_verdicts(rows)


def with_verdicts(rows: list[Row]) -> list[Row]:
    """The rows, whose p-values are adjusted, with the margin and the verdict."""
    for row in rows:
        means = (row["mean"], row["against_mean"])
        relative = row["unit"] == "nats" and None not in means
        margin = MARGIN_OF_MEAN * sum(means) / 2 if relative else MARGIN
        row |= {"margin": margin, "verdict": _verdict(row, row["p_adjusted"], margin)}
    return rows


def _verdict(row: Row, p: float | None, margin: float) -> str | None:
    """What an interval and a test say together; None where there is no test."""
    if p is None:
        return None
    if p <= ALPHA and not row["low"] <= 0 <= row["high"]:
        return "larger" if row["low"] > 0 else "smaller"
    return EQUAL if max(-row["low"], row["high"]) <= margin else UNDECIDED


MEANS = Statistic("model_means", 12, Summary, MODEL_QUERIES, means)
DIFFERENCES = Statistic(
    "model_differences", 12, ModelDifference, MODEL_QUERIES, lambda frames, seed: adjusted(differences(frames, seed))
)
