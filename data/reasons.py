"""Why a fact, a dispute or a question of a source became no question of the dataset: a code each, and a sentence."""

from collections.abc import Mapping
from types import MappingProxyType

from data.sources.slots import RULES

# A fact of Wikidata
SUBJECT_MISSING = "subject_missing"
OBJECT_MISSING = "object_missing"
SUBJECT_UNNAMED = "subject_unnamed"
OBJECT_UNNAMED = "object_unnamed"
OBJECT_IS_SUBJECT = "object_is_subject"
NOT_A_VALUE = "not_a_value"
DOUBLED = "doubled"
NOT_EDITED = "not_edited"
NO_PAGE = "no_page"
PAGE_MISSING = "page_missing"
PAGE_OF_ANOTHER = "page_of_another"
PAGE_WITHOUT_TEXT = "page_without_text"
SLOT_IN_TEXT = "slot_in_text"
NOT_MENTIONED = "not_mentioned"
NO_REPLACEMENT = "no_replacement"

# A dispute on a page of Wikipedia, and the question about it
ANONYMOUS_EDITOR = "anonymous_editor"
TEMPORARY_EDITOR = "temporary_editor"
HIDDEN_EDITOR = "hidden_editor"
HIDDEN_CONTENT = "hidden_content"
NOT_ONE_SPAN = "not_one_span"
SPAN_TOO_LONG = "span_too_long"
ONLY_MARKUP = "only_markup"
NOT_IN_RUNNING_TEXT = "not_in_running_text"
NO_SENTENCE = "no_sentence"
TOO_SIMILAR = "too_similar"
PROMPT_TOO_LONG = "prompt_too_long"
NO_QUESTION_WRITTEN = "no_question_written"

# What annotators say of a question
ANNOTATORS_DISCARD = "annotators_discard"
ANNOTATORS_MISINFORMATION = "annotators_misinformation"
ANNOTATORS_INCOMPLETE = "annotators_incomplete"
ANNOTATORS_DISAGREE = "annotators_disagree"
NOT_ANNOTATED = "not_annotated"

REASONS: Mapping[str, str] = MappingProxyType(
    {
        SUBJECT_MISSING: "Wikidata has no item of the subject's id: it was deleted, or never was.",
        OBJECT_MISSING: "Wikidata has no item of the object's id: it was deleted, or never was.",
        SUBJECT_UNNAMED: "The subject's item has no English label.",
        OBJECT_UNNAMED: "The object's item has no English label.",
        OBJECT_IS_SUBJECT: "Subject and object bear the same name.",
        NOT_A_VALUE: "The subject's item does not have that value of the property, or only as a deprecated one.",
        DOUBLED: "Another entry of the list is the same fact, or leads to the same page.",
        NOT_EDITED: "No revision that may be read made or changed the value.",
        NO_PAGE: "The subject has no article in the English Wikipedia.",
        PAGE_MISSING: "The article that the subject's item names does not exist.",
        PAGE_OF_ANOTHER: "The article that the subject's item names has become one about something else.",
        PAGE_WITHOUT_TEXT: "The subject's article has no text.",
        SLOT_IN_TEXT: "The article has the sign of the slot in its own text, so that a slot could not be told from it.",
        NOT_MENTIONED: "No whole sentence of the subject's article mentions the object by its label or an alias.",
        NO_REPLACEMENT: "No similar entity of the same kind was found that is not itself a true answer.",
        ANONYMOUS_EDITOR: "One of the editors was not logged in.",
        TEMPORARY_EDITOR: "One of the editors had a temporary account.",
        HIDDEN_EDITOR: "The name of one of the editors is hidden.",
        HIDDEN_CONTENT: "The content of one of the revisions is hidden or deleted.",
        NOT_ONE_SPAN: "The edit did not replace exactly one span of text by another.",
        SPAN_TOO_LONG: "One of the spans has more words than an answer may have.",
        ONLY_MARKUP: "The spans differ in markup, spaces or punctuation alone.",
        NOT_IN_RUNNING_TEXT: "The span is not in running text: a template, reference, link, heading, table or comment.",
        NO_SENTENCE: "No whole sentence of the page's text holds the span: none without a gap where a template stood.",
        TOO_SIMILAR: "The spans say nearly the same.",
        PROMPT_TOO_LONG: "The sentence is too long for the language model that writes the questions.",
        NO_QUESTION_WRITTEN: "The language model wrote no question that asks for the answer without naming it.",
        ANNOTATORS_DISCARD: "Annotators discarded the question.",
        ANNOTATORS_MISINFORMATION: "Annotators found the context to be misinformation.",
        ANNOTATORS_INCOMPLETE: "Annotators found the context or the question incomplete.",
        ANNOTATORS_DISAGREE: "Two annotators disagree, and no third has decided.",
        NOT_ANNOTATED: "Fewer than two annotators have looked at the question.",
        **{flag: f"A rule is broken: {rule}" for flag, rule in RULES.items()},
    }
)
"""What each code means, for whoever reads the counts."""
