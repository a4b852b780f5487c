"""Seconds per question for ten sampled replies and a greedy reply under each condition.

    engine          swaymeter.tasks.models.generation, all questions at once
    one at a time   a call of `generate` for each reply, as published, with log-probabilities and mean distributions
    ten at once     `generate` with num_return_sequences=10, which repeats the prompt for every reply

Templates, contexts, temperature (0.5) and length (20 tokens) are those of a study. The slow ways answer a few questions
in each round. The engine's log-probabilities and mean distributions are compared with those of a plain pass over the
same tokens. The engine also replies with other numbers of prompts at once, and the replies are compared. With --shape,
the model is a network of this shape with random weights. Such replies have no common beginnings and never end, so that
the engine gains least.
"""

import argparse
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

from benchmarks.machine import multiplication, this_machine
from benchmarks.measuring import MODEL, Side, Table, arguments, interleaved, publish, times
from benchmarks.scoring import SHAPES, random_model
from swaymeter.data.records import PARTITIONS, Question
from swaymeter.data.sources import sample
from swaymeter.tasks.contexts.questions import choose_questions
from swaymeter.tasks.models import LanguageModel, load_language_model
from swaymeter.tasks.models.capabilities import Answer
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.next_token.distributions import Distributions
from swaymeter.tasks.models.next_token.plain import read_plain
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
from swaymeter.tasks.models.prompts.template_options import end_tokens

REFERENCE = "float32"
SAMPLES, STEPS, TEMPERATURE = 10, 20, 0.5
OTHER_BATCHES = (1, 7, 64)
"""Numbers of prompts at once; the replies are compared with those for the number that the engine chooses itself."""
COLUMNS = (
    "dtype",
    "engine, s a question",
    "one at a time",
    "ten at once",
    "one at a time / engine",
    "float32 one at a time / engine",
    "ten at once / engine",
    "log-probabilities apart",
    "distributions apart",
    "equal answers",
)

DATA = "folder of the published CSV files; else $SWAYMETER_DYNAMICQA, else the bundled sample"

Prompts = list[list[list[int]]]
"""Tokens of prompts, [question][condition]."""


def main() -> None:
    """Measure, print and write."""
    options = _options()
    dtypes = list(dict.fromkeys(options.dtype))
    models = {dtype: _model(options, dtype) for dtype in dict.fromkeys([*options.slow, *dtypes])}
    first = models[dtypes[0]]
    prompts = _random_prompts(first, options.questions) if options.shape else _prompts(first, options)
    before = {dtype: multiplication(dtype, first.device, options.size) for dtype in dtypes}
    sides = _sides(models, dtypes, prompts, options)
    interleaved(list(sides.values()), options.rounds)
    after = {dtype: multiplication(dtype, first.device, options.size) for dtype in dtypes}
    settings = [_setting(models[dtype], sides, prompts, dtype, options) for dtype in dtypes]
    machine = this_machine(first.device)
    speeds = "; ".join(f"{dtype} {before[dtype]:.0f} and {after[dtype]:.0f}" for dtype in dtypes)
    notes = [
        f"{len(prompts)} {options.kind} questions under {len(prompts[0])} conditions; medians of {options.rounds} "
        f"rounds; in each, the slow sides answer {options.sample} questions.",
        f"Product of two {options.size} x {options.size} matrices before and after, GFLOP/s: {speeds}.",
        "Equal answers: share of the engine's answers that have the same tokens, in another order, with "
        f"{', '.join(map(str, options.batches))} prompts at once.",
    ]
    name = options.shape or options.model
    table = Table(f"{name}, {machine.name}", COLUMNS, [_cells(setting) for setting in settings], notes)
    measured = {
        "model": name,
        "device": first.device,
        "questions": len(prompts),
        "rounds": options.rounds,
        "gflops": {d: {"before": before[d], "after": after[d], "size": options.size} for d in dtypes},
        "settings": settings,
    }
    publish(f"answers-{options.shape}" if options.shape else "answers", machine, [table], measured, options)


def _options() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--model", default=MODEL, help="an alias of the catalog, a folder or a hub id")
    parser.add_argument("--shape", choices=list(SHAPES), help="a network of this shape with random weights")
    parser.add_argument("--dtype", nargs="+", default=[REFERENCE, "bfloat16"], choices=[REFERENCE, "bfloat16"])
    parser.add_argument("--questions", type=int, default=60, help="as many of each partition; by default 60")
    parser.add_argument("--data", type=Path, default=os.environ.get("SWAYMETER_DYNAMICQA"), help=DATA)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sample", type=int, default=3, help="questions that the slow sides answer in a round")
    parser.add_argument("--batches", type=int, nargs="*", default=list(OTHER_BATCHES), help="prompts at once, compared")
    options = parser.parse_args()
    options.data = Path(options.data) if options.data else None
    options.kind = "random" if options.shape else "published" if options.data else "bundled"
    options.size = 2048 if options.device == "cpu" else 8192
    options.slow = [*options.dtype] if options.shape else [REFERENCE, *options.dtype]
    if options.quick:
        options.questions, options.rounds, options.sample, options.size, options.batches = 3, 1, 1, 128, [2]
    return options


def _model(options: argparse.Namespace, dtype: str) -> LanguageModel:
    if not options.shape:
        return load_language_model(options.model, dtype=dtype, device=options.device)
    model = random_model(options.shape, dtype, options.device, small=options.quick)
    model.tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel({"?": 0}, unk_token="?")))
    return model


def _prompts(model: LanguageModel, options: argparse.Namespace) -> Prompts:
    """Return the prompts of the questions without and with each context."""
    per_partition = -(-options.questions // len(PARTITIONS))  # rounded up
    chosen: list[Question] = []
    for partition in PARTITIONS:
        if options.data:
            from swaymeter.data.sources.dynamicqa.published import questions  # a GPU machine lacks requests

            candidates = questions(options.data, partition)
        else:
            candidates = sample.questions(partition)
        chosen += choose_questions(candidates, count=min(per_partition, len(candidates)), seed=0).questions
    return [
        [
            list(answer_prompt(model, question.question, case.text, reserved_tokens=STEPS).tokens)
            for case in question.cases
        ]
        for question in chosen[: options.questions]
    ]


def _random_prompts(model: LanguageModel, questions: int) -> Prompts:
    """Return prompts of random tokens: 70 tokens without a context, 150 with one; the first 45 are an instruction."""
    rng = random.Random(0)
    vocabulary = int(model.model.config.vocab_size)

    def tokens(count: int) -> list[int]:
        return [rng.randrange(vocabulary) for _ in range(count)]

    alone, with_context = tokens(45), tokens(45)  # the instruction for a question alone, and for one with a context
    return [[alone + tokens(25), with_context + tokens(105), with_context + tokens(105)] for _ in range(questions)]


def _sides(
    models: dict[str, LanguageModel], dtypes: Sequence[str], prompts: Prompts, options: argparse.Namespace
) -> dict[str, Side]:
    """Return the sides by name: the engine for each dtype, and two slow sides for each dtype of options.slow."""

    def everything(number: int) -> list[int]:
        return list(range(len(prompts)))

    def sampled(number: int) -> list[int]:
        # Partitions come one after another; the factor 7 makes the questions of all rounds come from several.
        return [(number * options.sample + place) * 7 % len(prompts) for place in range(options.sample)]

    def by_engine(model: LanguageModel) -> Callable[[list[int]], NDArray[np.float64]]:
        return lambda places: _summary(engine_answers(model, prompts, places))

    def by_generate(model: LanguageModel, at_once: int) -> Callable[[list[int]], NDArray[np.float64]]:
        return lambda places: _generated(model, [prompts[place] for place in places], at_once)

    sides = [Side(f"engine {dtype}", by_engine(models[dtype]), everything) for dtype in dtypes]
    for dtype in dict.fromkeys(options.slow):
        sides.append(Side(f"one at a time {dtype}", by_generate(models[dtype], 1), sampled))
        sides.append(Side(f"ten at once {dtype}", by_generate(models[dtype], SAMPLES), sampled))
    return {side.name: side for side in sides}


def engine_answers(
    model: LanguageModel, prompts: Prompts, places: Sequence[int], *, batch_size: int | None = None, order: int = 0
) -> list[list[list[Answer]]]:
    """Return the engine's answers, [question][condition]: the sampled answers, and the greedy answer last.

    Args:
        model: The model.
        prompts: All prompts.
        places: Positions of the questions.
        batch_size: Number of prompts at once; None for the engine's choice.
        order: Seed of the order of the prompts; 0 for the order of the questions.
    """
    cases = [(place, condition) for place in places for condition in range(len(prompts[place]))]
    if order:
        random.Random(order).shuffle(cases)
    results = sample_answers(
        model,
        [prompts[place][condition] for place, condition in cases],
        [(f"question {place}", f"condition {condition}") for place, condition in cases],
        samples=SAMPLES,
        max_new_tokens=STEPS,
        temperature=TEMPERATURE,
        batch_size=batch_size,
    )
    answers = {case: [*result.samples, result.greedy] for case, result in zip(cases, results, strict=True)}
    return [[answers[place, condition] for condition in range(len(prompts[place]))] for place in places]


def _summary(answers: list[list[list[Answer]]]) -> NDArray[np.float64]:
    """Return the mean number of tokens of the answers to each question (n, 1)."""
    return np.array(
        [[np.mean([len(answer.token_ids) for condition in question for answer in condition])] for question in answers]
    )


@torch.inference_mode()
def _generated(model: LanguageModel, questions: list[list[list[int]]], at_once: int) -> NDArray[np.float64]:
    """Return the mean number of tokens of the replies of `generate` to each question (n, 1)."""
    lengths = []
    ends = sorted(end_tokens(model))
    for question in questions:
        counts: list[int] = []
        for prompt in question:
            ids = torch.tensor([prompt], device=model.device)
            for _ in range(SAMPLES // at_once):
                counts += _generate(
                    model,
                    ids,
                    ends,
                    do_sample=True,
                    temperature=TEMPERATURE,
                    top_k=0,
                    top_p=1.0,
                    num_return_sequences=at_once,
                )
            counts += _generate(model, ids, ends, do_sample=False)
        lengths.append([np.mean(counts)])
    return np.array(lengths)


def _generate(model: LanguageModel, ids: torch.Tensor, ends: list[int], **settings: Any) -> list[int]:
    """Return the lengths of the answers; also compute log-probabilities and mean distributions, which a study needs."""
    options = {"eos_token_id": ends, "pad_token_id": ends[0]} if ends else {"pad_token_id": 0}
    out = cast(Any, model.model).generate(
        ids,
        attention_mask=torch.ones_like(ids),
        max_new_tokens=STEPS,
        output_logits=True,
        return_dict_in_generate=True,
        **options,
        **settings,
    )
    tokens = out.sequences[:, ids.shape[1] :]
    log_probs = torch.log_softmax(torch.stack(out.logits, dim=1).float(), dim=2)
    counts = []
    for answer, answer_log_probs in zip(tokens.tolist(), log_probs, strict=True):
        length = next((place + 1 for place, token in enumerate(answer) if token in ends), len(answer))
        answer_log_probs[:length].gather(1, torch.tensor(answer[:length], device=ids.device).unsqueeze(1)).cpu()
        answer_log_probs[:length].exp().mean(dim=0).cpu()
        counts.append(length)
    return counts


def _setting(
    model: LanguageModel, sides: dict[str, Side], prompts: Prompts, dtype: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the numbers of a dtype for the JSON file."""
    fast = sides[f"engine {dtype}"]
    places = list(range(len(prompts)))
    answers = engine_answers(model, prompts, places)
    equal = {
        str(batch): _equal(answers, engine_answers(model, prompts, places, batch_size=batch, order=batch))
        for batch in options.batches
    }
    checked = places[:: max(1, len(places) // 6)]  # about six questions, each with its first context
    differences = [_largest_differences(model, prompts[place][1], answers[place][1]) for place in checked]
    one_by_one, all_at_once = sides[f"one at a time {dtype}"], sides[f"ten at once {dtype}"]
    reference = sides.get(f"one at a time {REFERENCE}", one_by_one)
    return {
        "dtype": dtype,
        "engine": model.engine_of_answers([], new_tokens=0),
        "seconds_a_question": {
            "engine": fast.seconds,
            "one_at_a_time": one_by_one.seconds,
            "ten_at_once": all_at_once.seconds,
        },
        "one_at_a_time_over_engine": times(one_by_one, fast),
        "reference_over_engine": times(reference, fast),
        "ten_at_once_over_engine": times(all_at_once, fast),
        "mean_tokens": {
            "engine": float(fast.rows(places).mean()),
            "one_at_a_time": float(np.mean([*one_by_one.found.values()])),
        },
        "largest_difference": {
            "log_probability": max(log_probability for log_probability, _ in differences),
            "distribution": max(distribution for _, distribution in differences),
        },
        "equal_answers": equal,
    }


def _equal(answers: list[list[list[Answer]]], others: list[list[list[Answer]]]) -> float:
    """Return the share of answers that have the same tokens in both lists."""
    pairs = [
        (a, b)
        for question, other in zip(answers, others, strict=True)
        for condition, other_condition in zip(question, other, strict=True)
        for a, b in zip(condition, other_condition, strict=True)
    ]
    return sum(a.token_ids == b.token_ids for a, b in pairs) / len(pairs)


def _largest_differences(model: LanguageModel, prompt: list[int], answers: list[Answer]) -> tuple[float, float]:
    """Compare the first two answers to a prompt with plain passes over the same tokens.

    Returns:
        The largest difference of log-probabilities in nats, and of probabilities in mean distributions.
    """
    largest = (0.0, 0.0)
    for answer in answers[:2]:
        texts = [[*prompt, *answer.token_ids[:step]] for step in range(len(answer.token_ids))]
        log_probs = Distributions.of(read_plain(model, texts, batch_size=1)).log_probs().cpu()
        own = log_probs[range(len(texts)), list(answer.token_ids)].numpy()
        mean = log_probs.exp().mean(dim=0).numpy()
        differences = np.abs(own - answer.token_log_probs).max(), np.abs(mean - answer.mean_distribution).max()
        largest = max(largest[0], float(differences[0])), max(largest[1], float(differences[1]))
    return largest


def _cells(setting: dict[str, Any]) -> list[str]:
    seconds, largest = setting["seconds_a_question"], setting["largest_difference"]
    return [
        setting["dtype"],
        *(f"{np.median(seconds[side]):.3g}" for side in ("engine", "one_at_a_time", "ten_at_once")),
        f"{setting['one_at_a_time_over_engine']:.2f}",
        f"{setting['reference_over_engine']:.2f}",
        f"{setting['ten_at_once_over_engine']:.2f}",
        f"{largest['log_probability']:.1e}",
        f"{largest['distribution']:.1e}",
        ", ".join(f"{share:.2%}" for share in setting["equal_answers"].values()),
    ]


if __name__ == "__main__":
    main()
