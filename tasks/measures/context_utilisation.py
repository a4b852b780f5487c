"""Context utilisation: how far a context moves the next token to the answer that the context states.

The promoted tokens of a context are the tokens that should be likely with the context. For a relevant context, the
promoted tokens are the first tokens of the answers that the context states. A relevant context without an answer, or
with contradictory answers, has no row. An irrelevant or neutral context should change nothing: its promoted token is
the likeliest token without the context. Binary utilisation is true if the likeliest token with the context is a
promoted token. This holds even if the context lowers the probability of the token.
"""

from collections.abc import Iterator, Sequence
from typing import Annotated

from swaymeter.data import catalog
from swaymeter.data.digests import content_key
from swaymeter.data.records import Question
from swaymeter.data.records.row import Meaning, table
from swaymeter.tasks.measures.first_token import first_token_prompts, first_token_rejection, refuse_thoughts
from swaymeter.tasks.measures.measure import Inputs, Measure, Row
from swaymeter.tasks.measures.reply_samples import page_of
from swaymeter.tasks.measures.rows import QUESTION_KEY, QuestionScore, case_columns
from swaymeter.tasks.models.capabilities import NextTokenLogits


@table("context_utilisation", "a context of a question", key=QUESTION_KEY)
class ContextUtilisation(QuestionScore):
    """A row of context utilisation."""

    binary_utilisation: Annotated[
        bool, Meaning("whether the likeliest next token with the context is a token that the context promotes")
    ]
    continuous_utilisation: Annotated[
        float | None,
        Meaning(
            "change of the promoted tokens' probability as a share of the possible change, from -1 to 1; NULL if the "
            "probability is 1 without and with the context",
            "share",
        ),
    ]
    promoted: Annotated[
        tuple[str, ...],
        Meaning(
            "the tokens that the context promotes: the first tokens of the answers that it states; for an irrelevant "
            "or neutral context, the likeliest token without the context"
        ),
    ]
    probability_without: Annotated[float, Meaning("probability of the promoted tokens without the context")]
    probability_with: Annotated[float, Meaning("their probability with the context")]
    token_without: Annotated[str, Meaning("the likeliest next token without the context")]
    token_with: Annotated[str, Meaning("the likeliest next token with the context")]
    context_cut: Annotated[int, Meaning("tokens of the context's end that did not fit the model's window")]


def compute(inputs: Inputs, model: NextTokenLogits, questions: Sequence[Question]) -> Iterator[Row]:
    """Yield the utilisation of every context of every question."""
    from swaymeter.tasks.models.next_token.by_query import PLAIN
    from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt
    from swaymeter.tasks.scoring.first_token import continuous_utilisation, first_tokens, next_tokens

    cases = [(question, case) for question in questions for case in question.cases]
    templates = first_token_prompts(inputs)
    prompts = [
        answer_prompt(model, question.question, case.text, page=page_of(templates, question, case), prompts=templates)
        for question, case in cases
    ]
    next_by_prompt = next_tokens(model, [prompt.tokens for prompt in prompts], batch_size=inputs.batch_size)
    # All prompts have the same chat template, so the first prompt shows whether it opens thoughts.
    likeliest = map(next_by_prompt.likeliest, range(len(prompts)))
    refuse_thoughts("context_utilisation", model, likeliest, prompts[0].tokens)
    answers = [answer for _, case in cases for answer in case.answers]
    first_token_by_answer = first_tokens(model, answers, templates)
    closed_book = {
        question.question_id: index for index, (question, case) in enumerate(cases) if case.condition == "none"
    }
    for index, (question, case) in enumerate(cases):
        closed_book_index = closed_book[question.question_id]
        if index == closed_book_index or case.condition == "mixed":  # a mixed context states contradictory answers
            continue
        if case.condition in ("irrelevant", "neutral"):
            promoted = [next_by_prompt.likeliest(closed_book_index)]
        else:
            promoted = [first_token_by_answer[answer] for answer in case.answers]
        if not promoted:
            continue
        without = next_by_prompt.probability(closed_book_index, promoted)
        with_context = next_by_prompt.probability(index, promoted)
        yield {
            **case_columns(question, case),
            "binary_utilisation": next_by_prompt.likeliest(index) in promoted,
            "continuous_utilisation": continuous_utilisation(without, with_context),
            "promoted": [str(model.tokenizer.decode([token])) for token in dict.fromkeys(promoted)],
            "probability_without": without,
            "probability_with": with_context,
            "token_without": str(model.tokenizer.decode([next_by_prompt.likeliest(closed_book_index)])),
            "token_with": str(model.tokenizer.decode([next_by_prompt.likeliest(index)])),
            "context_cut": prompts[index].context_cut,
            "engine": PLAIN,
        }


CONTEXT_UTILISATION = Measure(
    row=ContextUtilisation,
    version=1,
    unit="share",
    about="questions",
    capability="next_token_logits",
    compute=compute,
    rejection=first_token_rejection,
    meaning="whether, and how far, a context moves the next token to the answer that it states",
    # The step's key already contains the prompts. Without this entry, the keys of stored scores would change.
    depends_on=lambda parameters: {"prompts": content_key(catalog.prompts().content)},
)
