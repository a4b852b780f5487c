"""Verdicts of a judge on undecided replies: a language model, an entailment model or a Python function.

    language model      arg max over the offered letters l of p(l | prompt), with p the next-token distribution
    server              the letter in the server's reply, in JSON or alone
    entailment model    the sides whose answer is entailed: question and reply, joined to one text, entail the question
                        joined with any name of the answer
    function            the function's return value

The prompt (`judge` in prompts.yaml) has the question, the reply, a letter for each verdict, and up to ten names each of
the right answer and of the passage's answer. It does not name the model that wrote the reply. If a side has no answer,
the prompt offers neither its verdict nor "both". If the logits of the two best letters nearly tie, the prompt is read
again alone, so that a verdict does not depend on the batch. An entailment model gives "neither" for a refusal.
A verdict does not measure truth. The judge has biases, such as a preferred letter, and may know the right answer.
Source: Zheng et al. 2023, Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena, for judges and their biases; the
prompt is this project's.
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
MAX_NAMES = 10
"""Limit of the names of an answer in the prompt; some facts have a hundred names."""
MAX_TOKENS = 32
"""Limit of the tokens of a served judge's reply. A letter in JSON is shorter, so text beside the JSON is noticed."""
# If the logits of the two best letters differ by less than this limit, by dtype, the prompt is read again alone.
# Batches change logits far less.
_NEAR_TIE = {"float32": 1e-3}
_NEAR_TIE_IN_SHORT_DTYPES = 0.5
_LETTER = re.compile(r"\(?([A-E])[).]?")  # B, (B), B.

NoVerdictReason = Literal["does not fit the judge's window", "no offered verdict", "no reply"]


class Case(NamedTuple):
    """A reply to a question, with the passage's answer and the right answer.

    Attributes:
        question: the question.
        context: names of the passage's answer.
        original: names of the right answer. Either `context` or `original` may be empty.
        reply: the reply.
    """

    question: str
    context: tuple[str, ...]
    original: tuple[str, ...]
    reply: str


class JudgeVerdict(NamedTuple):
    """The verdict of a judge.

    Attributes:
        verdict: the verdict; None if the judge gives none.
        log_probability: log-probability of the letter in nats; None unless the judge is a local language model.
        unjudged: the reason why there is no verdict.
    """

    verdict: Verdict | None
    log_probability: float | None = None
    unjudged: NoVerdictReason | None = None


JudgeFunction = Callable[[Sequence[Case]], list[JudgeVerdict]]
"""A judge: returns the verdicts on cases, in their order."""


def offered_verdicts(case: Case) -> dict[str, Verdict]:
    """Return the verdicts that the prompt offers, by letter; a side without an answer has no verdict."""
    sides = {"context": case.context, "original": case.original}
    left_out = {side for side, names in sides.items() if not names}
    if left_out:
        left_out.add("both")
    verdicts = [name for name in judge_prompt().verdicts if name not in left_out]
    return {letter: cast("Verdict", name) for letter, name in zip(LETTERS, verdicts, strict=False)}


def case_text(case: Case, form: Literal["chat", "plain"]) -> str:
    """Return the prompt of a case; the reply is one line, so that it cannot imitate lines of the prompt."""
    from swaymeter.tasks.models.prompts.answer_prompts import fill_gaps

    prompt = judge_prompt()
    sides = ((prompt.original, case.original), (prompt.context, case.context))
    answers = [fill_gaps(template, names=" / ".join(names[:MAX_NAMES])) for template, names in sides if names]
    verdicts = [f"{letter}: {prompt.verdicts[name]}" for letter, name in offered_verdicts(case).items()]
    return fill_gaps(
        prompt.chat if form == "chat" else prompt.plain,
        question=case.question,
        answers="\n".join(answers),
        verdicts="\n".join(verdicts),
        reply=" ".join(case.reply.split()) or prompt.no_reply,
    )


def ask_language_model(
    model: "NextTokenLogits", cases: Sequence[Case], *, batch_size: int | None = None
) -> list[JudgeVerdict]:
    """Return the verdicts (n,) of a language model on this machine; equal cases are read once.

    Raises:
        ModelError: a letter has no token of its own, or the chat template opens thoughts.
        ScoreError: a prompt has no distribution.
    """
    from swaymeter.tasks.scoring.first_token import next_tokens

    letter_start, letters = _letters(model)
    prompts, verdicts = _prompts(model, cases, letter_start=letter_start, reserved=1)
    near_tie = _NEAR_TIE.get(model.dtype, _NEAR_TIE_IN_SHORT_DTYPES)
    if prompts:
        batch_logits = next_tokens(model, list(prompts.values()), batch_size=batch_size).logits
        for (case, prompt), logits in zip(prompts.items(), batch_logits, strict=True):
            tokens = {verdict: letters[letter] for letter, verdict in offered_verdicts(case).items()}
            if len(prompts) > 1 and _margin(logits, tokens) < near_tie:
                (logits,) = next_tokens(model, [prompt]).logits
            verdicts[case] = _likeliest(logits, tokens)
    return [verdicts[case] for case in cases]


def ask_server(model: "ServedModel", cases: Sequence[Case]) -> list[JudgeVerdict]:
    """Return the verdicts (n,) of a served language model from its greedy replies; equal cases are sent once."""
    prompts, verdicts = _prompts(model, cases, reserved=MAX_TOKENS)
    letters = [tuple(offered_verdicts(case)) for case in prompts]
    replies = model.choose(list(prompts.values()), letters, max_tokens=MAX_TOKENS)
    for case, reply in zip(prompts, replies, strict=True):
        if reply.is_missing:
            verdicts[case] = JudgeVerdict(None, None, "no reply")
        elif verdict := verdict_in(reply.text, offered_verdicts(case)):
            verdicts[case] = JudgeVerdict(verdict)
        else:
            verdicts[case] = JudgeVerdict(None, None, "no offered verdict")
    return [verdicts[case] for case in cases]


def ask_entailment_model(model: "EntailmentModel", cases: Sequence[Case]) -> list[JudgeVerdict]:
    """Return the verdicts (n,) of an entailment model: the sides whose answers the replies entail."""

    def pairs(case: Case, names: Sequence[str]) -> list[tuple[str, str]]:
        premise = f"{case.question} {case.reply.strip()}"
        return [(premise, f"{case.question} {name}") for name in names]

    all_pairs = {case: pairs(case, (*case.context, *case.original)) for case in cases}
    fitting = {case: case_pairs for case, case_pairs in all_pairs.items() if all(map(model.fits, case_pairs))}
    entailed = model.entailing(list(dict.fromkeys(pair for case_pairs in fitting.values() for pair in case_pairs)))

    def verdict(case: Case) -> JudgeVerdict:
        if case not in fitting:
            return JudgeVerdict(None, None, "does not fit the judge's window")
        context, original = (not entailed.isdisjoint(pairs(case, names)) for names in (case.context, case.original))
        if context and original:
            return JudgeVerdict("both")
        if context or original:
            return JudgeVerdict("context" if context else "original")
        return JudgeVerdict("neither")

    return [verdict(case) for case in cases]


def ask_function(function: Callable[..., Any], name: str, cases: Sequence[Case]) -> list[JudgeVerdict]:
    """Return the verdicts (n,) of a Python function; equal cases are asked once.

    Args:
        function: receives question, context, original and reply by name, and returns a verdict or None.
        name: the name of the judge for messages.
        cases: the cases.

    Raises:
        ScoreError: the function fails, or returns something else than a verdict.
    """
    verdicts: dict[Case, JudgeVerdict] = {}
    for case in dict.fromkeys(cases):
        try:
            verdict = function(
                question=case.question, context=list(case.context), original=list(case.original), reply=case.reply
            )
        except Exception as error:
            problem = f"{type(error).__name__}: {error}; correct the function"
            raise ScoreError(f"judge {name} failed on {case.reply!r}: {problem}") from error
        if verdict is not None and verdict not in VERDICTS:
            choices = f"{', '.join(VERDICTS)} or None"
            raise ScoreError(
                f"judge {name} returned {verdict!r} for the reply {case.reply!r}; the judge must return {choices}"
            )
        is_offered = verdict in offered_verdicts(case).values()
        verdicts[case] = JudgeVerdict(verdict) if is_offered else JudgeVerdict(None, None, "no offered verdict")
    return [verdicts[case] for case in cases]


def verdict_in(text: str, verdict_of_letter: Mapping[str, Verdict]) -> Verdict | None:
    """Return the verdict of a reply that is a letter, or JSON with a letter as `verdict`; None for any other text."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    written = str(content.get("verdict", "")) if isinstance(content, dict) else text.strip()
    letter = _LETTER.fullmatch(written)
    return verdict_of_letter.get(letter[1]) if letter else None


def _letters(model: "Model") -> "tuple[Tokens, dict[str, int]]":
    """Return the tokens between a prompt and a letter, such as a token for a space, and the token of each letter."""
    from swaymeter.tasks.scoring.first_token import answer_tokens

    tokens = answer_tokens(model, LETTERS)
    letter_starts = {letter_tokens[:-1] for letter_tokens in tokens.values()}
    letters = {letter: letter_tokens[-1] for letter, letter_tokens in tokens.items()}
    if len(letter_starts) > 1 or len({*letters.values()}) < len(LETTERS):
        raise ModelError(
            f"the tokenizer of {model.name} does not write each letter from A to E as one token; name another judge"
        )
    return letter_starts.pop(), letters


def _prompts(
    model: "Model", cases: Sequence[Case], *, letter_start: "Tokens" = (), reserved: int
) -> "tuple[dict[Case, Tokens], dict[Case, JudgeVerdict]]":
    """Return the prompts of distinct cases that fit the context window, and a JudgeVerdict for each other case.

    A prompt ends with `letter_start`, the tokens before the letter. `reserved` is the length of the reply in tokens.
    """
    from swaymeter.tasks.models.prompts.answer_prompts import turn_prompt
    from swaymeter.tasks.models.prompts.template_options import prompt_form

    prompts: dict[Case, Tokens] = {}
    verdicts: dict[Case, JudgeVerdict] = {}
    form, window = prompt_form(model), model.context_window
    for case in dict.fromkeys(cases):
        prompt = (*turn_prompt(model, case_text(case, form), answer_start=""), *letter_start)
        if window is not None and len(prompt) + reserved > window:
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
    best = max(values, key=values.__getitem__)  # the first of a tie
    if not values[best] > -torch.inf:
        raise ScoreError("the judge gives every possible verdict the probability 0; name another judge")
    return JudgeVerdict(best, values[best])
