"""The family of answers: sampled answers without and with a context, their groups, entropy, coherent persuasion."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from data.records import CONDITIONS, Condition, Question
from data.storage.workspace import Workspace
from tasks.measurement.chunks import Progress, Rows, Spent, compute_in_chunks, cut, versions
from tasks.measurement.provenance import provenance
from tasks.measurement.work import Given, Work
from tasks.models.entailment import Entailment, load_entailment
from tasks.models.language_model import LanguageModel
from tasks.scoring.answer_prompts import AnswerPrompt, answer_prompt
from tasks.scoring.coherent_persuasion import CoherentPersuasion, GroupedAnswers, coherent_persuasions
from tasks.scoring.generation import SampledAnswers, engine, sample_answers
from tasks.scoring.half_samples import draw_halves
from tasks.scoring.semantic_entropy import group_answers, semantic_entropy, semantic_entropy_error

QUESTIONS_A_CHUNK = {"cpu": 32, "cuda": 128}
"""Enough to keep a model busy; what their answers hold of the vocabulary is some hundred megabytes, or thousands."""

_ENTROPIES = {
    "sum": "semantic_entropy",
    "length_normalised": "semantic_entropy_length_normalised",
    "rao": "semantic_entropy_rao",
    "assignment": "cluster_assignment_entropy",
}


@dataclass(frozen=True)
class _Asked:
    """A question under a condition: its prompt and answers, their groups, and the groups of their half-samples."""

    question: Question
    condition: Condition
    prompt: AnswerPrompt
    answers: SampledAnswers
    groups: list[list[int]]
    halves: list[list[list[int]]]


def measure_answers(work: Work, given: Given, workspace: Workspace, model: LanguageModel, progress: Progress) -> Spent:
    """Makes the wanted files of answers, semantic entropy and coherent persuasion of a relation."""
    parameters = work.parameters("answers")
    entailment = load_entailment(parameters["entailment"], threshold=parameters["threshold"], device=model.device)

    def rows(questions: Sequence[Question]) -> Rows:
        asked = _ask(work, model, entailment, questions)
        way = engine(model, [one.prompt.tokens for one in asked])
        origin = provenance(model, dataset_version=given.dataset_version, engine=way, stand_in=entailment.stand_in)
        return {
            "answers": [{**row, **origin} for one in asked for row in _answer_rows(one)],
            "semantic_entropy": [{**_entropy_row(one), **origin} for one in asked],
            "coherent_persuasion": [
                {**row, **origin}
                for _, of_question in groupby(asked, key=lambda one: one.question.question_id)
                for row in _persuasion_rows(*of_question)
            ],
        }

    return compute_in_chunks(
        workspace,
        work.wanted,
        cut(given.questions, QUESTIONS_A_CHUNK[model.device.partition(":")[0]]),
        rows,
        prompts=lambda questions: len(questions) * len(CONDITIONS),
        counter=model,
        about=versions(),
        progress=progress,
    )


def _ask(work: Work, model: LanguageModel, entailment: Entailment, questions: Sequence[Question]) -> list[_Asked]:
    parameters = work.parameters("answers")
    cases = [(question, condition) for question in questions for condition in CONDITIONS]
    prompts = [
        answer_prompt(model, question.question, question.context(condition), room=parameters["max_new_tokens"])
        for question, condition in cases
    ]
    answered = sample_answers(
        model,
        [prompt.tokens for prompt in prompts],
        [(question.question_id, condition) for question, condition in cases],
        samples=parameters["samples"],
        max_new_tokens=parameters["max_new_tokens"],
        temperature=parameters["temperature"],
        top_p=parameters["top_p"],
        top_k=parameters["top_k"],
        seed=work.seed,
        batch_size=work.batch_size,
    )
    judged = entailment.equivalent_in_bulk(
        [[answer.text for answer in one.samples] for one in answered],
        [question.question for question, _ in cases] if parameters["entailment_with_question"] else None,
    )
    made = []
    for (question, condition), prompt, answers, equivalent in zip(cases, prompts, answered, judged, strict=True):
        halves = draw_halves(
            len(answers.samples), parameters["half_samples"], work.seed, question.question_id, condition
        )
        regrouped = [group_answers(equivalent, among=half) for half in halves]
        made.append(_Asked(question, condition, prompt, answers, group_answers(equivalent), regrouped))
    return made


def _where(one: _Asked) -> dict[str, Any]:
    return {
        "relation": one.question.relation,
        "question_id": one.question.question_id,
        "condition": one.condition,
    }


def _answer_rows(one: _Asked) -> list[dict[str, Any]]:
    group_of = {member: number for number, members in enumerate(one.groups) for member in members}
    numbered = [*enumerate(one.answers.samples), (None, one.answers.greedy)]
    return [
        {
            **_where(one),
            "sample": sample,
            "text": answer.text,
            "token_ids": list(answer.token_ids),
            "token_log_probs": list(answer.token_log_probs),
            "finished": answer.finished,
            "answer_group": None if sample is None else group_of[sample],
            "context_cut": one.prompt.context_cut,
        }
        for sample, answer in numbered
    ]


def _entropy_row(one: _Asked) -> dict[str, Any]:
    log_probs = [answer.token_log_probs for answer in one.answers.samples]
    row = {**_where(one), "groups": len(one.groups), "group_sizes": _sizes(one)}
    for kind, name in _ENTROPIES.items():
        row[name] = semantic_entropy(log_probs, one.groups, kind=kind)
        row[f"{name}_standard_error"] = semantic_entropy_error(log_probs, one.halves, kind=kind)
    return row


def _persuasion_rows(without: _Asked, *contexts: _Asked) -> list[dict[str, Any]]:
    scores = coherent_persuasions(_grouped(without), [_grouped(one) for one in contexts])
    return [_persuasion_row(without, one, score) for one, score in zip(contexts, scores, strict=True)]


def _persuasion_row(without: _Asked, with_context: _Asked, made: CoherentPersuasion) -> dict[str, Any]:
    return {
        **_where(with_context),
        "groups_without": len(without.groups),
        "groups_with": len(with_context.groups),
        "group_sizes_without": _sizes(without),
        "group_sizes_with": _sizes(with_context),
        "coherent_persuasion": made.score,
        "coherent_persuasion_standard_error": made.standard_error,
    }


def _grouped(one: _Asked) -> GroupedAnswers:
    name = f"the answers to {one.question.question_id} under {one.condition}"
    return GroupedAnswers(name, [answer.mean_distribution for answer in one.answers.samples], one.groups, one.halves)


def _sizes(one: _Asked) -> list[int]:
    return [len(group) for group in one.groups]
