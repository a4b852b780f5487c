"""Persuasion, how far a context moves the next-token distribution of a query, and the measures related to persuasion.

`scoring.persuasion` has the formulas. The related measures are:

- susceptibility: the mean of stored persuasion over contexts.
- likeliest_tokens: the likeliest next tokens after a query, in place of whole distributions, which are not stored.
- precision: scores of some queries in a second dtype. The study's seed and the queries' ids draw these queries.
- persuasion_bound: a lower bound of persuasion, for servers that give only the likeliest tokens. No mean, test or
  figure mixes it with persuasion.

    susceptibility: sigma(q) = sum_c p(c) pi(c,q), with p(c) the frequency of the context's text

Source: Du et al. 2024, Context versus Prior Knowledge in Language Models, Eq. 4.
"""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Annotated, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from swaymeter.data.randomness import drawn_first
from swaymeter.data.records import Context, Query
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.measure import ComputedRows, Inputs, Measure, Parameters, Row, cut, cut_by_form
from swaymeter.tasks.measures.rows import QUERY_KEY, PairScore, QueryScore, matrix, pair_columns, pair_rows, provenance
from swaymeter.tasks.models.capabilities import LikeliestTokens, NextTokenLogits
from swaymeter.tasks.models.endpoints.endpoint import SERVED

PreparedPrompts = tuple[Sequence[Query], Sequence[Context], list[list[list[int]]]]
"""Queries, the contexts before them, and the tokens of each prompt, by distinct context and then by query."""

Item = TypeVar("Item")
Result = TypeVar("Result")


@table("persuasion", "a context before a query")
class Persuasion(PairScore):
    """A row of persuasion."""

    persuasion: Annotated[float, Meaning("KL(p(.|c,q) || p(.|q)), p(.|q) the mixture over the contexts", "nats")]


def compute_chunks(inputs: Inputs, model: NextTokenLogits, chunks: Sequence[Sequence[Query]]) -> ComputedRows:
    """Score contexts before queries; while the model reads a chunk, the next chunk is tokenized."""
    from swaymeter.tasks.models.prompts.tokens import tokenize_prompts
    from swaymeter.tasks.scoring.persuasion import distinct_contexts, persuasion

    def prepare(queries: Sequence[Query]) -> list[PreparedPrompts]:
        prepared = []
        for group, contexts in inputs.by_contexts(queries):
            distinct, *_ = distinct_contexts([context.text for context in contexts])
            texts = [query.text for query in group]
            prepared.append((group, contexts, tokenize_prompts(model, distinct, texts, start_token=inputs.start_token)))
        return prepared

    with contextlib.closing(compute_ahead(prepare, chunks)) as prepared_chunks:
        for prepared in prepared_chunks:
            rows: list[Row] = []
            for group, contexts, prompts in prepared:
                context_texts, query_texts = [context.text for context in contexts], [query.text for query in group]
                result = persuasion(model, context_texts, query_texts, prompts=prompts)
                rows += pair_rows(group, contexts, result.engine, persuasion=result.scores)
            yield {"persuasion": rows}


def compute_ahead(make: Callable[[Item], Result], items: Iterable[Item]) -> Generator[Result, None, None]:
    """Yield the result for each item, in order; the next result is computed while the caller uses the current result.

    One thread computes all results, because threads must not share a tokenizer. If an item fails, the results of the
    items before it are yielded, and then its error is raised.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as thread:
        futures = (thread.submit(make, item) for item in items)
        current = next(futures, None)
        while current is not None:
            following = next(futures, None)
            yield current.result()
            current = following


PERSUASION = Measure(
    row=Persuasion,
    version=1,
    unit="nats",
    about="contexts",
    capability="next_token_logits",
    compute_chunks=compute_chunks,
    meaning="how far a context moves the next-token distribution of a query",
)


@table("susceptibility", "a query", key=QUERY_KEY)
class Susceptibility(QueryScore):
    """A row of susceptibility."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    susceptibility: Annotated[float, Meaning("sum over contexts of p(c) times persuasion: I(C;A|q)", "nats")]


def _susceptibility(inputs: Inputs, model: None, queries: Sequence[Query]) -> Iterator[Row]:
    origins = provenance(inputs.scores["persuasion"], "query_id")
    for group, contexts, means in means_over_contexts(inputs, queries, "persuasion"):
        for query, score in zip(group, means, strict=True):
            yield {**origins[query.query_id], "contexts": len(contexts), "susceptibility": float(score)}


def means_over_contexts(
    inputs: Inputs, queries: Sequence[Query], measure: str, *, by_type: bool = False
) -> Iterator[tuple[Sequence[Query], Sequence[Context], NDArray[np.float64]]]:
    """Yield queries, their contexts, and the means of a stored measure over these contexts, (n_queries,).

    Contexts with equal texts count as often as they occur.

    Args:
        inputs: the inputs of the pass.
        queries: the queries.
        measure: the stored measure.
        by_type: True if each query type was scored separately.
    """
    from swaymeter.tasks.scoring.persuasion import distinct_contexts

    # Same chunks as in scoring, because a matrix product of another shape may round differently.
    for chunk in cut_by_form(queries, inputs.contexts_a_query):
        for _, grouped in groupby(chunk, key=lambda query: query.query_type if by_type else ""):
            for group, contexts in inputs.by_contexts(list(grouped)):
                distinct, weights, columns = distinct_contexts([context.text for context in contexts])
                # Equal contexts have equal scores, so one column for each distinct context is enough.
                first_columns = [columns.index(index) for index in range(len(distinct))]
                scores = matrix(inputs.scores[measure], group, contexts, measure)[:, first_columns]
                yield group, contexts, np.ascontiguousarray(scores) @ weights


SUSCEPTIBILITY = Measure(
    row=Susceptibility,
    version=1,
    unit="nats",
    about="contexts",
    needs=("persuasion",),
    compute=_susceptibility,
    meaning="how far contexts move a query on average",
)


NO_CONTEXT = "none"
"""The context id of a query alone."""
QUERIES_A_BATCH = 16
"""Number of queries whose likeliest tokens are computed together."""


class LikeliestTokensParameters(Parameters):
    """Number of stored tokens, and the contexts that they follow."""

    tokens: int = Field(default=5, ge=1, le=100)
    """Number of likeliest tokens that are stored of a distribution."""
    most: int = Field(default=6, ge=0, le=100_000)
    """Number of the most persuasive contexts of a query."""
    least: int = Field(default=3, ge=0, le=100_000)
    """Number of the least persuasive contexts of a query."""


@table(
    "likeliest_tokens", "a token after a query", key=("model", "dtype", "relation", "query_id", "context_id", "rank")
)
class LikeliestToken(QueryScore):
    """A row of likeliest tokens."""

    context_id: Annotated[str, Meaning("the context before the query; none: the query alone")]
    rank: Annotated[int, Meaning("rank of the token, 1 for the likeliest")]
    token: Annotated[str, Meaning("text of the token, decoded alone")]
    probability: Annotated[float, Meaning("p(token | context, query)")]


def _likeliest_tokens(inputs: Inputs, model: NextTokenLogits, queries: Sequence[Query]) -> Iterator[Row]:
    from swaymeter.tasks.models.prompts.tokens import tokenize_prompts
    from swaymeter.tasks.scoring.first_token import next_tokens

    parameters: LikeliestTokensParameters = inputs.parameters["likeliest_tokens"]
    chosen = [
        (query, contexts)
        for group, group_contexts in inputs.by_contexts(queries)
        for query, contexts in _extremes(inputs, group, group_contexts, parameters)
    ]
    for batch in cut(chosen, QUERIES_A_BATCH):
        prompts = []
        for query, contexts in batch:
            texts = ["", *(context.text for context in contexts)]
            tokens_by_context = tokenize_prompts(model, texts, [query.text], start_token=inputs.start_token)
            ids = (NO_CONTEXT, *(context.context_id for context in contexts))
            prompts += [
                (query, context_id, tokens[0]) for context_id, tokens in zip(ids, tokens_by_context, strict=True)
            ]
        next_by_prompt = next_tokens(model, [tokens for _, _, tokens in prompts])
        for index, (query, context_id, _) in enumerate(prompts):
            for rank, (token, probability) in enumerate(next_by_prompt.top(index, parameters.tokens), 1):
                yield {
                    "query_id": query.query_id,
                    "context_id": context_id,
                    "rank": rank,
                    "token": model.tokenizer.decode([token]),
                    "probability": probability,
                    "engine": "plain",
                }


def _extremes(
    inputs: Inputs, queries: Sequence[Query], contexts: Sequence[Context], parameters: LikeliestTokensParameters
) -> Iterator[tuple[Query, list[Context]]]:
    """Yield each query with its most and least persuasive contexts; a query with few contexts has all of them."""
    stored = matrix(inputs.scores["persuasion"], queries, contexts, "persuasion")
    for query, scores in zip(queries, stored, strict=True):
        pairs = zip(contexts, scores, strict=True)
        ordered = [context for context, _ in sorted(pairs, key=lambda pair: (-pair[1], pair[0].context_id))]
        start_of_least = max(parameters.most, len(ordered) - parameters.least)
        yield query, ordered[: parameters.most] + ordered[start_of_least:]


LIKELIEST_TOKENS = Measure(
    row=LikeliestToken,
    version=1,
    about="contexts",
    capability="next_token_logits",
    needs=("persuasion",),
    compute=_likeliest_tokens,
    parameters=LikeliestTokensParameters,
    prompts=lambda parameters, n_queries, n_contexts: (
        n_queries * (1 + min(n_contexts, parameters.most + parameters.least))
    ),
    meaning="the likeliest tokens after a query, alone and after the contexts that persuade most and least",
)


class PrecisionParameters(Parameters):
    """Number of queries that are scored a second time, and the dtype of their second scores."""

    queries: int = Field(default=4, ge=1, le=100_000)
    """Number of queries of each relation that are scored a second time."""
    reference: Literal["float32", "bfloat16", "float16"] = "float32"
    """The dtype of the second scores."""


@table("precision", "a sampled query", key=QUERY_KEY)
class Precision(QueryScore):
    """A row of precision."""

    contexts: Annotated[int, Meaning("how many contexts the mean is over")]
    reference: Annotated[str, Meaning("the dtype that the scores are compared with")]
    susceptibility: Annotated[float, Meaning("susceptibility in the model's own dtype", "nats")]
    susceptibility_reference: Annotated[float, Meaning("susceptibility in the dtype `reference`", "nats")]
    largest_difference: Annotated[
        float, Meaning("max over contexts of |persuasion - persuasion in `reference`|", "nats")
    ]
    mean_difference: Annotated[float, Meaning("mean over contexts of |persuasion - persuasion in `reference`|", "nats")]


def _precision(inputs: Inputs, model: NextTokenLogits, queries: Sequence[Query]) -> Iterator[Row]:
    from swaymeter.tasks.scoring.persuasion import persuasion

    reference = _reference_model(inputs, model)
    for group, contexts in inputs.by_contexts(queries):
        context_texts, query_texts = [context.text for context in contexts], [query.text for query in group]
        result = persuasion(model, context_texts, query_texts, start_token=inputs.start_token)
        in_reference = persuasion(reference, context_texts, query_texts, start_token=inputs.start_token)
        all_differences = np.abs(result.scores - in_reference.scores)
        for index, (query, differences) in enumerate(zip(group, all_differences, strict=True)):
            yield {
                "query_id": query.query_id,
                "contexts": len(contexts),
                "engine": result.engine,
                "reference": reference.dtype,
                "susceptibility": float(result.susceptibility[index]),
                "susceptibility_reference": float(in_reference.susceptibility[index]),
                "largest_difference": float(differences.max()),
                "mean_difference": float(differences.mean()),
            }


def _reference_model(inputs: Inputs, model: NextTokenLogits) -> NextTokenLogits:
    from swaymeter.tasks.models.loading import load_language_model

    parameters: PrecisionParameters = inputs.parameters["precision"]
    return load_language_model(model.name, dtype=parameters.reference, device=inputs.device, revision=model.revision)


def _chunks(inputs: Inputs, model: NextTokenLogits) -> Sequence[Sequence[Query]]:
    """Return chunks of the queries that are drawn for the comparison of dtypes."""
    parameters: PrecisionParameters = inputs.parameters["precision"]
    ids = [query.query_id for query in inputs.queries]
    sampled = set(drawn_first(ids, parameters.queries, inputs.seed, "precision", inputs.relation))
    return cut_by_form([query for query in inputs.queries if query.query_id in sampled], inputs.contexts_a_query)


PRECISION = Measure(
    row=Precision,
    version=1,
    unit="nats",
    about="contexts",
    capability="next_token_logits",
    compute=_precision,
    other_model=_reference_model,
    chunks=_chunks,
    parameters=PrecisionParameters,
    applies=lambda parameters, dtype: dtype not in (parameters.reference, SERVED),
    meaning="how far the model's dtype moves the scores of a sample of queries",
    prompts=lambda parameters, queries, contexts: 2 * min(parameters.queries, queries) * contexts,
)


class PersuasionBoundParameters(Parameters):
    """Number of likeliest tokens that are requested."""

    tokens: int = Field(default=20, ge=1, le=100_000)
    """Likeliest tokens after each prompt; chat APIs give at most 20, llama.cpp and vLLM as many as configured."""


@table("persuasion_bound", "a context before a query")
class PersuasionBound(PairScore):
    """A row of lower bounds."""

    persuasion_bound: Annotated[float, Meaning("a lower bound of persuasion, from the likeliest tokens", "nats")]
    mass: Annotated[
        float,
        Meaning("probability of the tokens that are among the likeliest after every context of the query, 0 to 1"),
    ]
    tokens: Annotated[int, Meaning("number of these tokens")]


def _bounds(inputs: Inputs, model: LikeliestTokens, queries: Sequence[Query]) -> Iterator[Row]:
    from swaymeter.tasks.models.prompts.tokens import tokenize_prompts
    from swaymeter.tasks.scoring.persuasion import distinct_contexts
    from swaymeter.tasks.scoring.persuasion_bound import persuasion_bound

    parameters: PersuasionBoundParameters = inputs.parameters["persuasion_bound"]
    for group, contexts in inputs.by_contexts(queries):
        distinct, weights, columns = distinct_contexts([context.text for context in contexts])
        texts = [query.text for query in group]
        prompts = tokenize_prompts(model, distinct, texts, start_token=inputs.start_token)
        for index, query in enumerate(group):
            query_prompts = [prompts_of_context[index] for prompts_of_context in prompts]
            likeliest = model.likeliest(query_prompts, parameters.tokens)
            bound = persuasion_bound(likeliest, weights.tolist())
            for context, column in zip(contexts, columns, strict=True):
                yield {
                    **pair_columns(query, context),
                    "engine": "plain",
                    "persuasion_bound": float(bound.scores[column]),
                    "mass": float(bound.mass[column]),
                    "tokens": bound.tokens,
                }


PERSUASION_BOUND = Measure(
    row=PersuasionBound,
    version=1,
    unit="nats",
    about="contexts",
    capability="likeliest_tokens",
    compute=_bounds,
    parameters=PersuasionBoundParameters,
    meaning="a lower bound of persuasion, for servers that give the likeliest tokens alone",
)
