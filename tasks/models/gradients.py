"""Squared gradients of log p with respect to a query's embeddings; their sum is Fisher susceptibility.

One forward pass over a batch of queries gives all derivatives. Queries are padded on the right, where no token attends
to the padding. The network stays unchanged, so that other threads may use it.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from swaymeter.data.errors import ScoreError
from swaymeter.data.randomness import typed_generator
from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.memory import Halving, memory_budget
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.alone import ComparedPrompts, choose_method, has_long_positions
from swaymeter.tasks.models.next_token.shared import inner_size
from swaymeter.tasks.models.progress import report_prompts
from swaymeter.tasks.models.prompts.tokens import shorten, start_tokens, tokenize

# Names in messages of the methods that read embeddings in place of tokens: padded batches of queries of any length,
# batches of queries of equal length, and single queries.
_PADDED, _EQUAL, _ALONE = (
    f"{method} of Fisher susceptibility" for method in ("padded batches", "batches of equal length", "embeddings")
)
# The largest ratio of the longest query of a batch to its shortest query. On a CPU, padding costs as much as text, so 1
# forbids it.
_MAX_LENGTH_RATIO = {"cpu": 1.0, "cuda": 2.0}


def squared_gradients(
    model: Network, queries: list[str], *, n_top: int, draws: int, seed: int, start_token: bool
) -> NDArray[np.float64]:
    """Return ||d/dtheta sum_a z_a log p(a|q)||^2 for every query q and direction z: (n_queries, n_top + draws).

    theta are the query's input embeddings, and a are the tokens of the vocabulary.

    Args:
        model: the network.
        queries: the texts q.
        n_top: number of most probable tokens; each has a direction with the single entry sqrt(p(a|q)).
        draws: number of directions with entries +-sqrt(p(a|q)) for all other tokens; the signs are random.
        seed: seed of the signs.
        start_token: put the start token, which is not a part of theta, before every query.

    Raises:
        ScoreError: memory runs out with a single query, or the network does not read embeddings like tokens.
    """
    tokens = tokenize(model, queries, start_token=start_token)
    begin = len(start_tokens(model)) if start_token else 0
    budget = memory_budget(model.device)
    squares = np.empty((len(queries), n_top + draws))
    waiting = sorted(range(len(queries)), key=lambda index: len(tokens[index]))
    halving = Halving(model, "Fisher susceptibility is computed", len(queries), n_top + draws)
    while waiting:
        count, derivatives = halving.amounts
        batch, at_once = _choose_batch(model, tokens, waiting[:count], derivatives, budget)
        texts, ids = [queries[index] for index in batch], [tokens[index] for index in batch]
        single = f"a single derivative at the query {shorten(texts[0])}"
        # If memory runs out even for the smallest amount of work, the error names this amount.
        with halving.attempt(len(batch), at_once, smallest=partial(str, single)):
            directions = partial(_Directions, queries=texts, n_top=n_top, draws=draws, seed=seed)
            squares[batch] = _squares_of_batch(model, ids, begin, directions, at_once)
            waiting = waiting[len(batch) :]
            report_prompts(len(batch))
    return squares


def _choose_batch(
    model: Network, tokens: list[list[int]], indices: list[int], derivatives: int, memory: int
) -> tuple[list[int], int]:
    """Return the first indices whose queries fit the memory together, and the number of derivatives at once.

    `indices` begin with the shortest query, `derivatives` is a limit, and `memory` is in bytes.
    """
    # LongRoPE changes the positions of a batch with a long query, so long queries have batches of their own.
    long = has_long_positions(model, len(tokens[indices[0]]))
    candidates = [index for index in indices if has_long_positions(model, len(tokens[index])) == long]
    method = _choose_method(model, [tokens[index] for index in candidates])
    ratio = _MAX_LENGTH_RATIO[torch.device(model.device).type] if method == _PADDED else 1
    longest = ratio * len(tokens[indices[0]])
    candidates = [index for index in candidates if len(tokens[index]) <= longest]
    if method == _ALONE:
        candidates = candidates[:1]
    length = len(tokens[candidates[-1]])
    config = model.model.config.get_text_config()
    width, heads = config.hidden_size, getattr(config, "num_attention_heads", 1)
    inner = inner_size(config)
    # Measured bytes of a query's graph, and of one derivative during its computation.
    layer = length * (16 * width + 4 * inner + 4 * heads * length) * model.model.dtype.itemsize
    graph, derivative = config.num_hidden_layers * layer, layer // 2 + 12 * config.vocab_size
    count = memory // (graph + derivatives * derivative)
    if count:
        return candidates[:count], derivatives
    return candidates[:1], min(max(1, (memory - graph) // derivative), derivatives)


def _choose_method(model: Network, queries: Sequence[Tokens]) -> str:
    """Return the fastest exact reading method; ScoreError if even a single query cannot be read from embeddings."""
    # Batch sizes for the four prompts of a comparison, two of each length.
    sizes = {_PADDED: 4, _EQUAL: 2, _ALONE: 1}
    if _MAX_LENGTH_RATIO[torch.device(model.device).type] == 1:
        del sizes[_PADDED]
    methods = {method: partial(_read_compared_prompts, model, size) for method, size in sizes.items()}
    method = choose_method(model, queries, methods, fallback="")
    reasons = [decision.reason for (name, _), decision in list(model.traits.method_decisions.items()) if name == _ALONE]
    if not method and any(reasons):
        raise ScoreError(
            f"Fisher susceptibility cannot be computed for {model.name}, because the model cannot read embeddings in "
            f"place of tokens ({reasons[-1]}); leave fisher_susceptibility out for this model"
        )
    return method or _ALONE  # no method and no reason: log p is not finite; the caller reports it


def _read_compared_prompts(model: Network, size: int, compared_prompts: ComparedPrompts) -> torch.Tensor:
    prompts = [list(prompt) for prompt in compared_prompts.all]
    batches = [prompts[start : start + size] for start in range(0, len(prompts), size)]
    return torch.cat([_read(model, batch)[1].detach() for batch in batches])


def _squares_of_batch(
    model: Network,
    tokens: list[list[int]],
    begin: int,
    directions_of: Callable[[torch.Tensor], "_Directions"],
    at_once: int,
) -> NDArray[np.float64]:
    """Return the squared gradients of a batch, (n, directions), without the tokens before `begin`."""
    embeddings, log_p = _read(model, tokens)
    directions = directions_of(log_p.detach())
    squares: list[torch.Tensor] = []
    for start in range(0, directions.count, at_once):
        stop = min(start + at_once, directions.count)
        (gradients,) = torch.autograd.grad(
            log_p, embeddings, directions.part(start, stop), is_grads_batched=True, retain_graph=stop < directions.count
        )
        squares.append(gradients[:, :, begin:].float().square().sum(dim=(2, 3)))
    broken = ~torch.isfinite(log_p).all(dim=1, keepdim=True)  # an infinite logit may have finite derivatives
    result: NDArray[np.float64] = torch.cat(squares).T.masked_fill(broken, torch.nan).double().cpu().numpy()
    return result


def _read(model: Network, tokens: list[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the embeddings of queries, (n, longest, width), and log p of every next token, (n, V) float32."""
    network: Any = model.model
    ids = torch.zeros((len(tokens), max(map(len, tokens))), dtype=torch.int64)
    for row, ids_of_query in enumerate(tokens):
        ids[row, : len(ids_of_query)] = torch.tensor(ids_of_query)
    with torch.enable_grad(), _DerivativeMode(network, [len(ids_of_query) - 1 for ids_of_query in tokens]) as mode:
        embeddings = network.get_input_embeddings()(ids.to(model.device)).detach().requires_grad_()
        logits = network(inputs_embeds=embeddings.clone(), use_cache=False).logits  # some networks change their input
        # Several positions have logits if `mode` did not recognise the output layer.
        last = logits[:, 0] if logits.shape[1] == 1 else mode.at_last_tokens(logits)
        return embeddings, torch.log_softmax(last.float(), dim=-1)


class _DerivativeMode(TorchFunctionMode):
    """Mode of torch for forward passes of this thread that are differentiated in many directions at once.

    `_attention` computes attention. Logits are computed only after the last token, with index `last`, of each query.
    """

    def __init__(self, network: Any, last: list[int]) -> None:
        super().__init__()
        self._output = getattr(network.get_output_embeddings(), "weight", None)
        self._last = torch.tensor(last)

    def at_last_tokens(self, states: torch.Tensor) -> torch.Tensor:
        """Return the states after each query's last token, (n, width), from states (n, longest, width)."""
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
    """Compute attention by an operation that can be differentiated in many directions at once."""
    if attn_mask is not None and attn_mask.dtype == torch.bool:  # the operation below would add True as 1
        attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(~attn_mask, -torch.inf)
    output: torch.Tensor = torch.ops.aten._scaled_dot_product_attention_math(query, key, value, attn_mask, **options)[0]
    return output


class _Directions:
    """The directions z: `n_top` with sqrt(p) of a single token, then `draws` with +-sqrt(p) of all other tokens."""

    def __init__(self, log_p: torch.Tensor, queries: list[str], n_top: int, draws: int, seed: int) -> None:
        root = (log_p / 2).exp()
        top = root.topk(n_top, dim=1)
        self._values, self._indices = top.values.T.unsqueeze(2), top.indices.T.unsqueeze(2)
        self._others = root.scatter(1, top.indices, 0.0)
        signs = np.stack([_signs(draws, log_p.shape[1], seed, query) for query in queries], axis=1)
        self._negative = torch.from_numpy(signs).to(log_p.device)
        self.count = n_top + draws

    def part(self, start: int, stop: int) -> torch.Tensor:
        """Return directions, (stop - start, n, V)."""
        n_top = len(self._indices)
        directions = torch.zeros((stop - start, *self._others.shape), device=self._others.device)
        indices, values = self._indices[start:stop], self._values[start:stop]
        directions[: len(indices)].scatter_(2, indices, values)
        negative = self._negative[max(0, start - n_top) : max(0, stop - n_top)]
        torch.where(negative, -self._others, self._others, out=directions[len(indices) :])
        return directions


def _signs(draws: int, tokens: int, seed: int, query: str) -> NDArray[np.bool_]:
    """Return random signs, True for negative, (draws, tokens); a larger number of draws begins with the same draws."""
    packed = typed_generator(seed, query).integers(256, size=(draws, -(-tokens // 8)), dtype=np.uint8)
    return np.unpackbits(packed, axis=1, count=tokens).view(np.bool_)
