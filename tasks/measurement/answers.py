"""The family of answers: sampled answers without and with a context, their groups, entropy, coherent persuasion."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from data.records import CONDITIONS, Condition, Question
from data.workspace import Workspace
from tasks.measurement.chunks import Progress, Rows, Spent, compute_in_chunks, cut, versions
from tasks.measurement.provenance import PLAIN, provenance
from tasks.measurement.work import Given, Work
from tasks.models.entailment import Entailment, load_entailment
from tasks.models.language_model import LanguageModel
from tasks.scoring.answer_prompts import answer_prompt
from tasks.scoring.coherent_persuasion import coherent_persuasion
from tasks.scoring.generation import SampledAnswers, sample_answers
from tasks.scoring.semantic_entropy import group_answers, semantic_entropy

QUESTIONS_A_CHUNK = 2


@dataclass(frozen=True)
class _Asked:
    """A question under a condition with its answers and their groups."""

    question: Question
    condition: Condition
    answers: SampledAnswers
    groups: list[list[int]]


def measure_answers(work: Work, given: Given, workspace: Workspace, model: LanguageModel, progress: Progress) -> Spent:
    """Makes the wanted files of answers, semantic entropy and coherent persuasion of a relation."""
    parameters = work.parameters("answers")
    entailment = load_entailment(parameters["entailment"], threshold=parameters["threshold"], device=model.device)
    origin = provenance(model, dataset_version=given.dataset_version, engine=PLAIN, stand_in=entailment.stand_in)

    def rows(questions: Sequence[Question]) -> Rows:
        asked = _ask(model, entailment, questions, parameters, work.seed)
        without = {one.question.question_id: one for one in asked if one.condition == "none"}
        return {
            "answers": [{**row, **origin} for one in asked for row in _answer_rows(one)],
            "semantic_entropy": [{**_entropy_row(one), **origin} for one in asked],
            "coherent_persuasion": [
                {**_persuasion_row(without[one.question.question_id], one), **origin}
                for one in asked
                if one.condition != "none"
            ],
        }

    return compute_in_chunks(
        workspace,
        work.wanted,
        cut(given.questions, QUESTIONS_A_CHUNK),
        rows,
        prompts=lambda questions: len(questions) * len(CONDITIONS),
        counter=model,
        about=versions(),
        progress=progress,
    )


def _ask(
    model: LanguageModel,
    entailment: Entailment,
    questions: Sequence[Question],
    parameters: Mapping[str, Any],
    seed: int,
) -> list[_Asked]:
    cases = [(question, condition) for question in questions for condition in CONDITIONS]
    contexts = [question.context(condition) for question, condition in cases]
    answered = sample_answers(
        model,
        [answer_prompt(model, case[0].question, context) for case, context in zip(cases, contexts, strict=True)],
        [(question.question_id, condition) for question, condition in cases],
        samples=parameters["samples"],
        max_new_tokens=parameters["max_new_tokens"],
        temperature=parameters["temperature"],
        top_p=parameters["top_p"],
        top_k=parameters["top_k"],
        seed=seed,
    )
    return [
        _Asked(
            question, condition, answers, group_answers(entailment.equivalent([one.text for one in answers.samples]))
        )
        for (question, condition), answers in zip(cases, answered, strict=True)
    ]


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
        }
        for sample, answer in numbered
    ]


def _entropy_row(one: _Asked) -> dict[str, Any]:
    log_probs = [answer.token_log_probs for answer in one.answers.samples]
    return {
        **_where(one),
        "groups": len(one.groups),
        "semantic_entropy": semantic_entropy(log_probs, one.groups, kind="sum"),
        "semantic_entropy_length_normalised": semantic_entropy(log_probs, one.groups, kind="length_normalised"),
        "semantic_entropy_rao": semantic_entropy(log_probs, one.groups, kind="rao"),
        "cluster_assignment_entropy": semantic_entropy(log_probs, one.groups, kind="assignment"),
    }


def _persuasion_row(without: _Asked, with_context: _Asked) -> dict[str, Any]:
    return {
        **_where(with_context),
        "groups_without": len(without.groups),
        "groups_with": len(with_context.groups),
        "coherent_persuasion": coherent_persuasion(
            np.stack([answer.mean_distribution for answer in without.answers.samples]),
            without.groups,
            np.stack([answer.mean_distribution for answer in with_context.answers.samples]),
            with_context.groups,
        ),
    }
