"""Rejection reasons of the facts, disputes and questions of a source: a code and a sentence."""

from swaymeter.data.sources.slots import RULES

REASONS = {flag: f"A rule is broken: {rule}" for flag, rule in RULES.items()}
"""Sentence for each code, for messages."""


def _reason(code: str, sentence: str) -> str:
    REASONS[code] = sentence
    return code


# A fact of Wikidata
SUBJECT_MISSING = _reason("subject_missing", "Wikidata has no item with the subject's id.")
OBJECT_MISSING = _reason("object_missing", "Wikidata has no item with the object's id.")
SUBJECT_UNNAMED = _reason("subject_unnamed", "The subject's item has no English label.")
OBJECT_UNNAMED = _reason("object_unnamed", "The object's item has no English label.")
OBJECT_IS_SUBJECT = _reason("object_is_subject", "Subject and object bear the same name.")
NOT_A_VALUE = _reason(
    "not_a_value", "The subject's item has the object neither as a preferred nor as a normal value of the property."
)
DOUBLED = _reason("doubled", "Another entry of the list is the same fact or question, or leads to the same page.")
NOT_EDITED = _reason("not_edited", "No readable revision added or changed the value.")
NO_PAGE = _reason("no_page", "The subject has no article in the English Wikipedia.")
PAGE_MISSING = _reason("page_missing", "The article that the subject's item names does not exist.")
PAGE_OF_ANOTHER = _reason("page_of_another", "The article that the subject's item names is about something else now.")
PAGE_WITHOUT_TEXT = _reason("page_without_text", "The subject's article has no text.")
SLOT_IN_TEXT = _reason(
    "slot_in_text", "The article itself contains the text [ENTITY], which stands for an answer in its snippets."
)
NOT_MENTIONED = _reason(
    "not_mentioned", "No whole sentence of the subject's article mentions the object by its label or an alias."
)
NO_REPLACEMENT = _reason("no_replacement", "No similar entity of the same kind was found, except true answers.")

# A row of a user's file
ROW_NOT_USABLE = _reason("row_not_usable", "The row of the file cannot be used; the details name the problem.")
ANSWERS_ALIKE = _reason(
    "answers_alike",
    "A context called conflicting states the right answer in another spelling; correct its kind or its answer.",
)

# A dispute on a page of Wikipedia, and the question about it
ANONYMOUS_EDITOR = _reason("anonymous_editor", "One of the editors was not logged in.")
TEMPORARY_EDITOR = _reason("temporary_editor", "One of the editors had a temporary account.")
HIDDEN_EDITOR = _reason("hidden_editor", "The name of one of the editors is hidden.")
HIDDEN_CONTENT = _reason("hidden_content", "The content of one of the revisions is hidden or deleted.")
NOT_SINGLE_SPAN = _reason("not_one_span", "The edit did not replace exactly one span of text by another.")
SPAN_TOO_LONG = _reason("span_too_long", "One of the spans has more words than an answer may have.")
ONLY_MARKUP = _reason("only_markup", "The spans differ in markup, spaces or punctuation alone.")
NOT_IN_RUNNING_TEXT = _reason(
    "not_in_running_text", "The span is in a template, reference, link, heading, table or comment, not in running text."
)
NO_SENTENCE = _reason(
    "no_sentence", "Each sentence of the page's text lacks the span, or has a gap that a wiki template left."
)
TOO_SIMILAR = _reason("too_similar", "The spans say nearly the same.")
PROMPT_TOO_LONG = _reason(
    "prompt_too_long", "The sentence is too long for the language model that writes the questions."
)
NO_QUESTION_WRITTEN = _reason(
    "no_question_written", "The language model wrote no question that asks for the answer without naming it."
)

# Judgements of annotators on a question
ANNOTATORS_DISCARD = _reason("annotators_discard", "Annotators discarded the question.")
ANNOTATORS_MISINFORMATION = _reason("annotators_misinformation", "Annotators found the context to be misinformation.")
ANNOTATORS_INCOMPLETE = _reason("annotators_incomplete", "Annotators found the context or the question incomplete.")
ANNOTATORS_DISAGREE = _reason("annotators_disagree", "Two annotators disagree, and no third has decided.")
NOT_ANNOTATED = _reason("not_annotated", "Fewer than two annotators have looked at the question.")
