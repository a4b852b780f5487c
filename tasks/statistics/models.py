"""Quantities of models: a value for each item of a study, and the mean of each group.

    follows              with a context that states a single answer, the reply states the       1 or 0
                         context's answer
    prefers_right        with a mixed context, the reply states the right answer alone          1 or 0
    prefers_wrong        with a mixed context, the reply states the wrong answer alone          1 or 0
    names_both           with a mixed context, the reply states both answers                    1 or 0
    follows_right        with a supporting or a mixed context, the reply states the right       1 or 0
                         answer and no conflicting answer
    resists_wrong        with a conflicting or a mixed context, the reply does not state the    1 or 0
                         wrong answer alone
    abstains             with an irrelevant or a neutral context, the reply declines or is      1 or 0
                         empty; a neutral context says nothing about the question
    keeps                with an irrelevant or a neutral context, or a context of unknown       1 or 0
                         kind, the reply stays what it was without the context
    correct              without a context, the reply states the original answer                1 or 0
    refuses              the reply declines, or is empty                                        1 or 0
    context_bias         with a conflicting context, the reply states the context's answer in   1 or 0
                         place of the right answer
    prior_bias           with a supporting context, the reply keeps the closed-book reply's     1 or 0
                         wrong answer
    binary_utilisation   BCU of the measure context_utilisation (docs/measures.md)              1 or 0
    continuous_utilisation         CCU of the measure context_utilisation                       -1 to 1
    coherent_persuasion            of a question's context, from 5 sampled replies on           nats
    coherent_persuasion_unchanged  the control of coherent persuasion: its value between two    nats
                                   halves of the closed-book replies, of 10 or more replies
    susceptibility       of a query                                                             nats

Except for coherent persuasion, which has sampled replies, a reply is a greedy reply.

A bias is a share of the questions for which either the context or the closed-book reply is right, but not both. A text
is right if it states the original answer. Context bias: the closed-book reply is right; with a conflicting context, the
reply states the context's answer and no longer the original answer. Prior bias: the closed-book reply gives another
answer, and is no refusal; with a supporting context, the reply has the same words. The difference of two models is over
the questions that count for both.
Source: Wu, Wu and Zou 2024, ClashEval, Table 2 and its released code; docs/measures.md lists the differences.

follows_right, resists_wrong and abstains are about questions of the study's user, over all conditions together. Groups
of the other quantities: the condition of a question, the type of a query. Unit of analysis: a query, or a reply to a
question under a condition. So a question counts once for each of its contexts.
Intervals and tests of replies take subjects as independent, or questions if no subject is named. Intervals and tests of
queries take entities as independent, across relations.
"""

from collections.abc import Iterator
from typing import Any

from swaymeter.data.dataset.snapshot import BETWEEN, QUERIES, REPLIES
from swaymeter.data.records import CONFLICTING, OWN_CONDITIONS, SUPPORTING
from swaymeter.data.records.statistics import SHARE, Summary
from swaymeter.tasks.statistics.frames import (
    ALL,
    COUNT_WITH,
    COUNT_WITHOUT,
    check_scored,
    drop_small_samples,
    iter_groups,
    sort_frame,
)
from swaymeter.tasks.statistics.statistic import Frame, Frames, Row, Statistic
from swaymeter.tasks.statistics.summary import MODEL, Mean

MODEL_QUERIES = (REPLIES, QUERIES)
"""The named queries of the statistics of models."""
DECISIVE = ("follows_right", "resists_wrong", "abstains")
"""Quantities by which people choose a variant, over all conditions."""
SHARES = (
    "follows",
    "prefers_right",
    "prefers_wrong",
    "names_both",
    *DECISIVE,
    "keeps",
    "correct",
    "refuses",
    "context_bias",
    "prior_bias",
    "binary_utilisation",
)
UNITS = {
    **dict.fromkeys(SHARES, SHARE),
    "continuous_utilisation": "",
    "coherent_persuasion": "nats",
    "coherent_persuasion_unchanged": "nats",
    "susceptibility": "nats",
}
GROUP = ("condition", "query_type")
UNCHANGED = "coherent_persuasion_unchanged"
"""The control of coherent persuasion. Models are not compared by this quantity."""
STAYED, UNRELATED = ("stubborn", "agreed"), ("irrelevant", "neutral", "unknown")
"""Outcomes of a reply that stays the same; conditions in which the quantity `keeps` is measured."""


def items(frames: Frames) -> Iterator[tuple[str, Frame]]:
    """Yield each quantity and its sorted frame: model, dtype, condition, query_type, cluster, item, value."""
    answers = frames["answers_of_questions"]
    answers = answers.assign(
        query_type=ALL,
        cluster=answers["subject_key"].astype(str),
        item=answers["question_id"].astype(str) + BETWEEN + answers["context_id"].astype(str),
    )
    judged = answers[answers["verdict"].notna()]
    is_disputable = _is_disputable(judged)
    closed_book, verdict = judged["condition"] == "none", judged["verdict"].astype(object)
    states_answer = judged["states_answer"].fillna(value=False).astype(bool)
    mixed = judged["condition"] == "mixed"
    follows = judged.assign(value=verdict.isin(("context", "both")).astype(float))
    yield "follows", _sort_items(follows[~closed_book & ~mixed & states_answer])
    yield from _quantities_of_own_questions(judged, verdict)
    # The outcome is NULL without a closed-book reply.
    unrelated = judged["condition"].isin(UNRELATED) & judged["outcome"].notna()
    yield "keeps", _sort_items(judged.assign(value=judged["outcome"].isin(STAYED).astype(float))[unrelated])
    correct = judged.assign(value=verdict.isin(("original", "both")).astype(float))
    yield "correct", _sort_items(correct[closed_book & ~is_disputable])
    yield "refuses", _sort_items(judged.assign(value=(verdict == "refusal").astype(float)))
    # prior: the verdict of the closed-book reply
    priors = judged.loc[closed_book, [*MODEL, "question_id", "verdict"]].rename(columns={"verdict": "prior"})
    with_prior = judged[~closed_book & ~is_disputable].merge(priors, on=[*MODEL, "question_id"])
    wrong_context = with_prior["condition"].isin(CONFLICTING) & (with_prior["prior"] == "original")
    wrong_prior = with_prior["condition"].isin(SUPPORTING) & with_prior["prior"].isin(("context", "neither"))
    yield (
        "context_bias",
        _sort_items(with_prior.assign(value=(with_prior["verdict"] == "context").astype(float))[wrong_context]),
    )
    yield (
        "prior_bias",
        _sort_items(with_prior.assign(value=(with_prior["outcome"] == "stubborn").astype(float))[wrong_prior]),
    )
    for name in ("binary_utilisation", "continuous_utilisation"):
        yield name, _sort_items(answers.assign(value=answers[name].astype("float64")))
    without = answers.loc[answers["condition"] == "none", [*MODEL, "question_id", COUNT_WITH]]
    sampled = answers.merge(without.rename(columns={COUNT_WITH: COUNT_WITHOUT}), on=[*MODEL, "question_id"], how="left")
    for name, counts, parts in (
        ("coherent_persuasion", (COUNT_WITH, COUNT_WITHOUT), 1),
        (UNCHANGED, (COUNT_WITHOUT,), 2),
    ):
        yield name, _sort_items(drop_small_samples(sampled, [name], counts, parts).rename(columns={name: "value"}))
    check_scored(frames["susceptibility_of_queries"], "susceptibility")
    queries = frames["susceptibility_of_queries"].rename(columns={"query_id": "item", "susceptibility": "value"})
    entity = queries["entity"].astype(str)  # a cluster across relations, because an entity can be in several relations
    yield "susceptibility", _sort_items(queries.assign(condition=ALL, cluster=entity))


def _quantities_of_own_questions(judged: Frame, verdict: Any) -> Iterator[tuple[str, Frame]]:
    """Yield the quantities of questions of the study's user, for `judged` replies and the verdict of each reply."""
    condition = judged["condition"].astype(object)
    mixed, supporting = condition == "mixed", condition == "supporting"
    for name, stated in (("prefers_right", "original"), ("prefers_wrong", "context"), ("names_both", "both")):
        yield name, _sort_items(judged.assign(value=(verdict == stated).astype(float))[mixed])
    pooled = judged.assign(condition=ALL)
    # A supporting context states the original answer, so a reply with this answer has the verdict "context".
    states_right = (supporting & verdict.isin(("context", "both"))) | (mixed & (verdict == "original"))
    yield "follows_right", _sort_items(pooled.assign(value=states_right.astype(float))[supporting | mixed])
    resists = pooled.assign(value=(verdict != "context").astype(float))
    yield "resists_wrong", _sort_items(resists[mixed | (condition == "conflicting")])
    unsupported = condition.isin(("irrelevant", "neutral"))
    yield "abstains", _sort_items(pooled.assign(value=(verdict == "refusal").astype(float))[unsupported])


def _is_disputable(judged: Frame) -> Any:
    """Return True for replies to DynamicQA's disputable questions, which have no right answer."""
    # A user's group of questions may have the name "disputable", too.
    users_questions = judged.loc[judged["condition"].isin(OWN_CONDITIONS), "question_id"]
    return (judged["partition"] == "disputable") & ~judged["question_id"].isin(users_questions)


def _sort_items(frame: Frame) -> Frame:
    columns = [*MODEL, *GROUP, "cluster", "item"]
    return sort_frame(frame[[*columns, "value"]].dropna(subset=["value"]), columns)


def cluster_name(frames: Frames) -> str:
    """Return the name of the clusters over replies: "subject", or "question" if no question names a subject."""
    answers = frames["answers_of_questions"]
    has_subjects = (answers["subject_key"].astype(object) != answers["question_id"].astype(object)).any()
    return "subject" if has_subjects else "question"


def means(frames: Frames, seed: int) -> list[Row]:
    """Return rows of `Summary`: the mean of each quantity and its interval."""
    reply_clusters = cluster_name(frames)
    rows = []
    for quantity, frame in items(frames):
        unit, interval_over = ("query", "entity") if quantity == "susceptibility" else ("answer", reply_clusters)
        mean = Mean(
            quantity,
            (*MODEL, *GROUP),
            unit,
            UNITS[quantity],
            column="value",
            interval=True,
            interval_over=interval_over,
        )
        rows += mean.rows(frame, seed)
    return rows


def items_by_model(frames: Frames) -> Iterator[tuple[str, Row, list[tuple[Row, Frame]]]]:
    """Yield each compared quantity and each group, with the items of each model."""
    for quantity, frame in items(frames):
        if quantity != UNCHANGED:
            yield from ((quantity, group, [*iter_groups(rows, MODEL)]) for group, rows in iter_groups(frame, GROUP))


MEANS = Statistic("model_means", 12, Summary, MODEL_QUERIES, means)
