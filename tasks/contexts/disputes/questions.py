"""Questions that a language model writes from a disputed sentence and its answer [Marjanovic et al. 2024].

The model writes `TRIES` samples for each dispute. The first sample that asks about the page or the disputed sentence,
and names neither answer, becomes the question. A question depends only on seed, model and dispute. No rule checks the
meaning of a question; annotators judge the meaning.
"""

import re
from collections.abc import Sequence

from swaymeter.data import reasons
from swaymeter.data.catalog import dispute_prompt
from swaymeter.data.records import Dispute, Question, Rejected, both_contexts, identity
from swaymeter.data.sources.slots import OBJECT_NOT_IN_CONTEXT, QUESTION_CONTAINS_ANSWER, flags_of
from swaymeter.tasks.contexts.disputes.reverted_edits import RELATION
from swaymeter.tasks.contexts.questions import BuiltQuestions
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.language_model import LanguageModel
from swaymeter.tasks.models.prompts.answer_prompts import fill_gaps, turn_prompt
from swaymeter.tasks.models.prompts.template_options import prompt_form

TEMPERATURE = 0.6
TOP_P = 0.9
TRIES = 5
MAX_TOKENS = 64  # of a sample
DISPUTES_AT_ONCE = 32
"""Disputes in one batch of samples. More would fill the memory: each unfinished sample needs a distribution."""
MIN_WORDS, MAX_WORDS = 4, 40  # of a question
MIN_TOPIC_LETTERS = 4
"""Fewest letters of a word that counts as a shared topic of question and sentence."""
FUNCTION_WORDS = frozenset(
    {"a", "an", "and", "as", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to"}
)

_QUESTION_PREFIX = re.compile(r"^(?:question|q)\s*:\s*", re.IGNORECASE)
_QUOTES = ' \t"“”„«»*_`'
_MARKUP = re.compile(r"[<>{}\[\]|\\\ufffd]")


def write_questions(model: LanguageModel, disputes: Sequence[Dispute], *, seed: int) -> BuiltQuestions:
    """Write questions about disputes with a language model, in order; equal disputes share one question.

    A dispute is rejected if its prompt and a reply exceed the context window, or if no sample can be used.

    Raises:
        ModelError, ScoreError: raised by `turn_prompt` and `sample_answers`.
    """
    # Only the first of equal disputes gets a question.
    distinct_disputes = list({dispute_id(dispute): dispute for dispute in reversed(disputes)}.values())[::-1]
    built = BuiltQuestions([], [])
    prompts = []
    template = dispute_prompt().chat if prompt_form(model) == "chat" else dispute_prompt().plain
    for dispute in distinct_disputes:
        text = fill_gaps(template, page=dispute.page, sentence=dispute.context, answer=dispute.object)
        prompt = turn_prompt(model, text, answer_start="Question:")
        if model.context_window is not None and len(prompt) + MAX_TOKENS > model.context_window:
            lengths = f"a prompt of {len(prompt)} tokens and an answer of up to {MAX_TOKENS}"
            detail = f"{lengths}; {model.name} reads at most {model.context_window}"
            built.rejected.append(_rejected(dispute, reasons.PROMPT_TOO_LONG, detail))
        else:
            prompts.append((dispute, prompt))
    for start in range(0, len(prompts), DISPUTES_AT_ONCE):
        batch = prompts[start : start + DISPUTES_AT_ONCE]
        all_samples = sample_answers(
            model,
            [prompt for _, prompt in batch],
            [("question of a dispute", dispute_id(dispute)) for dispute, _ in batch],
            samples=TRIES,
            max_new_tokens=MAX_TOKENS,
            temperature=TEMPERATURE,
            top_p=TOP_P,
            seed=seed,
        )
        for (dispute, _), sampled in zip(batch, all_samples, strict=True):
            questions = filter(None, (question_in(reply.text) for reply in sampled.samples))
            candidates = [text for text in questions if _is_about(text, dispute)]
            both_answers = (dispute.object, dispute.replacement)
            for text in candidates:
                if not any(QUESTION_CONTAINS_ANSWER in flags_of(text, (), answer, "") for answer in both_answers):
                    built.questions.append(_question(dispute, text))
                    break
            else:
                reason = QUESTION_CONTAINS_ANSWER if candidates else reasons.NO_QUESTION_WRITTEN
                built.rejected.append(_rejected(dispute, reason, candidates[0] if candidates else None))
    return built


def dispute_id(dispute: Dispute) -> str:
    """Return the id of the question about a dispute; the id does not depend on the model that writes the question."""
    texts = (dispute.object, dispute.replacement, dispute.context, str(dispute.place))
    return identity("disputable", dispute.page, *texts)


def question_in(reply: str) -> str | None:
    """Return the first line that is a question of 4 to 40 words, without "Question:" and quotes; None without one."""
    for line in reply.splitlines():
        text = " ".join(_QUESTION_PREFIX.sub("", line.strip(_QUOTES)).strip(_QUOTES).split())
        fits = MIN_WORDS <= len(text.split()) <= MAX_WORDS and not _MARKUP.search(text)
        if fits and text.endswith("?"):
            return text
    return None


def _is_about(question: str, dispute: Dispute) -> bool:
    """Return True if a question is about the page or sentence; small models often ask about the task itself."""
    texts = (question, dispute.page, dispute.context)
    question_words, title_words, sentence_words = (set(re.findall(r"\w+", text.casefold())) for text in texts)
    long_words = {word for word in sentence_words if len(word) >= MIN_TOPIC_LETTERS}
    return bool(question_words & (long_words | title_words - FUNCTION_WORDS))


def _question(dispute: Dispute, text: str) -> Question:
    """Return the question of a dispute; if the sentence lacks the answer, both contexts are the sentence."""
    counter_memory = dispute.counter_memory_context()
    flags = flags_of(text, (dispute.object,), dispute.object, dispute.replacement)
    return Question(
        question_id=dispute_id(dispute),
        relation=RELATION,
        partition="disputable",
        subject=dispute.page,
        subject_id=None,
        property_id=None,
        object=dispute.object,
        object_id=None,
        answers=(dispute.object,),
        replacement=dispute.replacement,
        question=text,
        contexts=both_contexts(
            dispute.context,
            dispute.context if counter_memory is None else counter_memory,
            [dispute.object],
            dispute.replacement,
        ),
        edits=dispute.reversions,
        subject_popularity=dispute.subject_popularity,
        object_popularity=None,
        id_source=None,
        source=dispute.source,
        licence=dispute.licence,
        flags=flags if counter_memory is not None else (*flags, OBJECT_NOT_IN_CONTEXT),
        replacement_by="reversion",
        replacement_quality=dispute.similarity,
        page=dispute.page,
        page_revision=dispute.page_revision,
        edit_revisions=dispute.edit_revisions,
        hidden_edits=dispute.hidden_edits,
        address=dispute.address,
        retrieved_at=dispute.retrieved_at,
    )


def _rejected(dispute: Dispute, reason: str, detail: str | None) -> Rejected:
    return Rejected(
        partition="disputable",
        relation=RELATION,
        part=dispute.page,
        subject=dispute.page,
        reason=reason,
        source=dispute.source,
        licence=dispute.licence,
        detail=detail,
        object=dispute.object,
        replacement=dispute.replacement,
        revisions=dispute.edit_revisions,
        retrieved_at=dispute.retrieved_at,
    )
