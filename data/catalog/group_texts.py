"""Queries and sets of contexts about groups of entities, such as names by gender or pairs of friends.

A file of texts has the form of the YAML files in data/catalog/groups. A set of contexts is a list of sentences, or a
copy of another set with exchanged words, such as she for he (`swaymeter.data.catalog.exchange`).

Texts about single entities have the slot {entity}; texts about pairs have {entity1} and {entity2}. A query has all
slots. A sentence has all slots or none; a sentence with slots is written once for each entity or pair.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from swaymeter.data.catalog.exchange import AnExchange
from swaymeter.data.catalog.reading import Text, document
from swaymeter.data.catalog.templates import checked_beginning, checked_question, checked_template
from swaymeter.data.errors import InputError
from swaymeter.data.options import Options, Problem, problems, validation_error

SINGLE, PAIR = ("{entity}",), ("{entity1}", "{entity2}")
"""The slots of texts about single entities, and of texts about pairs."""
FOLDER = Path(str(resources.files("swaymeter.data.catalog"))) / "groups"
"""The folder of the bundled texts, and of the bundled files of entities."""

SetName = Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9]{0,63}$")]


def _as_mapping(sentence: Any) -> Any:
    return {"text": sentence} if isinstance(sentence, str) else sentence


class Sentence(Options):
    """A sentence of a set."""

    text: Text
    """The sentence; a line break and the query follow it."""
    label: Text | None = None
    """The kind of sentence, such as negative; persuasion by label leaves out sentences without a label."""
    strength: Annotated[int, Field(ge=0, le=1000, strict=True)] | None = None
    """The degree to which the label applies, from 0; needs a label of the sentence or of the set."""


class ContextSet(Options):
    """A set of contexts of a file."""

    sentences: tuple[Annotated[Sentence, BeforeValidator(_as_mapping)], ...] = ()
    """The sentences, each a text, or a mapping with text, label and strength."""
    exchanged: str | None = None
    """The name of another set, which is copied with exchanged words; replaces the key `sentences`."""
    label: Text | None = None
    """The label of all sentences without a label."""

    @model_validator(mode="after")
    def _check_content(self) -> "ContextSet":
        if bool(self.sentences) == (self.exchanged is not None):
            raise ValueError("must have either `sentences`, or `exchanged` with the name of another set of contexts")
        return self


class GroupTexts(Options):
    """The file of texts: queries about the entities, and the sets of contexts before them."""

    source: Text
    """The source of the texts."""
    licence: Text
    """The licence of the texts."""
    open: Annotated[tuple[Text, ...], Field(min_length=1, max_length=1000)]
    """Open queries: the beginning of a sentence, or `Q: ...?\\nA:`."""
    closed: Annotated[tuple[Text, ...], Field(max_length=1000)] = ()
    """Closed queries, `Q: ...?\\nA:`."""
    contexts: Annotated[Mapping[SetName, ContextSet], Field(min_length=1)]
    """The sets by name."""
    exchange: AnExchange | None = None
    """The rule of exchanged sets: the name of a bundled rule (gender), or pairs of words, such as [rich, poor]."""

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots of the texts: `SINGLE` or `PAIR`."""
        return PAIR if PAIR[0] in self.open[0] else SINGLE

    @cached_property
    def sets(self) -> Mapping[str, tuple[Sentence, ...]]:
        """The sentences by the name of their set, with words already exchanged."""
        return {name: self._sentences(name) for name in self.contexts}

    def _sentences(self, name: str) -> tuple[Sentence, ...]:
        context_set = self.contexts[name]
        if context_set.exchanged is None:
            label = context_set.label
            return tuple(
                sentence if sentence.label else sentence.model_copy(update={"label": label})
                for sentence in context_set.sentences
            )
        other = self.contexts.get(context_set.exchanged)
        if other is None or other.exchanged is not None:
            raise _error(name, "exchanged", f"{context_set.exchanged!r} is not a set with `sentences`; name such a set")
        if self.exchange is None:
            raise _error(
                name,
                "exchanged",
                "needs the key `exchange` at the top level of the file; write pairs of words under `exchange`, or the "
                "name of a bundled rule",
            )
        exchanged = []
        for sentence in other.sentences:
            text = self.exchange(sentence.text)
            if text == sentence.text:
                problem = f"`exchange` has no word of {sentence.text!r}"
                advice = "write a pair with a word of this sentence, or replace `exchanged` by `sentences`"
                raise _error(name, "exchanged", f"{problem}; {advice}")
            label = sentence.label or context_set.label or other.label
            exchanged.append(sentence.model_copy(update={"text": text, "label": label}))
        return tuple(exchanged)

    @model_validator(mode="after")
    def _check_texts(self) -> "GroupTexts":
        wrong = []
        for kind, queries in (("open", self.open), ("closed", self.closed)):
            for index, text in enumerate(queries):
                is_question = kind == "closed" or text.startswith("Q:")
                check = checked_question if is_question else checked_beginning
                wrong += _problems((kind, index), check, text, self.slots)
        for name, sentences in self.sets.items():
            is_copy = self.contexts[name].exchanged is not None  # the sentences of the other set are checked
            for index, sentence in enumerate(() if is_copy else sentences):
                key = "contexts", name, "sentences", index
                slots = self.slots if "{" in sentence.text or "}" in sentence.text else ()
                wrong += _problems(key, _single_line, sentence.text, slots)
                if sentence.strength is not None and sentence.label is None:
                    wrong.append(Problem((*key, "strength"), "needs a label; add `label` to the sentence or the set"))
            if repeated := _first_repeated([sentence.text for sentence in sentences]):
                wrong.append(Problem(("contexts", name), f"has {repeated!r} twice; leave one out"))
        if repeated := _first_repeated([*self.open, *self.closed]):
            wrong.append(Problem(("open",), f"{repeated!r} occurs twice in `open` and `closed`; leave one out"))
        if wrong:
            raise validation_error(wrong)
        return self


def group_texts(file: Path) -> GroupTexts:
    """Return the texts of a file; InputError if the file cannot be read, or if keys break a rule."""
    try:
        content = document(str(file), file.read_bytes())
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}; correct the path") from None
    try:
        return GroupTexts.model_validate(content)
    except ValidationError as error:
        wrong = problems(error, GroupTexts)
        raise InputError("; ".join(f"{file}: {_message(problem)}" for problem in wrong[:5])) from None


def own_or_bundled_file(path: str, ending: str) -> Path:
    """Return the user's file with this path; if only a bundled file has this name and ending, the bundled file."""
    own, bundled = Path(path), FOLDER / f"{path}{ending}"
    has_bundled = re.fullmatch("[a-z-]+", path) is not None and bundled.is_file()
    return bundled if has_bundled and not own.is_file() else own


def bundled_names(ending: str) -> str:
    """Return the names of the bundled files with this ending, separated by commas."""
    return ", ".join(sorted(file.stem for file in FOLDER.glob(f"*{ending}")))


def _message(problem: Problem) -> str:
    key = ".".join(map(str, problem.path_of_key))
    if problem.is_unknown:
        return f"unknown key {key} ({problem.message})"
    return f"{key}: {problem.message}" if key else problem.message


def _first_repeated(texts: Sequence[str]) -> str | None:
    """Return the first repeated text in small letters, ignoring capitals; None if all texts differ."""
    folded = [text.casefold() for text in texts]
    return next((text for text in folded if folded.count(text) > 1), None)


def _error(name: str, key: str, message: str) -> ValidationError:
    return validation_error([Problem(("contexts", name, key), message)])


def _single_line(text: str, slots: tuple[str, ...]) -> str:
    if "\n" in text:
        raise ValueError(
            "has a line break; remove the line break, because Swaymeter adds a line break after every sentence"
        )
    return checked_template(text, slots)


def _problems(key: tuple[int | str, ...], check: Any, text: str, slots: tuple[str, ...]) -> list[Problem]:
    """Return the problem of a text if `check` raises ValueError; otherwise an empty list."""
    try:
        check(text, slots)
    except ValueError as error:
        return [Problem(key, str(error))]
    return []
