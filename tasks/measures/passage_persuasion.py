"""Persuasion of each passage before a question: how far its omission moves the next-token distribution.

A context of one passage is compared with the question alone.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated, NamedTuple

from swaymeter.data import catalog
from swaymeter.data.digests import content_key
from swaymeter.data.records import OwnKind, Question, QuestionContext
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.first_token import first_token_prompts, first_token_rejection, refuse_thoughts
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.reply_samples import page_of
from swaymeter.tasks.measures.rows import QUESTION_KEY, QuestionScore, case_columns
from swaymeter.tasks.models.capabilities import NextTokenLogits


@table("passage_persuasion", "a passage of a context of a question", key=(*QUESTION_KEY, "passage"))
class PassagePersuasion(QuestionScore):
    """A row of passage persuasion."""

    passage: Annotated[int, Meaning("the passage's number in its context, from 1 on")]
    passages: Annotated[int, Meaning("how many passages the context has")]
    kind: Annotated[
        OwnKind | None, Meaning("what the passage says of the question's answer; NULL: the file does not say")
    ]
    passage_persuasion: Annotated[
        float,
        Meaning("KL(p || p'), p the next-token distribution with all passages, p' without this passage", "nats"),
    ]
    token_with: Annotated[str, Meaning("the likeliest next token with all passages")]
    token_without: Annotated[str, Meaning("the likeliest next token without this passage")]
    context_cut: Annotated[
        int, Meaning("tokens of the context's end that did not fit the model's window and were left out")
    ]
    context_cut_without: Annotated[int, Meaning("tokens that were left out of the context without this passage")]


class _OmittedPassage(NamedTuple):
    """A passage of a question's context that a prompt omits; `number` is its position, from 1."""

    question: Question
    case: QuestionContext
    number: int


def compute(inputs: Inputs, model: NextTokenLogits, questions: Sequence[Question]) -> Iterator[Row]:
    """Yield the persuasion of every passage of every context of every question."""
    from swaymeter.tasks.models.prompts.answer_prompts import AnswerPrompt, answer_prompt
    from swaymeter.tasks.scoring.passage_persuasion import passage_persuasion

    templates = first_token_prompts(inputs)

    def prompt(question: Question, case: QuestionContext) -> AnswerPrompt:
        page = page_of(templates, question, case)
        return answer_prompt(model, question.question, case.text, page=page, prompts=templates)

    omitted: list[_OmittedPassage] = []
    prompts: list[tuple[AnswerPrompt, AnswerPrompt]] = []
    for question in questions:
        for case in question.contexts:
            whole = prompt(question, case)
            for number in range(1, len(case.passages) + 1):
                omitted.append(_OmittedPassage(question, case, number))
                prompts.append((whole, prompt(question, case.without(number))))
    pairs = [(whole.tokens, without.tokens) for whole, without in prompts]
    scores = passage_persuasion(model, pairs, batch_size=inputs.batch_size)
    if pairs:
        likeliest = {token for score in scores for token in (score.token_with, score.token_without)}
        refuse_thoughts("passage_persuasion", model, sorted(likeliest), pairs[0][0])
    for (question, case, number), (whole, without), score in zip(omitted, prompts, scores, strict=True):
        yield {
            **case_columns(question, case),
            "passage": number,
            "passages": len(case.passages),
            "kind": case.passages[number - 1].kind,
            "passage_persuasion": score.score,
            "token_with": str(model.tokenizer.decode([score.token_with])),
            "token_without": str(model.tokenizer.decode([score.token_without])),
            "context_cut": whole.context_cut,
            "context_cut_without": without.context_cut,
            "engine": score.engine,
        }


PASSAGE_PERSUASION = Measure(
    row=PassagePersuasion,
    version=1,
    unit="nats",
    about="questions",
    capability="next_token_logits",
    compute=compute,
    rejection=first_token_rejection,
    omits_each_passage=True,
    meaning="how far each passage of a context moves the next token, given the other passages",
    # The step's key already contains the prompts. Without this entry, the keys of stored scores would change.
    depends_on=lambda parameters: {"prompts": content_key(catalog.prompts().content)},
)
