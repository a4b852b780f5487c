"""Functions that the key `step` of a description names; each function adds columns to a row, or refuses the row."""

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, product, takewhile
from typing import Any

from swaymeter.data.errors import InputError
from swaymeter.data.sources.layouts.paths import Cells, text, texts
from swaymeter.data.sources.own.lists import none_where_empty
from swaymeter.data.sources.own.rows import states_answer

Step = Callable[[Sequence[Cells]], Callable[[Cells], Cells]]
"""A function that gets all rows of a file, and returns a function of one row.

The returned function adds columns to the row, or refuses the row with an InputError.
"""


def clasheval(cells: Cells) -> Cells:
    """Add the degree of the change, if the row has a degree; refuse a changed answer with an unchanged context."""
    answer, changed_answer, context, changed_context = (
        text(cells, name) for name in ("answer_original", "answer_mod", "context_original", "context_mod")
    )
    if changed_context == context and changed_answer != answer:
        raise InputError("context_mod: equals context_original, but answer_mod differs from answer_original")
    degree = none_where_empty(cells.get("mod_degree", cells.get("mod_type")))
    return cells if degree is None else {**cells, "degree": degree}


SIDES = {
    "memory_answer": ("parametric_memory", "parametric_memory_aligned_evidence"),
    "counter_answer": ("counter_memory", "counter_memory_aligned_evidence"),
}
"""Columns of the two answers in a row of ConflictQA, each with the columns of its passages.

`memory_answer` is a model's closed-book answer. Each answer is a sentence; `side` is the name of its column.
"""
LONGEST_DIFFERENCE = 8
"""Limit of the words in which a wrong sentence differs from the right sentence."""
_NEGATIONS = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|cannot|without|unlikely|impossible)\b|n['’]t\b", re.IGNORECASE
)
_SAME_NEGATION = {"cannot": "not", "n't": "not", "n’t": "not"}


def conflictqa(cells: Cells) -> Cells:
    """Add the passages and answers of the right and of the wrong sentence.

    A row has two sentences, and no column tells which sentence is right. For PopQA, the sentence with a form of the
    ground truth is right, and the other sentence is a wrong answer. For StrategyQA, the sentence with the same
    negations as the question says yes, and the other sentence says no. A row is refused if both sentences fit, or no
    sentence fits.
    """
    truth = texts(cells, "ground_truth")
    yes_or_no = {"true": "yes", "false": "no"}.get(truth[0].lower()) if len(truth) == 1 else None
    sentences = {side: text(cells, side) for side in SIDES}
    if yes_or_no:
        right_side = _side_of_yes_or_no(sentences, yes_or_no, text(cells, "question"))
    else:
        right_side = _side_of_truth(sentences, truth)
    wrong_side = next(side for side in SIDES if side != right_side)
    wrong_answers = _wrong_answers(sentences[wrong_side], sentences[right_side])
    if yes_or_no:
        wrong_answers = ["no" if yes_or_no == "yes" else "yes"]
    return {
        **cells,
        "part": "StrategyQA" if yes_or_no else "PopQA",
        "answers": [yes_or_no] if yes_or_no else truth,
        "wrong_answers": wrong_answers,
        "right_passages": _texts_in(cells, SIDES[right_side]),
        "wrong_passages": _texts_in(cells, SIDES[wrong_side]),
        "the model was right": "yes" if right_side == "memory_answer" else "no",
    }


def _texts_in(cells: Cells, columns: Sequence[str]) -> list[str]:
    values = (none_where_empty(cells.get(column)) for column in columns)
    return [str(value).strip() for value in values if value is not None]


def _side_of_truth(sentences: Mapping[str, str], truth: Sequence[str]) -> str:
    sides = [side for side, sentence in sentences.items() if any(states_answer(form, sentence) for form in truth)]
    if len(sides) != 1:
        beginning = "both memory_answer and" if sides else "neither memory_answer nor"
        raise InputError(f"ground_truth: {beginning} counter_answer {'state' if sides else 'states'} the true answer")
    return sides[0]


def _side_of_yes_or_no(sentences: Mapping[str, str], truth: str, question: str) -> str:
    question_negations = _negations(re.sub(r"n['’]t\b", "", question))  # "Isn't it old?" asks if it is old
    denying_sides = [side for side, sentence in sentences.items() if _negations(sentence) != question_negations]
    if len(denying_sides) != 1:
        problem = "both say no" if denying_sides else "neither says no"
        raise InputError(
            f"memory_answer, counter_answer: {problem} to the question; exactly one of the two answers must say no"
        )
    return denying_sides[0] if truth == "no" else next(side for side in SIDES if side not in denying_sides)


def _negations(sentence: str) -> Counter[str]:
    return Counter(_SAME_NEGATION.get(word, word) for word in map(str.lower, _NEGATIONS.findall(sentence)))


def _wrong_answers(sentence: str, right_sentence: str) -> list[str]:
    """Return the wrong sentence. If few of its words differ from the right sentence, these words come first."""
    words, right_words = sentence.rstrip(".").split(), right_sentence.rstrip(".").split()
    begin = _common_length(words, right_words)
    words, right_words = words[begin:], right_words[begin:]
    words = words[: len(words) - _common_length(words[::-1], right_words[::-1])]
    is_short = begin > 0 and 0 < len(words) <= LONGEST_DIFFERENCE
    return [" ".join(words), sentence] if is_short else [sentence]


def _common_length(words: Sequence[str], others: Sequence[str]) -> int:
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(words, others, strict=False))])


_TEMPLATE_SLOT = re.compile(r"<([a-z][a-z_-]*)>")


def cub_counterfact(cells: Cells) -> Cells:
    """Add the sentence to be completed, and the fact that precedes it in `template_w_context`."""
    template, with_context = text(cells, "template"), text(cells, "template_w_context")
    if "<|" in with_context:
        raise InputError("template_w_context: is a chat prompt; use a file without instruct_template in its name")
    sentence, whole = _fill_template(template, cells), _fill_template(with_context, cells)
    # If the sentence is spelled differently in `template_w_context`, it is the last line.
    fact = whole.removesuffix(sentence) if whole.endswith(sentence) else whole.rpartition("\n")[0]
    if not (fact := fact.strip().removeprefix("Fact:").strip()):
        raise InputError(
            "template_w_context: has only the sentence of `template`, without a fact; put the fact before the sentence"
        )
    return {**cells, "sentence": sentence, "fact": fact}


def _fill_template(template: str, cells: Cells) -> str:
    values = {**cells, "subject-w-space": f"{cells.get('subject') or ''} ", "target": cells.get("target_new")}

    def value(slot: re.Match[str]) -> str:
        if none_where_empty(values.get(slot[1])) is None:
            raise InputError(f"the slot {slot[0]} of `template` or `template_w_context` has no value in the row")
        return str(values[slot[1]])

    return re.sub(" +", " ", _TEMPLATE_SLOT.sub(value, template)).strip()


def cub_druid(cells: Cells) -> Cells:
    """Add the column `subject`: "claim" or, for the claimant Reuters, "claim of Reuters"."""
    claimant = none_where_empty(cells.get("claimant"))
    return {**cells, "subject": "claim" if claimant is None or not claimant else f"claim of {claimant}"}


def faitheval_choices(cells: Cells) -> Cells:
    """Add the texts of all choices, and of the choice that counts as right: the choice that the context states."""
    choices = cells.get("choices")
    if not isinstance(choices, dict) or not isinstance(choices.get("text"), list):
        raise InputError('choices: is not an object with two lists, "label" and "text"')
    by_label = dict(zip(map(str, choices.get("label") or ()), map(str, choices["text"]), strict=False))
    if (key := text(cells, "answerKey")) not in by_label:
        raise InputError(f"answerKey: {key} is not one of the labels {', '.join(by_label) or '(none)'}")
    return {**cells, "listed": "; ".join(by_label.values()), "stated": [by_label[key]]}


DOCUMENT = "Document:"
"""The text before each document in a context of FaithEval."""
NO_ANSWERS = frozenset({"unanswerable", "unknown", "no answer", "no information", "not", "unclear"})
"""Answers that mark a question of FaithEval as unanswerable."""


def faitheval_documents(cells: Cells) -> Cells:
    """Add the subset of FaithEval as `part`, the right answers, and the contexts.

    All documents together are a context of kind unknown. A document that states only one of the answers is another
    context.
    """
    answers, whole = texts(cells, "answers"), text(cells, "context")
    if NO_ANSWERS.issuperset(answer.lower() for answer in answers):
        contexts = [{"text": whole, "kind": "irrelevant"}]
        return {**cells, "part": "unanswerable", "right": ["unanswerable"], "contexts": contexts}
    contexts = [{"text": whole, "kind": "unknown", "id": "both documents"}]
    for document in filter(None, map(str.strip, whole.split(DOCUMENT))):
        stated = [answer for answer in answers if states_answer(answer, document)]
        if len(stated) == 1 and document != whole:
            kind = "supporting" if stated == answers[:1] else "conflicting"
            contexts.append({"text": document, "kind": kind, "answer": stated[0]})
    return {**cells, "part": "inconsistent", "right": answers[:1], "contexts": contexts}


NO_ANSWER_PRESENT = "No Answer Present."
"""MS MARCO's mark of a question without a right answer."""


def ms_marco(cells: Cells) -> Cells:
    """Refuse a question for which MS MARCO has no right answer."""
    if NO_ANSWER_PRESENT in texts(cells, "answers"):
        raise InputError(
            f"answers: {NO_ANSWER_PRESENT!r} means that the question has no right answer; leave the row out"
        )
    return cells


_SENTENCE_TEMPLATES = {"capital of": "{subj} is the capital of {obj}."}
"""Templates of properties whose names do not fit "The P of S is O"."""


def popqa(rows: Sequence[Cells]) -> Callable[[Cells], Cells]:
    """Return a function that adds a sentence with the answer, and a wrong sentence with another object of the property.

    The other object is drawn from all rows, with the id of the question as the seed. If every object of the property
    is a right answer, no wrong sentence is added.
    """
    objects: dict[str, dict[str, None]] = {}
    for row in rows:
        objects.setdefault(str(row.get("prop")), {})[str(row.get("obj"))] = None

    def add_columns(cells: Cells) -> Cells:
        subject, name, answer = (text(cells, column) for column in ("subj", "prop", "obj"))
        template = _SENTENCE_TEMPLATES.get(name, "The {prop} of {subj} is {obj}.")
        answers = list(dict.fromkeys((answer, *texts(cells, "possible_answers"))))
        right_forms = {form.casefold() for form in answers}
        wrong = [value for value in objects[str(cells.get("prop"))] if value.casefold() not in right_forms]
        sample = [random.Random(f"popqa {text(cells, 'id')}").choice(wrong)] if wrong else []
        others = [{"wrong": other, "passage": template.format(prop=name, subj=subject, obj=other)} for other in sample]
        sentence = template.format(prop=name, subj=subject, obj=answer)
        return {**cells, "answers": answers, "sentence": sentence, "others": others}

    return add_columns


MAX_FORMS = 50
"""Limit of the forms of an answer with several parts: each form of the answer combines a form of each part."""
_CHINESE = re.compile("[一-鿿]")


def rgb(cells: Cells) -> Cells:
    """Add the forms of an answer, and the texts of contexts.

    An answer is a text, or a list of required parts. A part is a text, or a list of its forms: the first part of
    [["Jan 2", "2 January"], "2022"] has two forms. If a column has a list of passages for each part, the first passages
    of all parts are joined to a context, then the second passages, up to the end of the shortest list.
    """
    parts = [[str(form).strip() for form in _as_list(part) if form] for part in _as_list(cells.get("answer"))]
    if not parts or not all(parts):
        raise InputError("answer: is missing, or a part of the answer has no text")
    conjunction = "和" if _CHINESE.search(text(cells, "query")) else " and "
    combinations = (conjunction.join(forms) for forms in product(*parts))
    forms = list(dict.fromkeys(islice(combinations, MAX_FORMS)))
    passages = {column: _joined_parts(cells, column) for column in ("positive", "positive_wrong", "negative")}
    return {**cells, **passages, "answers": forms}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _joined_parts(cells: Cells, column: str) -> list[str]:
    passages = value if isinstance(value := cells.get(column), list) else []
    if any(isinstance(part, list) for part in passages):
        parts = [[str(passage) for passage in part] for part in passages if isinstance(part, list)]
        if not all(parts):
            raise InputError(
                f"{column}: must have a list of passages for each part of the answer, but one of these lists is empty"
            )
        return ["\n\n".join(context) for context in zip(*parts, strict=False)]
    return [str(passage) for passage in passages if passage]


def _row_by_row(add_columns: Callable[[Cells], Cells]) -> Step:
    return lambda rows: add_columns


STEPS: Mapping[str, Step] = {
    "popqa": popqa,
    **{
        add_columns.__name__: _row_by_row(add_columns)
        for add_columns in (
            clasheval,
            conflictqa,
            cub_counterfact,
            cub_druid,
            faitheval_choices,
            faitheval_documents,
            ms_marco,
            rgb,
        )
    },
}
"""Steps by the names that descriptions use."""
