"""The plain engine of sampled answers: K draws and one greedy answer per prompt, with the model's own probabilities.

For every answer: its tokens with the end step, log p of each under the unscaled logits (temperature 1), and the mean
over its steps of the unscaled softmax [Marjanovic et al. 2024, Eq. 3; end step included, padding excluded].
What it is not: transformers' generate. A model's generation settings (top-k 50, repetition penalties) are not
inherited, no token is masked by its id, and a prompt is read once for all its answers.
The draws depend on seed, model name, identity and sample number alone, not on batch or order; between batch sizes the
logits themselves differ by rounding, about 4e-5 in float32.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from data.errors import ScoreError, UsageError
from tasks.models.language_model import LanguageModel
from tasks.scoring.answer_prompts import end_tokens, prompt_form
from tasks.scoring.next_token import check_length, forward_options, left_padded, shortened, tokenized
from tasks.scoring.sampling import Sampling, draw, uniforms

Prompt = str | Sequence[int]


@dataclass(frozen=True, eq=False)
class Answer:
    """One answer.

    text: without special tokens, stripped; token_ids: as generated, end step included; token_log_probs: one per token,
    nats; mean_distribution: (V,) float32, sums to 1; finished: whether it ended by itself.
    """

    text: str
    token_ids: tuple[int, ...]
    token_log_probs: tuple[float, ...]
    mean_distribution: NDArray[np.float32]
    finished: bool


@dataclass(frozen=True, eq=False)
class SampledAnswers:
    """The answers to one prompt: as many samples as were asked for, and the greedy one."""

    identity: tuple[str, ...]
    samples: tuple[Answer, ...]
    greedy: Answer


def sample_answers(
    model: LanguageModel,
    prompts: Sequence[Prompt],
    identities: Sequence[tuple[str, ...]],
    *,
    samples: int = 10,
    max_new_tokens: int = 20,
    temperature: float = 0.5,
    top_p: float = 1.0,
    top_k: int = 0,
    seed: int = 0,
    batch_size: int = 6,
) -> list[SampledAnswers]:
    """Draws answers to every prompt: `samples` of them and a greedy one, in the order of the prompts.

    prompts: token ids, or texts to which no special token is added. identities: one tuple per prompt, what the draws
    are for; with seed and model name it is all their randomness. max_new_tokens: most steps of an answer, its end
    step included.
    temperature > 0, top_p in (0, 1], top_k >= 0 (0: every token). batch_size: prompts that are read at once.
    Raises UsageError for parameters that cannot be, ScoreError for a prompt that does not fit or a NaN.
    """
    sampling = Sampling(temperature, top_p, top_k)
    for name, value in (("samples", samples), ("max_new_tokens", max_new_tokens), ("batch_size", batch_size)):
        if value < 1:
            raise UsageError(f"{name} is {value}; it must be at least 1")
    if len(prompts) != len(identities):
        raise UsageError(f"{len(prompts)} prompts, but {len(identities)} identities; each prompt needs one")
    tokens = [tokenized(model, [one])[0] if isinstance(one, str) else list(one) for one in prompts]
    for one, identity in zip(tokens, identities, strict=True):
        check_length(model, f"{identity}", len(one), room=max_new_tokens)
    points = [
        [uniforms(max_new_tokens, seed, model.name, *identity, number) for number in range(samples)]
        for identity in identities
    ]
    ends = _Ends(model)
    answers: dict[int, list[Answer]] = {}
    order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
    for start in range(0, len(order), batch_size):
        places = order[start : start + batch_size]
        batch = _Batch(model, [tokens[place] for place in places], [points[place] for place in places], sampling, ends)
        made = batch.answers([identities[place] for place in places], max_new_tokens)
        answers.update(zip(places, made, strict=True))
    return [
        SampledAnswers(identity, tuple(answers[place][:-1]), answers[place][-1])
        for place, identity in enumerate(identities)
    ]


class _Ends:
    """What ends an answer: an end token, and in the plain form also a line's end."""

    def __init__(self, model: LanguageModel) -> None:
        self.tokens = end_tokens(model)
        self.at_newline = prompt_form(model) == "plain"
        self._tokenizer = model.tokenizer
        self._breaks: dict[int, bool] = {}

    def ends(self, token: int) -> bool:
        return token in self.tokens or (self.at_newline and self._breaks_line(token))

    def text(self, tokens: Sequence[int]) -> str:
        text = str(self._tokenizer.decode(list(tokens), skip_special_tokens=True))
        return (text.partition("\n")[0] if self.at_newline else text).strip()

    def _breaks_line(self, token: int) -> bool:
        if token not in self._breaks:
            self._breaks[token] = "\n" in str(self._tokenizer.decode([token]))
        return self._breaks[token]


class _Batch:
    """The answers to a few prompts while they grow: a row for each, a prompt's greedy one behind its samples."""

    def __init__(
        self,
        model: LanguageModel,
        prompts: list[list[int]],
        points: list[list[NDArray[np.float64]]],
        sampling: Sampling,
        ends: _Ends,
    ) -> None:
        self._model, self._prompts, self._sampling, self._ends = model, prompts, sampling, ends
        self._each = len(points[0]) + 1
        rows = len(prompts) * self._each
        self._points = np.array([[*of_prompt, np.zeros_like(of_prompt[0])] for of_prompt in points]).reshape(rows, -1)
        self._tokens: list[list[int]] = [[] for _ in range(rows)]
        self._log_probs: list[list[float]] = [[] for _ in range(rows)]
        self._finished = [False] * rows

    @torch.inference_mode()
    def answers(self, identities: Sequence[tuple[str, ...]], max_new_tokens: int) -> list[list[Answer]]:
        """For every prompt its answers, the greedy one last."""
        device = self._model.device
        ids, mask = left_padded(self._prompts, device)
        out = self._model.model(input_ids=ids, use_cache=True, **forward_options(self._model, mask))
        cache, logits = out.past_key_values, out.logits[:, -1].float().repeat_interleave(self._each, dim=0)
        cache.batch_repeat_interleave(self._each)
        mask = mask.repeat_interleave(self._each, dim=0)
        active = list(range(len(self._tokens)))
        summed = torch.zeros_like(logits)
        for step in range(max_new_tokens):
            self._check(logits, active, identities)
            chosen = self._step(logits, active, step, summed)
            kept = [row for row, one in enumerate(active) if not self._finished[one]]
            if not kept or step + 1 == max_new_tokens:
                break
            if len(kept) < len(active):
                keep = torch.tensor(kept, device=device)
                cache.batch_select_indices(keep)
                mask, chosen, active = mask[keep], chosen[keep], [active[row] for row in kept]
            mask = torch.cat([mask, torch.ones_like(mask[:, :1])], dim=1)
            options = forward_options(self._model, mask)
            if isinstance(positions := options.get("position_ids"), torch.Tensor):
                options["position_ids"] = positions[:, -1:]
            out = self._model.model(input_ids=chosen.unsqueeze(1), past_key_values=cache, use_cache=True, **options)
            cache, logits = out.past_key_values, out.logits[:, -1].float()
        return self._collected(summed)

    def _step(self, logits: torch.Tensor, active: list[int], step: int, summed: torch.Tensor) -> torch.Tensor:
        summed[torch.tensor(active, device=logits.device)] += torch.softmax(logits, dim=-1)
        chosen = logits.argmax(dim=-1)
        drawn = [row for row, one in enumerate(active) if (one + 1) % self._each != 0]
        if drawn:
            rows = torch.tensor(drawn, device=logits.device)
            points = torch.from_numpy(self._points[[active[row] for row in drawn], step]).to(logits.device)
            chosen[rows] = draw(logits[rows], points, self._sampling)
        scores = (logits.gather(1, chosen.unsqueeze(1)).squeeze(1) - torch.logsumexp(logits, dim=-1)).tolist()
        for one, token, score in zip(active, chosen.tolist(), scores, strict=True):
            self._tokens[one].append(token)
            self._log_probs[one].append(score)
            self._finished[one] = self._ends.ends(token)
        return chosen

    def _check(self, logits: torch.Tensor, active: list[int], identities: Sequence[tuple[str, ...]]) -> None:
        broken = (torch.isnan(logits) | torch.isposinf(logits)).any(dim=-1) | torch.isneginf(logits).all(dim=-1)
        if broken.any():
            place = active[int(broken.nonzero()[0, 0])] // self._each
            prompt = shortened(str(self._model.tokenizer.decode(self._prompts[place])))
            raise ScoreError(
                f"{self._model.name} in {self._model.dtype} gives no distribution (NaN) while it answers "
                f"{' / '.join(identities[place])}, asked with {prompt}"
            )

    def _collected(self, summed: torch.Tensor) -> list[list[Answer]]:
        steps = torch.tensor([len(tokens) for tokens in self._tokens], device=summed.device)
        means: NDArray[np.float32] = (summed / steps.unsqueeze(1)).cpu().numpy()
        made = [
            Answer(self._ends.text(tokens), tuple(tokens), tuple(log_probs), mean, finished)
            for tokens, log_probs, mean, finished in zip(
                self._tokens, self._log_probs, means, self._finished, strict=True
            )
        ]
        return [made[start : start + self._each] for start in range(0, len(made), self._each)]
