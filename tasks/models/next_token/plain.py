"""The plain engine: complete prompts in batches, without a KV cache, sorted by length and never cut.

Batches are padded on the left if that is exact for the model. Other batches have prompts of equal length, or a single
prompt.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice

import numpy as np
import torch

from swaymeter.tasks.models.capabilities import Tokens
from swaymeter.tasks.models.memory import Halving
from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.next_token.alone import (
    TOKENS_PER_PASS,
    ComparedPrompts,
    choose_method,
    describe_prompt,
    has_long_positions,
    read_equal,
)

BATCH = 32
"""Default limit of the prompts in a batch."""
# Names of the reading methods.
PADDED = "padded batches"
EQUAL = "batches of equal length"
ALONE = "one at a time"


def read_plain(
    model: Network, prompts: Sequence[Tokens], *, batch_size: int | None = None, new_tokens: int = 0
) -> torch.Tensor:
    """Return the logits after prompts, (n, V), in the model's dtype, on its device.

    Args:
        model: the network.
        prompts: tokens of each prompt.
        batch_size: limit of a batch; None for the default.
        new_tokens: limit of the tokens that later calls append to a prompt. The reading method is checked for these
            longer prompts, too.

    Raises:
        ScoreError: a single prompt does not fit the memory.
    """
    if len(prompts) == 1:
        return _in_batches(model, prompts, ALONE, BATCH)
    # Prompts without and with changed positions of LongRoPE are read in different batches.
    groups: dict[bool, list[int]] = {}
    for index, prompt in enumerate(prompts):
        groups.setdefault(has_long_positions(model, len(prompt)), []).append(index)
    parts = []
    for indices in groups.values():
        group = [prompts[index] for index in indices]
        methods = {method: partial(_read_compared_prompts, model, method) for method in (PADDED, EQUAL)}
        method = choose_method(model, group, methods, ALONE, new_tokens=new_tokens)
        parts.append(_in_batches(model, group, method, batch_size or BATCH))
    return torch.cat(parts)[np.argsort(np.concatenate(list(groups.values())))]


def likeliest(model: Network, prompts: Sequence[Tokens], count: int) -> list[Mapping[str, float]]:
    """Return for each prompt the log-probabilities (nats) of the `count` likeliest tokens, by `token_id:N`."""
    values, ids = torch.log_softmax(read_plain(model, prompts).float(), dim=1).topk(min(count, model.vocabulary_size))
    return [
        {f"token_id:{token}": value for token, value in zip(token_ids, log_probs, strict=True)}
        for token_ids, log_probs in zip(ids.tolist(), values.tolist(), strict=True)
    ]


def _read_compared_prompts(model: Network, method: str, compared_prompts: ComparedPrompts) -> torch.Tensor:
    # With text as padding, a model that attends to padding differs by far more than rounding.
    return _in_batches(
        model, compared_prompts.all, method, len(compared_prompts.all), padding=compared_prompts.contexts[1]
    )


def _in_batches(
    model: Network, prompts: Sequence[Tokens], method: str, batch_size: int, *, padding: Tokens = ()
) -> torch.Tensor:
    """Return the logits after prompts, (n, V).

    Only a comparison passes `padding`, the tokens to pad with; the prompts of a comparison stay in one batch.
    """
    order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
    waiting = deque(order)
    parts: list[torch.Tensor] = []
    max_tokens = TOKENS_PER_PASS[torch.device(model.device).type]
    halving = Halving(model, "prompts are read", 1 if method == ALONE else batch_size)
    while waiting:
        indices = list(islice(waiting, halving.amounts[0]))
        while not padding and len(indices) > 1 and len(indices) * len(prompts[indices[-1]]) > max_tokens:
            indices.pop()
        batch = [prompts[index] for index in indices]
        if method != PADDED:
            batch = [prompt for prompt in batch if len(prompt) == len(batch[0])]
        with halving.attempt(len(batch), smallest=partial(describe_prompt, model, batch[0])):
            parts.append(_read(model, batch, padding) if method == PADDED else read_equal(model, batch))
            for _ in batch:
                waiting.popleft()
    return torch.cat(parts)[np.argsort(order)]


def pad_left(tokens: Sequence[Tokens], device: str, *, padding: Tokens = ()) -> tuple[torch.Tensor, torch.Tensor]:
    """Return token ids, padded on the left by `padding` or zeros, and the mask, 0 for padding: (n, longest) each."""
    longest = max(map(len, tokens))
    ids, mask = np.zeros((2, len(tokens), longest), dtype=np.int64)
    for row, ids_of_prompt in enumerate(tokens):
        ids[row, : len(padding)] = padding[:longest]
        ids[row, longest - len(ids_of_prompt) :] = ids_of_prompt
        mask[row, longest - len(ids_of_prompt) :] = 1
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def forward_options(model: Network, mask: torch.Tensor) -> dict[str, object]:
    """Return the arguments of a forward pass for a padded batch, without its ids, as far as the model takes them."""
    positions = (
        {"position_ids": (mask.cumsum(dim=1) - 1).clamp(min=0)} if "position_ids" in model.forward_parameters else {}
    )
    return {"attention_mask": mask, **positions, **model.last_logits(1)}


@torch.inference_mode()
def _read(model: Network, tokens: Sequence[Tokens], padding: Tokens) -> torch.Tensor:
    ids, mask = pad_left(tokens, model.device, padding=padding)
    logits: torch.Tensor = model.model(input_ids=ids, use_cache=False, **forward_options(model, mask)).logits
    return logits[:, -1].clone()  # a view would keep the logits of all positions alive
