"""The slot of a snippet, and the rules that a question has to keep.

A snippet is a text with the slot [ENTITY] in place of an answer: "[ENTITY] is the capital of Germany." A question that
breaks a rule gets a flag. A study rejects the question only if the flag is in UNASKABLE.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from swaymeter.data.records import SLOT, Partition, Question

RULES: dict[str, str] = {}
"""The rule of each flag, in a sentence; reports show it for a question with the flag."""


def _flag(name: str, rule: str) -> str:
    RULES[name] = rule
    return name


EMPTY_SUBJECT = _flag("empty_subject", "A question says who or what it is about.")
EMPTY_ANSWER = _flag("empty_answer", "A question has an original answer.")
EMPTY_REPLACEMENT = _flag("empty_replacement", "A question has a counter-memory answer.")
EMPTY_QUESTION = _flag("empty_question", "A question has words.")
NO_SLOT = _flag("no_slot", "A snippet has a slot for the answer.")
OBJECT_NOT_IN_CONTEXT = _flag(
    "object_not_in_context", "A disputed sentence has the original answer in it, as whole words."
)
DUPLICATE_ID = _flag("duplicate_id", "No earlier question of the file has the same index and id.")
BROKEN_SLOT = _flag("broken_slot", "Every slot has its brackets, and touches no letter or digit.")
ANSWER_LEFT_IN_CONTEXT = _flag(
    "answer_left_in_context", "No form of the original answer stands in the snippet outside of its slots."
)
REPLACEMENT_IS_ANSWER = _flag(
    "replacement_is_answer", "The counter-memory answer is not a form of the original answer."
)
REPLACEMENT_IS_OTHER_ANSWER = _flag(
    "replacement_is_other_answer", "The counter-memory answer is not an answer of another row of the same fact."
)
QUESTION_CONTAINS_ANSWER = _flag("question_contains_answer", "The question does not name the original answer.")
SUBJECT_NOT_IN_QUESTION = _flag("subject_not_in_question", "A static or temporal question names its subject.")
SUBJECT_IS_NOT_PAGE = _flag("subject_is_not_page", "The subject of a disputed sentence is the whole title of its page.")
OBJECT_NOT_AMONG_ANSWERS = _flag("object_not_among_answers", "The original answer is one of the listed answers.")
EDITS_CONTRADICT_PARTITION = _flag(
    "edits_contradict_partition",
    "A static fact has 1 edit, a temporal fact at least 2 edits, and a disputed fact at least 1 reversion.",
)
NUMBER_UNKNOWN = _flag("number_unknown", "The number of edits is given, and no number is nan.")
MALFORMED_ID = _flag("malformed_id", "The id of an entity is Q and a number, the id of a property P and a number.")
DUPLICATE_QUESTION = _flag("duplicate_question", "No other question of the file has the same words.")

CONTEXT_LACKS_ITS_ANSWER = _flag(
    "context_lacks_its_answer", "A context from a user's file has the answer that the file gives for it."
)
UNASKABLE = frozenset({EMPTY_ANSWER, EMPTY_REPLACEMENT, EMPTY_QUESTION, NO_SLOT, OBJECT_NOT_IN_CONTEXT, DUPLICATE_ID})
"""Flags of questions that a study rejects, because they cannot be asked."""


def fill_slot(snippet: str, answer: str) -> str:
    """Return the snippet with the answer in every slot."""
    return snippet.replace(SLOT, answer)


def replace_object(context: str, answer: str, replacement: str) -> str | None:
    """Return the context with the answer replaced, as whole words in any case; None without the answer."""
    pattern = _whole_words(answer)
    return pattern.sub(lambda _: replacement, context) if answer and pattern.search(context) else None


def spans_of(text: str, name: str) -> list[tuple[int, int]]:
    """Return the spans (start, end) of a name in a text, as whole words in any case."""
    return [match.span() for match in _whole_words(name).finditer(text)] if name else []


def snippet_of(original: str, counter_memory: str, answer: str, replacement: str) -> str | None:
    """Return a snippet that gives both contexts when its slots are filled; None if no snippet does.

    A snippet whose slots touch no letters or digits is preferred. If the answer and the replacement are the same,
    every mention that touches no letter or digit is a slot.
    """
    # An empty answer has a mention between any two characters, and at both ends.
    first, *pieces = original.split(answer) if answer else ["", *original, ""]
    offset = len(first)
    snippets = {offset: first} if counter_memory.startswith(first) else {}
    # Each mention of the answer becomes a slot or stays. `snippets` has the possible beginnings of the snippet. The
    # keys are the lengths of these beginnings once each slot has the replacement.
    for piece in pieces:
        end = offset + len(answer)
        touches_letters = original[max(0, offset - 1) : offset].isalnum() or original[end : end + 1].isalnum()
        choices = [(replacement + piece, SLOT + piece), (answer + piece, answer + piece)]
        longer_snippets: dict[int, str] = {}
        for length, snippet in snippets.items():
            for context_text, snippet_text in choices[::-1] if touches_letters else choices:
                if counter_memory.startswith(context_text, length):
                    longer_snippets.setdefault(length + len(context_text), snippet + snippet_text)
        snippets, offset = longer_snippets, end + len(piece)
    result = snippets.get(len(counter_memory))
    if result is None:
        return None
    # If a context itself has the text [ENTITY], the filled snippet differs from this context.
    contexts = fill_slot(result, answer), fill_slot(result, replacement)
    return result if contexts == (original, counter_memory) else None


def flags_of(question: str, answers: Sequence[str], answer: str, replacement: str) -> tuple[str, ...]:
    """Return the flags of a question that do not depend on its context."""
    right_forms = {form.casefold().strip() for form in (*answers, answer)} - {""}
    question_words, answer_words = _words(question), _words(answer)
    return _raised_flags(
        {
            EMPTY_QUESTION: not question.strip(),
            EMPTY_ANSWER: not answer.strip(),
            EMPTY_REPLACEMENT: not replacement.strip(),
            REPLACEMENT_IS_ANSWER: replacement.casefold().strip() in right_forms,
            QUESTION_CONTAINS_ANSWER: answer_words != "" and answer_words in question_words,
        }
    )


def flags_of_snippet(snippet: str, answers: Sequence[str]) -> tuple[str, ...]:
    """Return the flags of a snippet with slots; `answers` has every form of the original answer."""
    text_outside_slots = snippet.replace(SLOT, " ")
    slot, has_slot = re.escape(SLOT), SLOT in snippet
    has_answer_outside_slots = any(_whole_words(form).search(text_outside_slots) for form in answers if form.strip())
    return _raised_flags(
        {
            NO_SLOT: not has_slot,
            BROKEN_SLOT: SLOT.strip("[]") in text_outside_slots or bool(re.search(rf"\w{slot}|{slot}\w", snippet)),
            ANSWER_LEFT_IN_CONTEXT: has_slot and has_answer_outside_slots,
        }
    )


def flags_of_edits(partition: Partition, edits: int | None) -> tuple[str, ...]:
    """Return the flag of a number of edits that contradicts the partition; no flag for an unknown number (None)."""
    possible = {"static": edits == 1, "temporal": (edits or 0) >= 2, "disputable": (edits or 0) >= 1}
    return () if edits is None or possible[partition] else (EDITS_CONTRADICT_PARTITION,)


def with_flags_of_duplicates(questions: Sequence[Question]) -> list[Question]:
    """Return the questions of a file, in order, with the flags of the rules that compare several questions."""
    counts = Counter(map(_folded_question, questions))
    right_answers: dict[tuple[str, str], set[str]] = defaultdict(set)
    for question in questions:
        right_answers[_fact(question)] |= {form.casefold() for form in question.answers} - {""}

    def further_flags(question: Question) -> tuple[str, ...]:
        is_compared = question.partition != "disputable" and REPLACEMENT_IS_ANSWER not in question.flags
        is_other_answer = is_compared and question.replacement.casefold() in right_answers[_fact(question)]
        folded = _folded_question(question)
        is_duplicate = bool(folded) and counts[folded] > 1
        return _raised_flags({REPLACEMENT_IS_OTHER_ANSWER: is_other_answer, DUPLICATE_QUESTION: is_duplicate})

    return [replace(question, flags=(*question.flags, *further_flags(question))) for question in questions]


def _fact(question: Question) -> tuple[str, str]:
    return question.subject_id or question.subject, question.property_id or question.relation


def _folded_question(question: Question) -> str:
    return " ".join(question.question.casefold().split())


def _words(text: str) -> str:
    """Return the words as a text, such as " the  capital ", in which `in` finds whole words only."""
    return "".join(f" {word} " for word in re.findall(r"\w+", text.casefold()))


def _raised_flags(is_broken: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(flag for flag in is_broken if is_broken[flag])


def _whole_words(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)
