"""Fisher susceptibility: how far the smallest changes of a query's own embeddings move the model's answer to it.

    J(q)     = sum_a p(a|q) g_a g_a^T,   g_a = d log p(a|q) / d theta
    chi*(q)  = Tr J(q) = sum_a p(a|q) ||g_a||^2, in nats per squared embedding unit

theta: the input embeddings of all tokens of q, concatenated. a: the K most probable answers, p not renormalised; or the
whole vocabulary, estimated without bias (ours): the most probable answers exactly, and for the others, with random
signs eps_a and z_a = sqrt(p_a) eps_a held constant,

    E || d/dtheta sum_a z_a log p(a|q) ||^2 = sum_a p(a|q) ||g_a||^2,   because E[z_a z_b] = p_a if a = b, else 0.

What it is not: no context is asked; the factor 1/2 of the expansion is dropped; position embeddings are no part of
theta; values of different models are not comparable.
Source: Liu et al. 2024, Efficiently Computing Susceptibility to Context, Eq. 10 and 11.

A batch of queries is read once, padded on the right where no token before it looks, and all derivatives go through that
one graph. Nothing of the model is changed meanwhile, so that other threads may use it.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from data.errors import ScoreError, UsageError
from tasks.models.language_model import LanguageModel
from tasks.models.memory import Halving, memory_budget
from tasks.scoring.next_token import shortened, tokenized

LEAST_DRAWS = 32
# A batch's longest query over its shortest: on a CPU padding costs as much as text, on a GPU a pass costs more.
_PADDING = {"cpu": 1.0, "cuda": 2.0}


@dataclass(frozen=True, eq=False)
class Fisher:
    """In nats per squared embedding unit, each (n_queries,), float64.

    trace: the susceptibility; standard_error: of its estimate, 0 where it is exact; top_k_trace: what the most probable
    answers add to it, exactly.
    """

    trace: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    top_k_trace: NDArray[np.float64]


def fisher_susceptibility(
    model: LanguageModel,
    queries: Sequence[str],
    *,
    top_k: int | None,
    draws: int = 64,
    seed: int = 0,
    exact: int = 10,
    memory: int | None = None,
) -> Fisher:
    """The Fisher susceptibility of every query; a text that occurs twice is computed once.

    top_k: how many of the most probable answers are summed, exactly; None: the whole vocabulary, estimated. For the
    estimate, exact: how many of the most probable answers are taken exactly; draws: of random signs for all others;
    seed: theirs, which with the query's text is all their randomness. memory: bytes that may be filled beside the
    model, by default memory_budget's. Source: Liu et al. 2024, Eq. 10 and 11; the estimate is ours.
    Raises UsageError without queries, for less than one answer or more than the vocabulary has, or for fewer than
    LEAST_DRAWS draws; ScoreError for a query that fits neither the model nor memory, or a value that is not finite.
    """
    if not queries:
        raise UsageError("Fisher susceptibility needs queries; none were given")
    name, kept = ("exact", exact) if top_k is None else ("top_k", top_k)
    vocabulary = int(model.model.config.get_text_config().vocab_size)
    if not 1 <= kept <= vocabulary:
        raise UsageError(f"{name} is {kept}; it must be at least 1 and at most {vocabulary}, {model.name}'s vocabulary")
    if top_k is None and draws < LEAST_DRAWS:
        raise UsageError(f"draws is {draws}; an estimate and its standard error need at least {LEAST_DRAWS}")
    texts = list(dict.fromkeys(queries))
    squares = _squares(model, texts, kept, draws if top_k is None else 0, seed, memory)
    top, drawn = squares[:, :kept].sum(axis=1), squares[:, kept:]
    trace, error = top, np.zeros_like(top)
    if top_k is None:
        trace, error = top + drawn.mean(axis=1), drawn.std(axis=1, ddof=1) / np.sqrt(draws)
    _check(model, trace, texts)
    row_of = {text: row for row, text in enumerate(texts)}
    rows = [row_of[query] for query in queries]
    return Fisher(trace[rows], error[rows], top[rows])


def _check(model: LanguageModel, trace: NDArray[np.float64], queries: list[str]) -> None:
    broken = np.flatnonzero(~np.isfinite(trace))
    if len(broken):
        raise ScoreError(
            f"Fisher susceptibility by {model.name} in {model.dtype} is {trace[broken[0]]}, not a valid score, "
            f"for the query {shortened(queries[broken[0]])}"
        )


def _squares(
    model: LanguageModel, queries: list[str], kept: int, draws: int, seed: int, memory: int | None
) -> NDArray[np.float64]:
    """||d/dtheta sum_a z_a log p(a|q)||^2 for every query and direction z: (n_queries, kept + draws)."""
    tokens = tokenized(model, queries)
    budget = memory if memory is not None else memory_budget(model.device)
    squares = np.empty((len(queries), kept + draws))
    waiting = sorted(range(len(queries)), key=lambda place: len(tokens[place]))
    halving = Halving(model, "Fisher susceptibility is computed", len(queries), kept + draws)
    while waiting:
        most, derivatives = halving.amounts
        batch, at_once = _fitting(model, tokens, waiting[:most], derivatives, budget)
        texts, ids = [queries[place] for place in batch], [tokens[place] for place in batch]
        with halving.attempt(len(batch), at_once, smallest=partial(_single, texts[0])):
            squares[batch] = _squares_of_batch(model, texts, ids, kept, draws, seed, at_once)
            waiting = waiting[len(batch) :]
    return squares


def _single(query: str) -> str:
    return f"a single derivative at the query {shortened(query)}"


def _fitting(
    model: LanguageModel, tokens: list[list[int]], places: list[int], derivatives: int, memory: int
) -> tuple[list[int], int]:
    """The first places, in order of length, that fit the memory; and how many derivatives of each at once."""
    longest = _PADDING[torch.device(model.device).type] * len(tokens[places[0]])
    alike = [place for place in places if len(tokens[place]) <= longest]
    length = len(tokens[alike[-1]])
    config = model.model.config.get_text_config()
    width, heads = config.hidden_size, getattr(config, "num_attention_heads", 1)
    inner = getattr(config, "intermediate_size", None) or 4 * width
    # As measured in bytes: what a query's graph holds, and what a derivative adds while it is computed.
    layer = length * (16 * width + 4 * inner + 4 * heads * length) * torch.finfo(model.model.dtype).bits // 8
    graph, derivative = config.num_hidden_layers * layer, layer // 2 + 12 * config.vocab_size
    queries = memory // (graph + derivatives * derivative)
    if queries:
        return alike[:queries], derivatives
    return alike[:1], min(max(1, (memory - graph) // derivative), derivatives)


def _squares_of_batch(
    model: LanguageModel, queries: list[str], tokens: list[list[int]], kept: int, draws: int, seed: int, at_once: int
) -> NDArray[np.float64]:
    embeddings, log_p = _read(model, tokens)
    directions = _Directions(log_p.detach(), queries, kept, draws, seed)
    squares: list[torch.Tensor] = []
    for start in range(0, kept + draws, at_once):
        stop = min(start + at_once, kept + draws)
        (gradients,) = torch.autograd.grad(
            log_p, embeddings, directions.part(start, stop), is_grads_batched=True, retain_graph=stop < kept + draws
        )
        squares.append(gradients.float().square().sum(dim=(2, 3)))
    broken = ~torch.isfinite(log_p).all(dim=1)  # the derivatives of an infinite logit may be finite
    found: NDArray[np.float64] = torch.cat(squares).T.masked_fill(broken.unsqueeze(1), torch.nan).double().cpu().numpy()
    return found


def _read(model: LanguageModel, tokens: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """The embeddings of queries, (n, longest, width), and what hangs on them: log p of every answer, (n, V) float32."""
    network: Any = model.model
    ids = torch.zeros((len(tokens), max(map(len, tokens))), dtype=torch.int64)
    for row, one in enumerate(tokens):
        ids[row, : len(one)] = torch.tensor(one)
    with torch.enable_grad(), _Derivable(network, [len(one) - 1 for one in tokens]) as read:
        embeddings = network.get_input_embeddings()(ids.to(model.device)).detach().requires_grad_()
        logits = network(inputs_embeds=embeddings, use_cache=False).logits
        last = logits[:, 0] if logits.shape[1] == 1 else read.at_last_tokens(logits)
        return embeddings, torch.log_softmax(last.float(), dim=-1)


class _Derivable(TorchFunctionMode):
    """Makes what this thread reads fit for many derivatives at once.

    Attention is computed by operations that can be differentiated so, which fused kernels cannot; and only each query's
    last token goes through the output matrix.
    """

    def __init__(self, network: Any, last: list[int]) -> None:
        super().__init__()
        self._output = getattr(network.get_output_embeddings(), "weight", None)
        self._last = torch.tensor(last)

    def at_last_tokens(self, states: torch.Tensor) -> torch.Tensor:
        """Of states, (n, longest, width), those of each query's last token, (n, width)."""
        return states[torch.arange(len(states), device=states.device), self._last.to(states.device)]

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is functional.scaled_dot_product_attention:
            return _attention(*args, **kwargs)
        if func is functional.linear and len(args) > 1 and args[1] is self._output:
            return func(self.at_last_tokens(args[0]).unsqueeze(1), *args[1:], **kwargs)
        return func(*args, **kwargs)


def _attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attn_mask: torch.Tensor | None = None, **options: Any
) -> torch.Tensor:
    if attn_mask is not None and attn_mask.dtype == torch.bool:  # which the operation below would add as 0 and 1
        attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(~attn_mask, -torch.inf)
    found: torch.Tensor = torch.ops.aten._scaled_dot_product_attention_math(query, key, value, attn_mask, **options)[0]
    return found


class _Directions:
    """The directions z of a batch: sqrt(p) of one of the most probable answers each, then signed ones of all others."""

    def __init__(self, log_p: torch.Tensor, queries: list[str], kept: int, draws: int, seed: int) -> None:
        root = (log_p / 2).exp()
        top = root.topk(kept, dim=1)
        self._values, self._places = top.values.T.unsqueeze(2), top.indices.T.unsqueeze(2)
        self._others = root.scatter(1, top.indices, 0.0)
        signs = np.stack([_signs(draws, log_p.shape[1], seed, query) for query in queries], axis=1)
        self._negative = torch.from_numpy(signs).to(log_p.device)

    def part(self, start: int, stop: int) -> torch.Tensor:
        """Some of them: (stop - start, n, V)."""
        kept = len(self._places)
        made = torch.zeros((stop - start, *self._others.shape), device=self._others.device)
        places, values = self._places[start:stop], self._values[start:stop]
        made[: len(places)].scatter_(2, places, values)
        negative = self._negative[max(0, start - kept) : max(0, stop - kept)]
        torch.where(negative, -self._others, self._others, out=made[len(places) :])
        return made


def _signs(draws: int, answers: int, seed: int, query: str) -> NDArray[np.bool_]:
    """Whether a sign is negative, (draws, answers); fewer draws are the first of more."""
    digest = hashlib.sha256(json.dumps([seed, query]).encode()).digest()
    random = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
    packed = random.integers(256, size=(draws, -(-answers // 8)), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=answers).view(np.bool_)
