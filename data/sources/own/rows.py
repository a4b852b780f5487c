"""Questions from rows: one row has all contexts of its question, or several rows have one context each."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any, NamedTuple, get_args

from swaymeter.data import reasons
from swaymeter.data.errors import InputError
from swaymeter.data.records import (
    ALONE,
    OwnKind,
    Passage,
    Question,
    QuestionContext,
    Rejected,
    RelationName,
    identity,
)
from swaymeter.data.records.replies import Replies
from swaymeter.data.sources.layouts.paths import value_at
from swaymeter.data.sources.own.columns import COLUMNS, CONTEXT_COLUMNS, TRUTHS, plain
from swaymeter.data.sources.own.files import FileRow, names_for_message
from swaymeter.data.sources.own.lists import as_text, list_in, none_where_empty
from swaymeter.data.sources.own.named_file import RESERVED, Origin
from swaymeter.data.sources.own.one_row import CONTROL_CHARACTER, ClosedBookRow, OwnContext, OwnRow, row_of
from swaymeter.data.sources.own.replies import RepliesByPassages, recorded_in_row
from swaymeter.data.wording.word import texts_of
from swaymeter.data.wording.words import words


@dataclass
class JoinedQuestion:
    """A question with its contexts from the rows of a file."""

    location: str
    """The location of the question's first row, such as "line 4"."""
    row: OwnRow
    """The question's first row."""
    contexts: list[OwnContext] = field(default_factory=list)
    aliases: list[str] = field(default_factory=list)
    other_columns: dict[str, Any] = field(default_factory=dict)
    """Further columns of the rows and contexts; different values of a column are joined by " | "."""
    replies: dict[str, dict[tuple[str, ...], str | None]] = field(default_factory=dict)
    """Recorded replies, by column and by the texts of the passages before the question."""

    @cached_property
    def question_id(self) -> str:
        """The id of the question."""
        return self.row.id or identity("own", self.row.question, self.row.answer)

    @property
    def forms(self) -> tuple[str, ...]:
        """The right answer, and then its other forms."""
        supporting = (context for context in self.contexts if context.kind == "supporting")
        stated = (form for context in supporting for form in (context.answer, *context.aliases) if form)
        return tuple(dict.fromkeys((self.row.answer, *self.aliases, *stated)))

    @property
    def kinds(self) -> list[OwnKind]:
        """The kind of each context, from the file or derived from the text."""
        forms = self.forms
        return [
            context.kind or ("supporting" if states(context, forms, self.row.question) else "unknown")
            for context in self.contexts
        ]

    def as_row(self) -> dict[str, Any]:
        """Return the question as one row of JSON, with the contexts in a list."""
        context_extras = [_further_columns(context.model_extra or {}) for context in self.contexts]
        row = self.row.model_dump(include={"id", "group", "question", "answer"}) | {"aliases": self.aliases}
        contexts = [
            context.model_dump(include=set(OwnContext.model_fields)) | extra
            for context, extra in zip(self.contexts, context_extras, strict=True)
        ]
        # A further column such as gold is renamed: a file with the columns answer and gold would be refused, because
        # either column may have the right answers.
        others = {
            f"{name} of the file" if plain(name) in TRUTHS else name: value
            for name, value in self.other_columns.items()
            if not any(name in extra for extra in context_extras)
        }
        return {**_without_empty(row), "contexts": [_without_empty(context) for context in contexts], **others}


def _without_empty(cells: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in cells.items() if value not in (None, (), [])}


class UnusableKinds(NamedTuple):
    """Kinds whose contexts are all in unusable rows, and the cause.

    Attributes:
        kinds: The kinds, sorted.
        advice: The missing column and the option that maps it; empty if no column is missing.
    """

    kinds: tuple[str, ...] = ()
    advice: str = ""


class FileQuestions(NamedTuple):
    """The questions of a file in their order, and the unusable rows.

    Attributes:
        questions: The questions.
        rejected: The unusable rows with their reasons.
        derived: Number of contexts without a kind in the file that state the right answer.
        unknown: Number of contexts without a kind in the file that do not state the right answer.
        lacking: Number of questions with too few passages for a set, by set.
        rows: Number of rows of the file.
        unusable: Kinds whose contexts are all in unusable rows.
        layout: The recognised layout of the file; empty without one.
        replies: The recorded replies of each requested column.
    """

    questions: list[Question]
    rejected: list[Rejected]
    derived: int = 0
    unknown: int = 0
    lacking: Mapping[str, int] = {}
    rows: int = 0
    unusable: UnusableKinds = UnusableKinds()
    layout: str = ""
    replies: Mapping[str, Replies] = {}

    def about_sets(self) -> str:
        """Return a sentence that counts questions with too few passages for a set; empty without such questions."""
        if not self.lacking:
            return ""
        counts = "; ".join(f"{name}: {count}" for name, count in self.lacking.items())
        return f"questions that are not asked with a set, because they have too few passages: {counts}"

    def about_kinds(self, file: str) -> str:
        """Return a sentence that counts contexts without a kind; `file` has the arguments of the suggested command."""
        if not (total := self.derived + self.unknown):
            return ""
        asks = f"`swaymeter annotate passages {file} --annotator NAME` asks for"
        if total == 1:
            counts = "supporting, because it states the right answer" if self.derived else "unknown"
            return f"1 context has no kind, and counts as {counts}; {asks} the kind"
        return (
            f"{total} contexts have no kind: {self.derived} count as supporting, because they state the "
            f"right answer, and {self.unknown} as unknown; {asks} the kinds"
        )


def questions_of(
    rows: Iterable[FileRow],
    origin: Origin,
    columns: Mapping[str, str],
    *,
    skip_repeated: bool = False,
    reply_columns: Sequence[str] = (),
) -> FileQuestions:
    """Return the questions of a file's rows, with counts, recorded replies and unusable rows.

    Args:
        rows: The rows.
        origin: The source and licence of the file.
        columns: Names of the file's columns, or paths, by Swaymeter's names.
        skip_repeated: True to skip repeated contexts of a question; False to refuse their rows.
        reply_columns: Columns of recorded replies; with such columns, a row without a context is closed-book.
    """
    all_rows = [*rows]
    questions, rejected = joined_questions(
        all_rows, origin, columns, skip_repeated=skip_repeated, reply_columns=reply_columns
    )
    groups = _relation_names(question.row.group for question in questions)
    recorded: dict[str, Replies] = {
        column: {
            (question.question_id, texts): reply
            for question in questions
            for texts, reply in question.replies[column].items()
        }
        for column in reply_columns
    }
    file_questions = FileQuestions([], rejected, rows=len(all_rows), replies=recorded)
    derived_kinds = Counter[OwnKind]()  # of contexts without a kind in the file
    for question in questions:
        kinds = question.kinds
        derived_kinds.update(kind for context, kind in zip(question.contexts, kinds, strict=True) if not context.kind)
        file_questions.questions.append(_question(question, kinds, groups, origin))
    if rejected:
        names = _our_names(all_rows, columns)
        cells = {row.location: _mapped(row.cells, columns, names) for row in all_rows}
        file_questions = file_questions._replace(unusable=unusable_kinds(cells, {row.part for row in rejected}))
    return file_questions._replace(derived=derived_kinds["supporting"], unknown=derived_kinds["unknown"])


def joined_questions(
    rows: Iterable[FileRow],
    origin: Origin,
    columns: Mapping[str, str],
    *,
    skip_repeated: bool = False,
    reply_columns: Sequence[str] = (),
) -> tuple[list[JoinedQuestion], list[Rejected]]:
    """Return the questions, each joined from all its rows, and the unusable rows."""
    rows = [*rows]
    names = _our_names(rows, columns)
    questions: dict[tuple[str, ...], JoinedQuestion] = {}
    rejected: list[Rejected] = []
    for location, cells, row_problem in rows:
        mapped = _mapped(cells, columns, names)
        try:
            if row_problem:
                raise InputError(row_problem)
            our_names = [names[name] for name in cells]
            if len({*our_names}) < len(our_names):
                twice = next(name for name, count in Counter(our_names).items() if count > 1)
                raise InputError(
                    f"{twice}: the column occurs twice, with different capitals; rename one of the two columns"
                )
            is_closed_book = bool(reply_columns) and all(
                none_where_empty(mapped.get(name)) in (None, []) for name in ("context", "contexts")
            )
            row = row_of(ClosedBookRow if is_closed_book else OwnRow, mapped)
            recorded = {column: recorded_in_row(column, cells, row) for column in reply_columns}
            _join(questions, location, row, recorded, skip_repeated=skip_repeated)
        except InputError as error:
            rejected.append(_rejected(location, mapped, error, origin))
    for key, question in [*questions.items()]:
        if not question.contexts:
            problem = InputError(
                "context: no row of this question has a context; write a context, or leave the question out"
            )
            rejected.append(_rejected(question.location, question.row.model_dump(), problem, origin))
            del questions[key]
    return list(questions.values()), rejected


_LONG_NAMES = {short: name for name, short in CONTEXT_COLUMNS.items()}
"""Columns of a context by their short names, such as context_answer by answer."""
_STATED_ANSWER = "context_answer"
"""A column that only conflicting contexts need, so that a file may lack it."""


def unusable_kinds(rows: Mapping[str, Mapping[str, Any]], rejected: Collection[str]) -> UnusableKinds:
    """Return the kinds that only rejected rows have; `rows` has the cells by location, `rejected` has locations."""
    rejected_kinds, usable_kinds, names = set[str](), set[str](), set[str]()
    for location, cells in rows.items():
        kinds = rejected_kinds if location in rejected else usable_kinds
        for context in _context_cells(cells):
            names |= {_LONG_NAMES.get(name, name) for name in context}
            kinds.add(str(context.get("kind") or "").strip().lower())
    unusable = tuple(sorted((rejected_kinds - usable_kinds) & {*get_args(OwnKind)}))
    if "conflicting" not in unusable or _STATED_ANSWER in names:
        return UnusableKinds(unusable)
    advice = f"column {_STATED_ANSWER} is missing"
    if further := sorted(names - {*COLUMNS}):
        likely = get_close_matches(_STATED_ANSWER, further, n=1, cutoff=0.4) or ["NAME"]
        advice += f"; the file has {names_for_message(further)}; add --map {_STATED_ANSWER}={likely[0]}"
    return UnusableKinds(unusable, advice)


def _context_cells(cells: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the cells of each context of a row, without the question's answer, aliases and id."""
    nested = cells.get("contexts")
    items = list_in(nested) if isinstance(nested, str) else nested
    if isinstance(items, list):
        yield from (item for item in items if isinstance(item, Mapping))
    else:
        yield {name: cell for name, cell in cells.items() if name not in ("answer", "aliases", "id")}


_YES_AND_NO = frozenset({"yes", "no", "true", "false"})


def states(context: OwnContext, forms: Sequence[str], question: str) -> bool:
    """Return True if a context states the right answer: in its own answer, or else in the words of its text.

    Yes, no and choices that the question names are not looked for, because their words prove nothing. An answer with a
    number is also looked for by the rules for replies: "8 years" is in "it lasts eight years".
    """
    if context.answer is not None:
        return context.answer.casefold() in {form.casefold() for form in forms}
    text, folded_question = _folded(context.text), _folded(question)
    distinctive = [
        form for form in map(_folded, forms) if form not in _YES_AND_NO and not _has_words(form, folded_question)
    ]
    return any(_has_words(form, text) for form in distinctive) or any(
        _has_number(form, context.text) and not _has_number(form, question) for form in forms
    )


def _has_number(form: str, text: str) -> bool:
    """Return True if a text has an answer's number and unit, in figures or words. A bound, "> 8 years", does not count.

    A number without a unit is not looked for: "two firms" does not answer "how many years?".
    """
    form_words = words(form)
    form_texts = texts_of(form_words)
    size = len(form_texts)
    if size < 2 or not any(word.kind == "number" for word in form_words):
        return False
    text_words = words(text)
    texts = texts_of(text_words)
    return any(
        texts[start : start + size] == form_texts and not (start and text_words[start - 1].kind == "sign")
        for start in range(len(texts) - size + 1)
    )


def states_answer(answer: str, text: str) -> bool:
    """Return True if a text has an answer as whole words, in upper or lower case."""
    return _has_words(_folded(answer), _folded(text))


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _has_words(phrase: str, text: str) -> bool:
    """Return True if a text has a phrase as whole words, or in any position in a script without spaces."""
    start = text.find(phrase)
    while start >= 0:
        end = start + len(phrase)
        if not (_LETTER.match(text[start - 1 : start]) or _LETTER.match(text, end)):
            return True
        start = text.find(phrase, start + 1)
    return False


_LETTER = re.compile(r"[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""A letter or digit of a script with spaces, unlike Thai, Lao, Burmese, Khmer, Japanese, Chinese and Korean."""


def _mapped(cells: Mapping[str, Any], columns: Mapping[str, str], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the cells of a row, and of the objects in `contexts`, under Swaymeter's names.

    `columns` is the user's mapping; `names` has Swaymeter's name of each column in the file.
    """
    mapped = {names[name]: value for name, value in cells.items()}
    mapped |= _at_paths(cells, columns)
    contexts = mapped.get("contexts")
    if isinstance(contexts, str):
        contexts = list_in(contexts)
    if not columns or not isinstance(contexts, list):
        return mapped
    our_names = {theirs: ours for ours, theirs in columns.items()}
    mapped["contexts"] = [
        {our_names.get(key, key): value for key, value in context.items()} | _at_paths(context, columns)
        if isinstance(context, dict)
        else context
        for context in contexts
    ]
    return mapped


def _at_paths(cells: Mapping[str, Any], columns: Mapping[str, str]) -> dict[str, Any]:
    """Return the values at the paths in `columns`, such as `meta.title`, by Swaymeter's names."""
    paths = {name: path for name, path in columns.items() if path not in cells and re.search(r"[.\[]", path)}
    return {name: value for name, path in paths.items() if (value := value_at(cells, path)) is not None}


def _our_names(rows: Iterable[FileRow], columns: Mapping[str, str]) -> dict[str, str]:
    return {name: _our_name(str(name), columns) for name in {name for row in rows for name in row.cells}}


def _our_name(name: str, columns: Mapping[str, str]) -> str:
    """Return Swaymeter's name of a column in the file.

    If the user maps "answer" to another column, the file's own column "answer" becomes "answer of the file".
    """
    for ours, theirs in columns.items():
        if theirs == name:
            return ours
    lower_name = name.strip().lower()
    if lower_name not in COLUMNS:
        return name
    return f"{name} of the file" if lower_name in columns else lower_name


def _join(
    questions: dict[tuple[str, ...], JoinedQuestion],
    location: str,
    row: OwnRow,
    recorded: Mapping[str, RepliesByPassages],
    *,
    skip_repeated: bool,
) -> None:
    key = (row.id,) if row.id else (row.question, row.answer)
    joined = questions.get(key) or JoinedQuestion(location, row)
    if skip_repeated and not (row := _without_repeated(row, joined.contexts)).contexts:
        return
    if (joined.row.question, joined.row.answer) != (row.question, row.answer):
        raise InputError(f"id: {row.id} is also the id of the question in {joined.location}; write another id")
    if joined.row.group != row.group:
        raise InputError(
            f"group: is {row.group!r}, but {joined.row.group!r} for the same question in {joined.location}; write the "
            "same group in both rows"
        )
    _refuse_right_as_wrong(joined, row)
    earlier_rows = f"for this question, whose first row is {joined.location}"
    locations = {(context.kind, context.text): earlier_rows for context in joined.contexts}
    ids = {context.id for context in joined.contexts if context.id}
    for number, context in enumerate(row.contexts, 1):
        if earlier_location := locations.get((context.kind, context.text)):
            name = f"context {number}" if len(row.contexts) > 1 else "context"
            raise InputError(f"{name}: occurs already {earlier_location}; remove one of the two contexts")
        if context.id in ids:
            raise InputError(f"context_id: {context.id} occurs twice for this question; give each context its own id")
        locations[context.kind, context.text] = f"as context {number}"
        ids.add(context.id or "")
    for column, row_replies in recorded.items():
        question_replies = joined.replies.setdefault(column, {})
        if any(texts in question_replies for texts in row_replies):
            raise InputError(
                f"{column}: an earlier row of this question has a reply to the same passages; remove one "
                "of the two replies"
            )
        question_replies |= row_replies
    joined.contexts += row.contexts
    joined.aliases += row.aliases
    for extra in (row.model_extra, *(context.model_extra for context in row.contexts)):
        for name, value in _further_columns(extra or {}).items():
            if name in recorded:
                continue
            before = joined.other_columns.setdefault(name, value)
            if value != before and as_text(value) not in as_text(before).split(" | "):
                joined.other_columns[name] = f"{as_text(before)} | {as_text(value)}"
    questions[key] = joined


def _without_repeated(row: OwnRow, contexts: Sequence[OwnContext]) -> OwnRow:
    """Return a row without repeated contexts; a number is added to an id that another context has."""
    contents = {(context.kind, context.text) for context in contexts}
    ids = {context.id for context in contexts}
    new = []
    for context in row.contexts:
        if (context.kind, context.text) in contents:
            continue
        name, number = context.id, 1
        while name and name in ids:
            number += 1
            name = f"{context.id} {number}"
        contents.add((context.kind, context.text))
        ids.add(name)
        new.append(context.model_copy(update={"id": name}))
    return row.model_copy(update={"contexts": tuple(new)})


def _refuse_right_as_wrong(question: JoinedQuestion, row: OwnRow) -> None:
    contexts, aliases = [*question.contexts, *row.contexts], [*question.aliases, *row.aliases]
    wrong = [
        form
        for context in contexts
        if context.kind == "conflicting"
        for form in (context.answer or "", *context.aliases)
    ]
    if not wrong:
        return
    joined = JoinedQuestion(question.location, question.row, contexts, aliases)
    right_forms = {form.casefold(): form for form in joined.forms}
    if both := next((right_forms[form.casefold()] for form in wrong if form.casefold() in right_forms), ""):
        raise InputError(
            f"answer: {both} is the right answer and the answer of a conflicting context; correct one of the two "
            "answers"
        )


def _question(
    question: JoinedQuestion, kinds: Sequence[OwnKind], groups: Mapping[str, RelationName], origin: Origin
) -> Question:
    row, forms = question.row, question.forms
    contexts, derived = list[QuestionContext](), list[str]()
    for name, kind, context in zip(_ids(question.contexts, kinds), kinds, question.contexts, strict=True):
        stated = () if context.answer is None else (context.answer, *context.aliases)
        if kind == "supporting":
            stated = tuple(dict.fromkeys((*stated, *forms)))
        about = context.title, context.source, context.date, context.score
        contexts.append(QuestionContext(name, kind, (Passage(context.text, kind, stated, *about),), stated))
        if not context.kind and kind != "unknown":
            derived.append(name)
    others = question.other_columns | ({DERIVED: " | ".join(derived)} if derived else {})
    return Question(
        question_id=question.question_id,
        relation=groups[row.group],
        partition=row.group,
        subject="",
        subject_id=None,
        property_id=None,
        object=row.answer,
        object_id=None,
        answers=forms,
        replacement="",
        question=row.question,
        contexts=tuple(contexts),
        edits=None,
        subject_popularity=None,
        object_popularity=None,
        id_source=None,
        source=origin.source,
        licence=origin.licence,
        flags=(),
        list_id=row.id,
        other_columns=json.dumps(others, ensure_ascii=False, sort_keys=True) if others else None,
    )


DERIVED = "contexts whose kind follows from their text"
"""The name of the further column with the ids of contexts whose kind is derived."""


def _ids(contexts: Sequence[OwnContext], kinds: Sequence[OwnKind]) -> tuple[str, ...]:
    """Return the id of each context: the id in the file, or else its kind, such as supporting and supporting 2."""
    taken = {context.id for context in contexts if context.id} | {ALONE.context_id}
    counts: Counter[str] = Counter()
    ids = []
    for context, kind in zip(contexts, kinds, strict=True):
        name = context.id
        while name is None or (not context.id and name in taken):
            counts[kind] += 1
            name = kind if counts[kind] == 1 else f"{kind} {counts[kind]}"
        taken.add(name)
        ids.append(name)
    return tuple(ids)


def _further_columns(extra: Mapping[str, Any]) -> dict[str, Any]:
    values = {_visible(name): _json_value(value) for name, value in extra.items()}
    return {name: value for name, value in values.items() if none_where_empty(value) is not None}


def _visible(text: str) -> str:
    return CONTROL_CHARACTER.sub(lambda control: f"\\u{ord(control[0]):04x}", text)


def _json_value(value: Any) -> Any:
    """Return a value that JSON can store; other values, and values with control characters, become texts."""
    if none_where_empty(value) is None:
        return None
    if isinstance(value, str):
        return _visible(value)
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return _visible(str(value))
    return _visible(text) if CONTROL_CHARACTER.search(text) else value


def _relation_names(groups: Iterable[str]) -> dict[str, RelationName]:
    """Return a relation name for each group, such as northSea; a digest is added to an invalid or repeated name."""
    names: dict[str, RelationName] = {}
    for group in dict.fromkeys(groups):
        parts = re.findall(r"[A-Za-z0-9]+", group)
        name = "".join([*parts[:1], *(part[:1].upper() + part[1:] for part in parts[1:])])
        is_valid = name[:1].isalpha() and len(name) <= 48 and " ".join(parts) == group
        if not is_valid or name in names.values() or name.lower() in RESERVED:
            beginning = re.sub(r"^[0-9]+", "", name)[:40]
            name = f"{beginning or 'group'}{identity('group', group)[:6]}"
        names[group] = RelationName(name)
    return names


def _rejected(location: str, cells: Mapping[str, Any], error: InputError, origin: Origin) -> Rejected:
    question = cells.get("question")
    subject = str(question)[:200] if isinstance(question, str | int | float) else ""
    # Files cannot store lone surrogates.
    subject, detail = (text.encode(errors="backslashreplace").decode() for text in (subject, str(error)))
    return Rejected(
        partition="own",
        relation=RelationName("own"),
        part=location,
        subject=subject,
        reason=reasons.ROW_NOT_USABLE,
        source=origin.source,
        licence=origin.licence,
        detail=detail,
    )
