"""How each family of models is read, and how far its scores are from those of prompts read alone, one pass for each.

The models are as small as their families allow, with random weights: what is measured is no model, but the ways of
reading. Read alone is a prompt without padding, without a KV cache, in a pass of its own.
"""

from typing import Any

import numpy as np
import torch

from benchmarks.machine import this_machine
from benchmarks.measuring import Table, arguments, publish
from swaymeter.tasks.models import LanguageModel
from swaymeter.tasks.models.generation.readers import engine_of_answers
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.next_token.plain import ALONE, EQUAL, PADDED, read_plain
from swaymeter.tasks.models.next_token.reading import has_sliding_window
from swaymeter.tasks.models.prompts.tokens import tokenized_prompts
from swaymeter.tasks.scoring.persuasion import persuasion
from tests.tasks.models.alone import every, log_probs, steps
from tests.tasks.models.families import FAMILIES, family_model

CONTEXTS = ["Oslo is big.\n", "x", "Lima is small, and it lies by the sea, as everybody in Peru will tell you.\n"]
QUERIES = ["Q: Who?\nA:", "The capital of Peru is"]
COLUMNS = (
    "family", "layers", "persuasion", "answers", "whole prompts", "persuasion apart", "log-probability apart", "greedy",
)  # fmt: skip
RECURRENT = ("mamba", "mamba2", "falcon_mamba", "rwkv", "xlstm")


def measured(name: str) -> dict[str, Any]:
    """How a family is read, and its largest differences from prompts read alone."""
    model = family_model(name)
    prompts = tokenized_prompts(model, CONTEXTS, QUERIES)
    flat = [prompt for of_context in prompts for prompt in of_context]
    alone = log_probs(model, flat)
    p = alone.double().exp().view(len(CONTEXTS), len(QUERIES), -1)
    expected = (p * (p / p.mean(dim=0)).log()).sum(dim=2).T.numpy()
    found = persuasion(model, CONTEXTS, QUERIES)
    whole = torch.log_softmax(read_plain(model, flat).float(), dim=1)
    answers = sample_answers(model, flat, [(str(number),) for number in range(len(flat))], samples=2, max_new_tokens=4)
    apart, equal = float((whole - alone).abs().max()), True
    for prompt, of_prompt in zip(flat, answers, strict=True):
        for answer in every([of_prompt]):
            own = steps(model, prompt, answer.token_ids)
            of_tokens = own[range(len(own)), list(answer.token_ids)].numpy()
            apart = max(apart, float(np.abs(of_tokens - answer.token_log_probs).max()))
        greedy = of_prompt.greedy.token_ids
        equal &= greedy == tuple(steps(model, prompt, greedy).argmax(dim=1).tolist())
    return {
        "family": name, "layers": _layers(name, model), "persuasion": found.engine,
        "answers": engine_of_answers(model, []), "whole_prompts": _batches(model),
        "persuasion_apart": float(np.abs(found.scores - expected).max()), "log_probability_apart": apart,
        "greedy_equal": equal, "reasons": model.reading,
    }  # fmt: skip


def _layers(name: str, model: LanguageModel) -> str:
    config = model.model.config
    types = getattr(config, "layer_types", None) or getattr(config, "block_types", None) or getattr(
        config, "attention_layers", None
    )  # fmt: skip
    if types:
        return ", ".join(sorted(set(types)))
    return "recurrent" if name in RECURRENT else "sliding_attention" if has_sliding_window(model) else "full_attention"


def _batches(model: LanguageModel) -> str:
    refused = {way for (way, _), verdict in model.engine.verdicts.items() if verdict.reason}
    return next(way for way in (PADDED, EQUAL, ALONE) if way not in refused)


def main() -> None:
    """Measures, prints and writes."""
    asked = arguments(__doc__).parse_args()
    torch.set_num_threads(1)  # the models are tiny
    names = list(FAMILIES)[:2] if asked.quick else list(FAMILIES)
    found = [measured(name) for name in names]
    rows = [
        (
            one["family"], one["layers"], one["persuasion"], one["answers"], one["whole_prompts"],
            f"{one['persuasion_apart']:.0e}", f"{one['log_probability_apart']:.0e}",
            "equal" if one["greedy_equal"] else "differ",
        )
        for one in found
    ]  # fmt: skip
    machine = this_machine("cpu")
    notes = ["Persuasion and answers: what reads them. The last three columns: the largest differences, in nats."]
    publish("families", machine, [Table(f"{len(names)} families", COLUMNS, rows, notes)], {"families": found}, asked)


if __name__ == "__main__":
    main()
