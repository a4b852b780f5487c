"""The plain engine: complete prompts in batches, without a KV cache, sorted by length and never cut.

They are padded on the left where that gives what each gives alone, else batches are of equal length, or of one prompt.
Long prompts are so few at once that a pass has no more tokens than a limit.
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
from swaymeter.tasks.models.next_token.alone import TOKENS_PER_PASS, Probe, long_positions, read_equal, single, way_of

BATCH = 32
PADDED = "padded batches"
EQUAL = "batches of equal length"
ALONE = "one at a time"


def read_plain(
    model: Network, prompts: Sequence[Tokens], *, batch_size: int | None = None, to_come: int = 0
) -> torch.Tensor:
    """The logits after prompts, (n, V), in the model's dtype, on its device; ScoreError where none fits the memory.

    to_come: most tokens that they grow by, if they are read again with each.
    """
    if len(prompts) == 1:
        return _in_batches(model, prompts, ALONE, BATCH)
    sides: dict[bool, list[int]] = {}
    for place, prompt in enumerate(prompts):
        sides.setdefault(long_positions(model, len(prompt)), []).append(place)
    parts = []
    for places in sides.values():
        some = [prompts[place] for place in places]
        ways = {way: partial(_read_probe, model, way) for way in (PADDED, EQUAL)}
        parts.append(_in_batches(model, some, way_of(model, some, ways, ALONE, to_come=to_come), batch_size or BATCH))
    return torch.cat(parts)[np.argsort(np.concatenate(list(sides.values())))]


def likeliest(model: Network, prompts: Sequence[Tokens], count: int) -> list[Mapping[str, float]]:
    """After each prompt, the log-probabilities (nats) of the likeliest tokens by `token_id:N`."""
    values, ids = torch.log_softmax(read_plain(model, prompts).float(), dim=1).topk(min(count, model.vocabulary_size))
    return [
        {f"token_id:{token}": value for token, value in zip(of_ids, of_values, strict=True)}
        for of_ids, of_values in zip(ids.tolist(), values.tolist(), strict=True)
    ]


def _read_probe(model: Network, way: str, probe: Probe) -> torch.Tensor:
    # Padding is text here, so that a model that reads it gives another answer by far more than any dtype rounds.
    return _in_batches(model, probe.all, way, len(probe.all), padding=probe.contexts[1])


def _in_batches(
    model: Network, prompts: Sequence[Tokens], way: str, batch_size: int, *, padding: Tokens = ()
) -> torch.Tensor:
    order = sorted(range(len(prompts)), key=lambda place: len(prompts[place]))
    waiting = deque(order)
    parts: list[torch.Tensor] = []
    most = TOKENS_PER_PASS[torch.device(model.device).type]
    halving = Halving(model, "prompts are read", 1 if way == ALONE else batch_size)
    while waiting:
        places = list(islice(waiting, halving.amounts[0]))
        while not padding and len(places) > 1 and len(places) * len(prompts[places[-1]]) > most:
            places.pop()
        batch = [prompts[place] for place in places if way == PADDED or len(prompts[place]) == len(prompts[waiting[0]])]
        with halving.attempt(len(batch), smallest=partial(single, model, batch[0])):
            parts.append(_read(model, batch, padding) if way == PADDED else read_equal(model, batch))
            for _ in batch:
                waiting.popleft()
    return torch.cat(parts)[np.argsort(order)]


def left_padded(tokens: Sequence[Tokens], device: str, *, padding: Tokens = ()) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids padded on the left, and the mask of what is not padding, (n, longest); padding: what is beneath."""
    longest = max(map(len, tokens))
    ids, mask = np.zeros((2, len(tokens), longest), dtype=np.int64)
    for row, ids_of_prompt in enumerate(tokens):
        ids[row, : len(padding)] = padding[:longest]
        ids[row, longest - len(ids_of_prompt) :] = ids_of_prompt
        mask[row, longest - len(ids_of_prompt) :] = 1
    return torch.from_numpy(ids).to(device), torch.from_numpy(mask).to(device)


def forward_options(model: Network, mask: torch.Tensor) -> dict[str, object]:
    """The arguments of a padded batch besides its ids, as far as this model's forward has them."""
    positions = {"position_ids": (mask.cumsum(dim=1) - 1).clamp(min=0)} if "position_ids" in model.takes else {}
    return {"attention_mask": mask, **positions, **model.keeping(1)}


@torch.inference_mode()
def _read(model: Network, tokens: Sequence[Tokens], padding: Tokens) -> torch.Tensor:
    ids, mask = left_padded(tokens, model.device, padding=padding)
    logits: torch.Tensor = model.model(input_ids=ids, use_cache=False, **forward_options(model, mask)).logits
    return logits[:, -1].clone()  # a view would keep the logits of all positions alive
