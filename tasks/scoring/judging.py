"""A second opinion on whose answer a reply gives: that of a judge, another language model, in one of five verdicts.

    verdict           arg max over the offered letters l of p(l | prompt), p that of the next token after the prompt
    log-probability   log p(verdict's letter | prompt), in nats, among all tokens

The prompt (`judge` in prompts.yaml) has the question, the right answer and that of the passage with their other names,
ten at most of each, the reply, and a letter for each verdict; nothing says which model wrote the reply, or how it was
asked. Where one side has no answer, only the verdicts about the other one are offered. Letters that are nearer to a tie
than batches differ by are read again alone, so that a verdict does not depend on what is judged beside it.
A served judge gives no distribution: its greedy reply must be a letter and nothing else; it may stand in brackets, or
before a full stop or a bracket.
What it is not: a measure of truth. The judge has habits of its own, as to prefer a letter, and may know the right
answer; how well it agrees with the rule by words says nothing of which of the two is right.
Source: Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, for judges and their biases; the
prompt is ours.
"""

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from swaymeter.data.catalog import judge_prompt
from swaymeter.data.errors import ModelError, ScoreError
from swaymeter.tasks.scoring.followed import Verdict

if TYPE_CHECKING:
    import torch

    from swaymeter.tasks.models.capabilities import Model, NextTokenLogits, Samples, Tokens

LETTERS = "ABCDE"
MOST_NAMES = 10
"""Names of an answer that a judge is shown, the first ones; some facts have a hundred."""
MOST_TOKENS = 8
"""What a served judge may write: a letter, and enough more to see that it writes more."""
_CLOSE = {"float32": 1e-3}
_CLOSE_IN_SHORT_DTYPES = 0.5
"""Logits that are nearer to one another are read again alone: far above what batches differ by."""
_LETTER = re.compile(r"\(?([A-E])[).]?")

Unjudged = Literal["no answer to look for", "does not fit the judge's window", "no letter alone", "no reply"]
"""Why a judge gives no verdict."""


class Case(NamedTuple):
    """A reply to a question, the answers of the passage and the right ones; either is empty where there is none."""

    question: str
    context: tuple[str, ...]
    original: tuple[str, ...]
    reply: str


class Judgement(NamedTuple):
    """The verdict, its letter's log-probability (nats; None where nobody says), and why there is no verdict."""

    verdict: Verdict | None
    log_probability: float | None = None
    reason: Unjudged | None = None


def offered(case: Case) -> dict[str, Verdict]:
    """The verdicts that are possible, by their letters; none where there is no answer to look for."""
    sides = {"context": case.context, "original": case.original}
    absent = {side for side, names in sides.items() if not names}
    if len(absent) == len(sides):
        return {}
    verdicts = [name for name in judge_prompt().verdicts if name not in (absent | {"both"} if absent else absent)]
    return {letter: cast("Verdict", name) for letter, name in zip(LETTERS, verdicts, strict=False)}


def text_of(case: Case, form: Literal["chat", "plain"]) -> str:
    """What a judge reads of a case; line breaks of the reply are spaces, so that it cannot look like the prompt."""
    from swaymeter.tasks.models.prompts.answer_prompts import filled

    prompt = judge_prompt()
    sides = ((prompt.original, case.original), (prompt.context, case.context))
    answers = [filled(template, names=" / ".join(names[:MOST_NAMES])) for template, names in sides if names]
    verdicts = [f"{letter}: {prompt.verdicts[name]}" for letter, name in offered(case).items()]
    return filled(
        prompt.chat if form == "chat" else prompt.plain,
        question=case.question, answers="\n".join(answers), verdicts="\n".join(verdicts),
        reply=" ".join(case.reply.split()) or prompt.no_reply,
    )  # fmt: skip


def judged(model: "NextTokenLogits", cases: Sequence[Case], *, batch_size: int | None = None) -> list[Judgement]:
    """The verdicts (n,) of a judge on this machine; equal cases are asked once.

    ModelError where letters are no tokens of their own, or the judge's chat template opens thoughts; ScoreError where a
    prompt has no distribution.
    """
    from swaymeter.tasks.scoring.first_token import next_tokens

    begun, letters = _letters(model)
    prompts, found = _prompts(model, cases, begun=begun, reserved=1)
    if prompts:
        read = next_tokens(model, list(prompts.values()), batch_size=batch_size).logits
        for (case, prompt), logits in zip(prompts.items(), read, strict=True):
            tokens = {verdict: letters[letter] for letter, verdict in offered(case).items()}
            if len(prompts) > 1 and _margin(logits, tokens) < _CLOSE.get(model.dtype, _CLOSE_IN_SHORT_DTYPES):
                (logits,) = next_tokens(model, [prompt]).logits
            found[case] = _likeliest(logits, tokens)
    return [found[case] for case in cases]


def judged_in_words(model: "Samples", cases: Sequence[Case]) -> list[Judgement]:
    """The verdicts (n,) of a served judge, from its greedy replies; equal cases are asked once, errors as of judged."""
    from swaymeter.tasks.models.prompts.template_options import prompt_form

    prompts, found = _prompts(model, cases, reserved=MOST_TOKENS)
    replies = model.sample_answers(
        list(prompts.values()), [("judge", case.question, case.reply) for case in prompts], samples=0,
        max_new_tokens=MOST_TOKENS, form=prompt_form(model),
    ) if prompts else []  # fmt: skip
    for case, reply in zip(prompts, replies, strict=True):
        verdict = verdict_in(reply.greedy.text, offered(case))
        unsaid: Unjudged = "no reply" if reply.greedy.is_missing else "no letter alone"
        found[case] = Judgement(None, None, unsaid) if reply.greedy.is_missing or not verdict else Judgement(verdict)
    return [found[case] for case in cases]


def verdict_in(text: str, letters: Mapping[str, Verdict]) -> Verdict | None:
    """The verdict that a text gives by its letter alone; None for every other text."""
    letter = _LETTER.fullmatch(text.strip())
    return letters.get(letter[1]) if letter else None


def _letters(model: "Model") -> "tuple[Tokens, dict[str, int]]":
    """The tokens between a prompt and a letter, as of a space that is one alone, and the token of each letter."""
    from swaymeter.tasks.scoring.first_token import answer_tokens

    tokens = answer_tokens(model, LETTERS)
    begun = {of_letter[:-1] for of_letter in tokens.values()}
    letters = {letter: of_letter[-1] for letter, of_letter in tokens.items()}
    if len(begun) > 1 or len({*letters.values()}) < len(LETTERS):
        raise ModelError(f"the tokenizer of {model.name} has no token for each of A to E; name another judge")
    return begun.pop(), letters


def _prompts(
    model: "Model", cases: Sequence[Case], *, begun: "Tokens" = (), reserved: int
) -> "tuple[dict[Case, Tokens], dict[Case, Judgement]]":
    """The prompts of the different cases, with the tokens that begin a letter, and what is known without asking."""
    from swaymeter.tasks.models.prompts.answer_prompts import turn_prompt
    from swaymeter.tasks.models.prompts.template_options import prompt_form

    prompts: dict[Case, Tokens] = {}
    known: dict[Case, Judgement] = {}
    form, most = prompt_form(model), model.context_window
    for case in dict.fromkeys(cases):
        if not offered(case):
            known[case] = Judgement(None, None, "no answer to look for")
            continue
        prompt = (*turn_prompt(model, text_of(case, form), begun=""), *begun)
        if most is not None and len(prompt) + reserved > most:
            known[case] = Judgement(None, None, "does not fit the judge's window")
        else:
            prompts[case] = prompt
    return prompts, known


def _margin(logits: "torch.Tensor", tokens: Mapping[Verdict, int]) -> float:
    first, second = logits[[*tokens.values()]].double().topk(2).values.tolist()
    return float(first - second)


def _likeliest(logits: "torch.Tensor", tokens: Mapping[Verdict, int]) -> Judgement:
    import torch

    log_probs = torch.log_softmax(logits.cpu().double(), dim=0)
    values = {verdict: float(log_probs[token]) for verdict, token in tokens.items()}
    best = max(values, key=values.__getitem__)  # of equal ones the first
    if not values[best] > -torch.inf:
        raise ScoreError("a judge gives every letter the probability 0; name another judge")
    return Judgement(best, values[best])
