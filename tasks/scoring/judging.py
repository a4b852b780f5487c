"""A judge decides whose answer an undecided reply states: verdicts of a model or of a Python function.

    language model      arg max over the offered letters l of p(l | prompt), p that of the next token after the prompt
    server              the letter that it replies with, in JSON or alone
    entailment model    the sides an answer of which, behind the question, is entailed by the reply behind the question
    function            what it returns

The prompt (`judge` in prompts.yaml) has the question, the right answer and that of the passage with their other names,
ten at most of each, the reply, and a letter for each verdict; nothing says which model wrote the reply. If one side has
no answer, only the verdicts about the other one are offered. Letters nearer to a tie than batches differ by are read
again alone, so that a verdict does not depend on the batch. An entailment model knows no refusal: it says neither.
What it is not: a measure of truth. The judge has habits of its own, such as a preferred letter, and may know the right
answer.
Source: Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, for judges and their biases; the
prompt is ours.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

from swaymeter.data.catalog import judge_prompt
from swaymeter.data.catalog.language_models import VERDICTS
from swaymeter.data.errors import ModelError, ScoreError
from swaymeter.tasks.scoring.followed import Verdict

if TYPE_CHECKING:
    import torch

    from swaymeter.tasks.models.capabilities import Model, NextTokenLogits, Tokens
    from swaymeter.tasks.models.endpoints.model import ServedModel
    from swaymeter.tasks.models.entailment import EntailmentModel

LETTERS = "ABCDE"
MOST_NAMES = 10
"""Names of an answer that a judge is shown, the first ones; some facts have a hundred."""
MOST_TOKENS = 32
"""Upper bound on the reply of a served judge: a letter in JSON, and enough more to see that it writes more."""
_CLOSE = {"float32": 1e-3}
_CLOSE_IN_SHORT_DTYPES = 0.5
"""Logits that are nearer to one another are read again alone: far above what batches differ by."""
_LETTER = re.compile(r"\(?([A-E])[).]?")

Unjudged = Literal["does not fit the judge's window", "no offered verdict", "no reply"]
"""Why a judge gives no verdict."""


class Case(NamedTuple):
    """A reply to a question, with the answers of the passage and the right ones.

    Attributes:
        question: The question.
        context: The answer of the passage and its other names.
        original: The right answer and its other names; one of the two may be empty.
        reply: The reply.
    """

    question: str
    context: tuple[str, ...]
    original: tuple[str, ...]
    reply: str


class JudgeVerdict(NamedTuple):
    """The verdict of a judge.

    Attributes:
        verdict: The verdict; None if the judge gives none.
        log_probability: Log-probability of the verdict's letter in nats; None if it is not known.
        unjudged: Why there is no verdict.
    """

    verdict: Verdict | None
    log_probability: float | None = None
    unjudged: Unjudged | None = None


Ask = Callable[[Sequence[Case]], list[JudgeVerdict]]
"""A judge: the verdicts on cases, in their order."""


def offered(case: Case) -> dict[str, Verdict]:
    """Return the possible verdicts by their letters."""
    sides = {"context": case.context, "original": case.original}
    absent = {side for side, names in sides.items() if not names}
    verdicts = [name for name in judge_prompt().verdicts if name not in (absent | {"both"} if absent else absent)]
    return {letter: cast("Verdict", name) for letter, name in zip(LETTERS, verdicts, strict=False)}


def text_of(case: Case, form: Literal["chat", "plain"]) -> str:
    """Return the prompt of a case. Line breaks of the reply become spaces, so that it cannot imitate the prompt."""
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


def ask_language_model(
    model: "NextTokenLogits", cases: Sequence[Case], *, batch_size: int | None = None
) -> list[JudgeVerdict]:
    """Return the verdicts (n,) of a language model on this machine; equal cases are read once.

    Raises:
        ModelError: The letters are no tokens of their own, or the chat template opens thoughts.
        ScoreError: A prompt has no distribution.
    """
    from swaymeter.tasks.scoring.first_token import next_tokens

    begun, letters = _letters(model)
    prompts, verdicts = _prompts(model, cases, begun=begun, reserved=1)
    if prompts:
        read = next_tokens(model, list(prompts.values()), batch_size=batch_size).logits
        for (case, prompt), logits in zip(prompts.items(), read, strict=True):
            tokens = {verdict: letters[letter] for letter, verdict in offered(case).items()}
            if len(prompts) > 1 and _margin(logits, tokens) < _CLOSE.get(model.dtype, _CLOSE_IN_SHORT_DTYPES):
                (logits,) = next_tokens(model, [prompt]).logits
            verdicts[case] = _likeliest(logits, tokens)
    return [verdicts[case] for case in cases]


def ask_server(model: "ServedModel", cases: Sequence[Case]) -> list[JudgeVerdict]:
    """Return the verdicts (n,) of a served language model from its greedy replies; equal cases are sent once."""
    prompts, verdicts = _prompts(model, cases, reserved=MOST_TOKENS)
    letters = [tuple(offered(case)) for case in prompts]
    for case, reply in zip(prompts, model.choose(list(prompts.values()), letters, max_tokens=MOST_TOKENS), strict=True):
        verdict = None if reply.is_missing else verdict_in(reply.text, offered(case))
        unjudged: Unjudged = "no reply" if reply.is_missing else "no offered verdict"
        verdicts[case] = JudgeVerdict(verdict) if verdict else JudgeVerdict(None, None, unjudged)
    return [verdicts[case] for case in cases]


def ask_entailment_model(model: "EntailmentModel", cases: Sequence[Case]) -> list[JudgeVerdict]:
    """Return the verdicts (n,) of an entailment model: the sides whose answers the replies entail."""

    def pairs(case: Case, names: Sequence[str]) -> list[tuple[str, str]]:
        premise = f"{case.question} {case.reply.strip()}"
        return [(premise, f"{case.question} {name}") for name in names]

    whole = {case: pairs(case, (*case.context, *case.original)) for case in cases}
    fitting = {case: of_case for case, of_case in whole.items() if all(map(model.fits, of_case))}
    entailed = model.entailing(list(dict.fromkeys(pair for of_case in fitting.values() for pair in of_case)))

    def verdict(case: Case) -> JudgeVerdict:
        if case not in fitting:
            return JudgeVerdict(None, None, "does not fit the judge's window")
        context, original = (not entailed.isdisjoint(pairs(case, names)) for names in (case.context, case.original))
        if context or original:
            return JudgeVerdict("both" if context and original else "context" if context else "original")
        return JudgeVerdict("neither")

    return [verdict(case) for case in cases]


def ask_function(function: Callable[..., Any], name: str, cases: Sequence[Case]) -> list[JudgeVerdict]:
    """Return the verdicts (n,) of a Python function; equal cases are asked once.

    Args:
        function: It gets question, context, original and reply by name, and returns a verdict or None.
        name: The name of the judge for messages.
        cases: The cases.

    Raises:
        ScoreError: The function fails, or returns something else than a verdict.
    """
    verdicts: dict[Case, JudgeVerdict] = {}
    for case in dict.fromkeys(cases):
        try:
            verdict = function(
                question=case.question, context=list(case.context), original=list(case.original), reply=case.reply
            )
        except Exception as error:
            raise ScoreError(f"judge {name} failed on {case.reply!r}: {type(error).__name__}: {error}") from error
        if verdict is not None and verdict not in VERDICTS:
            choices = f"{', '.join(VERDICTS)} or None"
            raise ScoreError(f"judge {name} returned {verdict!r} for {case.reply!r}; return {choices}")
        is_offered = verdict in offered(case).values()
        verdicts[case] = JudgeVerdict(verdict) if is_offered else JudgeVerdict(None, None, "no offered verdict")
    return [verdicts[case] for case in cases]


def verdict_in(text: str, letters: Mapping[str, Verdict]) -> Verdict | None:
    """Return the verdict of a reply that is a letter, or JSON with a letter as `verdict`; None for any other text."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    letter = _LETTER.fullmatch(str(content.get("verdict", "")) if isinstance(content, dict) else text.strip())
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
) -> "tuple[dict[Case, Tokens], dict[Case, JudgeVerdict]]":
    """Return the prompts of the different cases, and the verdicts that follow without asking."""
    from swaymeter.tasks.models.prompts.answer_prompts import turn_prompt
    from swaymeter.tasks.models.prompts.template_options import prompt_form

    prompts: dict[Case, Tokens] = {}
    verdicts: dict[Case, JudgeVerdict] = {}
    form, most = prompt_form(model), model.context_window
    for case in dict.fromkeys(cases):
        prompt = (*turn_prompt(model, text_of(case, form), begun=""), *begun)
        if most is not None and len(prompt) + reserved > most:
            verdicts[case] = JudgeVerdict(None, None, "does not fit the judge's window")
        else:
            prompts[case] = prompt
    return prompts, verdicts


def _margin(logits: "torch.Tensor", tokens: Mapping[Verdict, int]) -> float:
    first, second = logits[[*tokens.values()]].double().topk(2).values.tolist()
    return float(first - second)


def _likeliest(logits: "torch.Tensor", tokens: Mapping[Verdict, int]) -> JudgeVerdict:
    import torch

    log_probs = torch.log_softmax(logits.cpu().double(), dim=0)
    values = {verdict: float(log_probs[token]) for verdict, token in tokens.items()}
    best = max(values, key=values.__getitem__)  # of equal ones the first
    if not values[best] > -torch.inf:
        raise ScoreError("a judge gives every letter the probability 0; name another judge")
    return JudgeVerdict(best, values[best])
