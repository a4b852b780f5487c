"""Log-probabilities of complete answers: the tokens of an answer after a query, and a token that ends it.

Context, query and answer are tokenized as one text. The texts of a query with each answer, and without an answer, share
a prefix of tokens. The prefix ends with the query, or a little earlier if a token spans the end of the query. An
answer's tail is its tokens after the prefix.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial

import numpy as np
import torch

from swaymeter.data.errors import ScoreError, UsageError
from swaymeter.tasks.models.capabilities import Prompts, Tokens
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.by_query import PREFIX_TREE, engine
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import read_plain
from swaymeter.tasks.models.next_token.shared import ForwardPass, SharedPrefixes
from swaymeter.tasks.models.progress import report_prompts
from swaymeter.tasks.models.prompts.template_options import end_tokens, vocabulary_texts
from swaymeter.tasks.models.prompts.tokens import common_prefix_length, shorten, tokenize, tokenize_prompts

_PROMPTS_AT_ONCE = 50_000  # limit of the prompts whose tokens are in memory
_DISTRIBUTIONS_AT_ONCE = 256  # limit of the distributions that are copied to float32


ReadPrompts = Callable[[Sequence[Tokens]], torch.Tensor]
"""A function that reads n prompts, and returns the logits after each, (n, V)."""


def complete_answers(
    model: Network,
    contexts: Sequence[str],
    queries: Sequence[str],
    answers: Sequence[str],
    *,
    terminators: Sequence[str],
    prompts: Prompts,
    start_token: bool = True,
    server_engine: tuple[str, ReadPrompts] | None = None,
) -> tuple[torch.Tensor, torch.Tensor, str]:
    """Return the log-probabilities of complete answers.

    Args:
        model: the network.
        contexts: n_contexts texts.
        queries: n_queries texts.
        answers: n_answers different texts; each is put after a query and a space.
        terminators: beginnings of tokens that end an answer, such as ".".
        prompts: [context][query] tokens.
        start_token: put the start token before every text.
        server_engine: name and reading function of the engine of a served model; None for an engine of this machine.

    Returns:
        Log-probabilities in nats, (n_queries, n_contexts, n_answers), float64 on the CPU; a mask, (n_queries,
        n_contexts), True if all distributions behind the log-probabilities are finite; and the name of the engine.

    Raises:
        UsageError: no token ends an answer.
        ScoreError: a prompt exceeds the context window, or the first token of a query alone differs from that of the
            query with an answer.
    """
    longest = max(map(len, tokenize(model, [f" {answer}" for answer in answers], start_token=False)))
    engine_name, read = server_engine or (engine(model, prompts, new_tokens=longest), partial(read_plain, model))
    table_of = cache(partial(_TailTable, stops=_stops(model, terminators), device=model.device))
    size = max(1, _PROMPTS_AT_ONCE // (len(contexts) * (len(answers) + 1)))
    parts = []
    for start in range(0, len(queries), size):
        part = _prompts(model, contexts, queries[start : start + size], answers, start_token)
        parts.append(_score(model, part, len(answers) + 1, table_of, engine_name, read))
    log_probs, is_finite = zip(*parts, strict=True)
    return torch.cat(log_probs), torch.cat(is_finite), engine_name


def _stops(model: Network, terminators: Sequence[str]) -> list[int]:
    if "" in terminators:
        raise UsageError("`terminators` has an empty text, with which every token begins; remove the empty text")
    texts = vocabulary_texts(model)[: model.vocabulary_size]  # a tokenizer may have more tokens than its model
    stops = end_tokens(model) | {token for token, text in enumerate(texts) if text.startswith(tuple(terminators))}
    if not stops:
        raise UsageError(f"no token of {model.name} ends an answer; use other terminators than {list(terminators)}")
    return sorted(stops)


@torch.inference_mode()
def _score(
    model: Network,
    prompts: list[list[Tokens]],
    prompts_each: int,
    table_of: Callable[[tuple[tuple[int, ...], ...]], "_TailTable"],
    engine_name: str,
    read: ReadPrompts,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return log-probabilities and flags of finite logits, (queries, contexts, answers) and (queries, contexts).

    `prompts` is a result of `_prompts`, with `prompts_each` prompts for each query; `table_of` makes a table of tails.
    """
    shape = (len(prompts[0]) // prompts_each, len(prompts))
    log_probs = torch.zeros((*shape, prompts_each - 1), dtype=torch.float64, device=model.device)
    is_finite = torch.zeros(shape, dtype=torch.bool, device=model.device)

    def prompts_and_table(query: int, context: int) -> tuple[Tokens, list[Tokens], _TailTable]:
        prefix, *full_prompts = prompts[context][query * prompts_each : (query + 1) * prompts_each]
        return prefix, full_prompts, table_of(tuple(tuple(prompt[len(prefix) :]) for prompt in full_prompts))

    def store(
        queries: Sequence[int], contexts: Sequence[int], tables: Sequence[_TailTable], logits: torch.Tensor
    ) -> None:
        """Store the scores of queries after contexts, from logits (contexts, nodes of all tables, V)."""
        rows = torch.tensor(contexts, device=logits.device)
        parts = torch.split(logits.flatten(0, 1), _DISTRIBUTIONS_AT_ONCE)
        normaliser = torch.cat([Distributions.of(part).log_normaliser for part in parts]).view(logits.shape[:2])
        sizes = [len(table.nodes) for table in tables]
        logits_by_query = zip(torch.split(logits, sizes, dim=1), torch.split(normaliser, sizes, dim=1), strict=True)
        for query, table, (query_logits, query_normaliser) in zip(queries, tables, logits_by_query, strict=True):
            log_probs[query, rows] = table.log_probs(query_logits, query_normaliser)
            is_finite[query, rows] = torch.isfinite(query_normaliser).all(dim=1)

    def store_pass(forward_pass: ForwardPass) -> None:
        tables = [prompts_and_table(query, forward_pass.contexts[0])[2] for query in forward_pass.units]
        # The first path of a unit is the prefix, and the others are the prompts with each answer.
        node_indices = [
            paths[answer][len(prefix) + depth - 1]
            for (prefix, *paths), table in zip(forward_pass.paths, tables, strict=True)
            for answer, depth in table.nodes
        ]
        store(forward_pass.units, forward_pass.contexts, tables, forward_pass.reading.logits(node_indices))

    if engine_name == PREFIX_TREE:  # the answers of a query are a tree after its last token
        units = [range(start, start + prompts_each) for start in range(0, len(prompts[0]), prompts_each)]
        for _ in SharedPrefixes(model, prompts, units=units, entries=prompts_each, inner=True).read(store_pass):
            pass
    else:  # a prompt for each node
        for query, context in np.ndindex(*shape):
            prefix, full_prompts, table = prompts_and_table(query, context)
            node_prompts = [full_prompts[answer][: len(prefix) + depth] for answer, depth in table.nodes]
            store([query], [context], [table], read(node_prompts).unsqueeze(0))
            report_prompts()
    return log_probs.cpu(), is_finite.cpu()


class _TailTable:
    """Table of the logits that give the log-probabilities of answers with these tails.

    Attributes:
        nodes: the distinct nodes whose logits are needed; (2, 1) is the node after the first token of tail 2.

    Args:
        tails: the tail of each answer.
        stops: the tokens that end an answer.
        device: the device of the logits.
    """

    def __init__(self, tails: Sequence[tuple[int, ...]], stops: Sequence[int], device: str) -> None:
        row: dict[tuple[int, ...], int] = {}  # index in `nodes`, by the tokens of a tail before the node
        self.nodes: list[tuple[int, int]] = []
        for answer, tail in enumerate(tails):
            for depth in range(len(tail) + 1):
                if tail[:depth] not in row:
                    row[tail[:depth]] = len(row)
                    self.nodes.append((answer, depth))
        # For each token of a padded tail: the row of the tokens before the token, the token, and False for padding.
        shape = (len(tails), max(map(len, tails)))
        before, tokens, real = np.zeros(shape, np.int64), np.zeros(shape, np.int64), np.zeros(shape, bool)
        for answer, tail in enumerate(tails):
            before[answer, : len(tail)] = [row[tail[:depth]] for depth in range(len(tail))]
            tokens[answer, : len(tail)], real[answer, : len(tail)] = tail, True
        # A stop that continues another answer is no end: after "Rome", the token "," may continue "Rome, Italy".
        stop_continues = np.zeros((len(row), len(stops)), bool)
        columns = {stop: column for column, stop in enumerate(stops)}
        for beginning in row:
            if beginning and beginning[-1] in columns:
                stop_continues[row[beginning[:-1]], columns[beginning[-1]]] = True
        ends = np.array([row[tail] for tail in tails])

        self._before, self._tokens = torch.from_numpy(before).to(device), torch.from_numpy(tokens).to(device)
        self._padding = torch.from_numpy(~real).to(device)
        self._ends = torch.from_numpy(ends).to(device).unsqueeze(1)
        self._stops = torch.tensor(stops, device=device)
        self._stop_continues = torch.from_numpy(stop_continues[ends]).to(device)

    def log_probs(self, logits: torch.Tensor, normaliser: torch.Tensor) -> torch.Tensor:
        """Return log p of every complete answer, (B, answers), from logits (B, nodes, V) and normalisers (B, nodes)."""
        steps = logits[:, self._before, self._tokens].double() - normaliser[:, self._before]
        stop_log_probs = logits[:, self._ends, self._stops].float() - normaliser[:, self._ends]
        end_log_probs = stop_log_probs.masked_fill(self._stop_continues, -torch.inf).logsumexp(dim=2)
        return steps.masked_fill(self._padding, 0.0).sum(dim=2) + end_log_probs


def _prompts(
    model: Network, contexts: Sequence[str], queries: Sequence[str], answers: Sequence[str], start_token: bool
) -> list[list[Tokens]]:
    """Return [context] lists: for each query, the tokens of the shared prefix and of the prompt with each answer."""
    texts: list[str] = []
    for query in queries:
        space = "" if query[-1:].isspace() else " "
        texts += [query, *(f"{query}{space}{answer}" for answer in answers)]
    prompts: list[list[Tokens]] = []
    prompts_by_context = tokenize_prompts(model, contexts, texts, start_token=start_token)
    for context, full_prompts in zip(contexts, prompts_by_context, strict=True):
        for start in range(0, len(texts), len(answers) + 1):
            prompts_of_query = full_prompts[start : start + len(answers) + 1]
            full_prompts[start] = full_prompts[start][: common_prefix_length(prompts_of_query, remaining=0)]
            if not full_prompts[start]:
                raise ScoreError(
                    f"answers to the query {shorten(texts[start])} after the context {shorten(context)} cannot be "
                    "scored, because even the first token of the prompt depends on the answer; use a longer query"
                )
        prompts.append([*full_prompts])
    return prompts
