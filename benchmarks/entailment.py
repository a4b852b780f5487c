"""Seconds to judge which of a question's sampled answers are equivalent: in bulk, and one pair at a time.

    in bulk          equivalent_in_bulk of all questions at once, nothing remembered from the round before
    pair by pair     as the published code has it: for every two answers a forward pass in each direction, for the
                     stand-in two embeddings, with nothing shared between pairs; a few other questions in each round

A question counts once under each condition. stand-in is the embedded all-MiniLM-L6-v2; deberta-large and deberta-base
are DeBERTa in its published shapes with random weights of which about a third of the pairs entail; any other name is
loaded as an entailment model. Without options: stand-in and deberta-large on the CPU, with made-up answers.
"""

import argparse
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks import answers, deberta
from benchmarks.machine import multiplication, this_machine
from benchmarks.measuring import Side, Table, arguments, interleaved, publish, times
from swaymeter.tasks.models import Entailment, load_embedder, load_entailment
from swaymeter.tasks.models.entailment import EmbeddingStandIn, EntailmentModel
from swaymeter.tasks.models.loading import chosen_device

STAND_IN, THRESHOLD = "stand-in", 0.8
COLUMNS = (
    "judge", "in bulk, s a question", "pair by pair", "times as fast", "pairs compared", "judged differently",
)  # fmt: skip

Answers = Sequence[Sequence[str]]
Rows = NDArray[np.float64]


@dataclass
class Judge:
    """A judge, measured both ways.

    fresh: itself with nothing remembered; network: its own; says: what one forward pass, or one pair of embeddings,
    says of a pair; directions: in which a pair is asked for; read: how many pairs, or texts, the network read when it
    was last asked in bulk.
    """

    fresh: Callable[[], Entailment]
    network: torch.nn.Module
    says: Callable[[str, str], bool]
    directions: int
    read: int = 0

    def in_bulk(self, of_questions: Answers) -> Rows:
        """A row for each question: the matrix of its answers."""
        self.read = 0
        hook = self.network.register_forward_pre_hook(self._count, with_kwargs=True)
        try:
            return _rows(self.fresh().equivalent_in_bulk(of_questions))
        finally:
            hook.remove()

    def pair_by_pair(self, of_questions: Answers) -> Rows:
        """The same as published."""
        return _rows([self._equivalent(of_question) for of_question in of_questions])

    def _equivalent(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        found = np.eye(len(texts), dtype=bool)
        for i, j in combinations(range(len(texts)), 2):
            both = [(texts[i], texts[j]), (texts[j], texts[i])]
            verdicts = [self.says(*direction) for direction in both[: self.directions]]
            found[i, j] = found[j, i] = all(verdicts)
        return found

    def _count(self, network: torch.nn.Module, inputs: Any, options: dict[str, Any]) -> None:
        self.read += len(options["input_ids"])


def main() -> None:
    """Measures, prints and writes."""
    asked = _asked()
    device = chosen_device(asked.device)
    answered = answers.read(asked.answers) if asked.answers else answers.made(asked.questions)
    before = multiplication("float32", device, asked.size)
    settings = [_setting(name, answered, device, asked) for name in asked.judges]
    after = multiplication("float32", device, asked.size)
    machine = this_machine(device)
    different = float(np.mean([len(set(one)) for one in answered]))
    notes = [
        f"{len(answered)} questions with {len(answered[0])} answers each, {different:.1f} of them different on "
        f"average, {f'of {asked.answers.name}' if asked.answers else 'made up'}.",
        *(_said(one) for one in settings),
        f"Product of two {asked.size} x {asked.size} matrices before and after: {before:.0f} and {after:.0f} GFLOP/s.",
    ]
    table = Table(f"float32, {machine.name}", COLUMNS, [_cells(one) for one in settings], notes)
    measured = {
        "device": device,
        "rounds": asked.rounds,
        "questions": len(answered),
        "different_answers": different,
        "gflops": {"before": before, "after": after, "size": asked.size},
        "settings": settings,
    }
    publish("entailment", machine, [table], measured, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    judges = [STAND_IN, "deberta-large"]
    parser.add_argument("--judges", nargs="+", default=judges, help=f"by default {' and '.join(judges)}")
    parser.add_argument("--layers", type=int, help="of a random DeBERTa, in place of its shape's")
    parser.add_argument("--answers", type=Path, help="a JSON file of sampled answers; by default they are made up")
    parser.add_argument("--questions", type=int, default=20, help="made up, each under three conditions; by default 20")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=2, help="questions that are judged pair by pair in a round")
    asked = parser.parse_args()
    asked.size = 2048 if asked.device == "cpu" else 8192
    if asked.quick:
        asked.questions, asked.rounds, asked.sample, asked.size = 1, 1, 1, 128
    return asked


def _setting(name: str, answered: Answers, device: str, asked: argparse.Namespace) -> dict[str, Any]:
    print(f"{name} on {device}, {len(answered)} questions", flush=True)
    judge = _judge(name, answered, device, asked)
    order = random.Random(0).sample(range(len(answered)), len(answered))

    def everything(number: int) -> list[int]:
        return list(range(len(answered)))

    def some(number: int) -> list[int]:
        return [order[(number * asked.sample + place) % len(order)] for place in range(min(asked.sample, len(order)))]

    bulk = Side("in bulk", lambda places: judge.in_bulk([answered[place] for place in places]), everything)
    plain = Side("pair by pair", lambda places: judge.pair_by_pair([answered[place] for place in places]), some)
    interleaved([bulk, plain], asked.rounds)
    compared = sorted(plain.found)
    apart = _apart([answered[place] for place in compared])
    return {
        "judge": name,
        "seconds_a_question": {"in_bulk": bulk.seconds, "pair_by_pair": plain.seconds},
        "times_as_fast": times(plain, bulk),
        "read_a_question": {
            "in_bulk": judge.read / len(answered),
            "pair_by_pair": math.comb(len(answered[0]), 2) * 2,
        },
        "share_entailing": judge.read / len(_pairs(answered)) - 1 if judge.directions == 2 else None,
        "share_equivalent": float(bulk.rows(everything(0))[_apart(answered)].mean()),
        "pairs_compared": int(apart.sum()),
        "judged_differently": int((bulk.rows(compared) != plain.rows(compared))[apart].sum()),
    }


def _judge(name: str, answered: Answers, device: str, asked: argparse.Namespace) -> Judge:
    if name == STAND_IN:
        embedder = load_embedder(device=device)

        def near(a: str, b: str) -> bool:
            return float(embedder.embed([a])[0] @ embedder.embed([b])[0]) >= THRESHOLD

        return Judge(lambda: EmbeddingStandIn(replace(embedder), THRESHOLD), embedder.model, near, directions=1)
    if name in deberta.SHAPES:
        shape = deberta.SMALL if asked.quick else deberta.SHAPES[name]
        layers = {"num_hidden_layers": asked.layers} if asked.layers else {}
        model = deberta.random_deberta(name, shape | layers, answered, device)
    else:
        loaded = load_entailment(name, device=device)
        assert isinstance(loaded, EntailmentModel)
        model = loaded
    config: Any = model.model.config
    labels = {label.strip().casefold(): int(place) for place, label in config.id2label.items()}

    @torch.inference_mode()
    def entails(premise: str, hypothesis: str) -> bool:
        batch = model.tokenizer(premise, hypothesis, return_tensors="pt").to(device)
        return int(model.model(**batch).logits.argmax()) == labels["entailment"]

    return Judge(lambda: replace(model), model.model, entails, directions=2)


def _rows(matrices: Sequence[NDArray[np.bool_]]) -> Rows:
    return np.array([matrix.ravel() for matrix in matrices], dtype=np.float64)


def _apart(of_questions: Answers) -> NDArray[np.bool_]:
    """Which pairs i < j of _rows are of different texts: what is equal, or empty, is not judged in bulk."""
    found = []
    for texts in of_questions:
        stripped = np.array([text.strip() for text in texts])
        found.append(np.triu((stripped[:, None] != stripped) & (stripped[:, None] != "") & (stripped != ""), 1))
    return _rows(found).astype(bool)


def _pairs(of_questions: Answers) -> set[tuple[str, ...]]:
    """The different pairs among all that _apart tells, in whichever order."""
    texts = ({text.strip() for text in of_question} - {""} for of_question in of_questions)
    return {pair for of_question in texts for pair in combinations(sorted(of_question), 2)}


def _cells(setting: dict[str, Any]) -> list[str]:
    seconds = setting["seconds_a_question"]
    return [
        setting["judge"],
        *(f"{np.median(seconds[side]):.3g}" for side in ("in_bulk", "pair_by_pair")),
        f"{setting['times_as_fast']:.2f}",
        str(setting["pairs_compared"]),
        str(setting["judged_differently"]),
    ]


def _said(setting: dict[str, Any]) -> str:
    read, entailing = setting["read_a_question"], setting["share_entailing"]
    what = "texts" if entailing is None else "pairs"
    forth = "" if entailing is None else f" ({entailing:.0%} entail from the shorter text to the longer)"
    return (
        f"{setting['judge']}: {read['in_bulk']:.1f} {what} read a question in bulk{forth}, and "
        f"{read['pair_by_pair']} pair by pair; {setting['share_equivalent']:.0%} of different answers are equivalent."
    )


if __name__ == "__main__":
    main()
