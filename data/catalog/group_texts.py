"""Texts about entities in groups, such as names by gender or pairs of friends: queries, and sets of contexts.

A YAML file in the form of the bundled ones, data/catalog/groups. A set of contexts is a list of sentences, or another
set with the words of two groups exchanged (`swaymeter.data.catalog.exchange`). The slot of an entity is {entity}; of a
pair there are two, {entity1} and {entity2}. A query has every slot; a sentence has every slot, and is then written
about each entity, or none.
"""

import re
from collections.abc import Mapping
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from swaymeter.data.catalog.exchange import AnExchange
from swaymeter.data.catalog.reading import Text, document
from swaymeter.data.catalog.templates import beginning, question, sound
from swaymeter.data.errors import InputError
from swaymeter.data.options import Options, Problem, problems, refused

ONE, PAIR = ("{entity}",), ("{entity1}", "{entity2}")
"""The slots of an entity, and of a pair."""
FOLDER = Path(str(resources.files("swaymeter.data.catalog"))) / "groups"
"""The bundled texts, and the bundled files of entities."""

SetName = Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9]{0,63}$")]


def _written(sentence: Any) -> Any:
    return {"text": sentence} if isinstance(sentence, str) else sentence


class Sentence(Options):
    """A sentence of a set."""

    text: Text
    """The sentence; a line break follows it, and then the query."""
    label: Text | None = None
    """What kind of sentence it is, such as negative; persuasion by label leaves out sentences without one."""
    strength: Annotated[int, Field(ge=0, le=1000, strict=True)] | None = None
    """How much it is so, from 0 on; needs a label, its own or the set's."""


class ContextSet(Options):
    """A set of contexts as the file has it."""

    sentences: tuple[Annotated[Sentence, BeforeValidator(_written)], ...] = ()
    """Its sentences: a text, or a mapping with text, label and strength."""
    exchanged: str | None = None
    """In their place, the set whose words are exchanged."""
    label: Text | None = None
    """The label of all sentences that have none of their own."""

    @model_validator(mode="after")
    def _one_of_both(self) -> "ContextSet":
        if bool(self.sentences) == (self.exchanged is not None):
            raise ValueError("must have `sentences`, or the name of another set under `exchanged`, one of the two")
        return self


class GroupTexts(Options):
    """The file of texts: queries about the entities, and the sets of contexts that stand before them."""

    source: Text
    """Where the texts come from."""
    licence: Text
    """Under which terms they are."""
    open: Annotated[tuple[Text, ...], Field(min_length=1, max_length=1000)]
    """Open queries: the beginning of a sentence, or `Q: ...?\\nA:`."""
    closed: Annotated[tuple[Text, ...], Field(max_length=1000)] = ()
    """Closed queries, `Q: ...?\\nA:`."""
    contexts: Annotated[Mapping[SetName, ContextSet], Field(min_length=1)]
    """The sets by name."""
    exchange: AnExchange | None = None
    """The rule of sets that are exchanged: a bundled one, gender, or pairs of words such as [rich, poor]."""

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots of an entity: one, or the two of a pair."""
        return PAIR if PAIR[0] in self.open[0] else ONE

    @cached_property
    def sets(self) -> Mapping[str, tuple[Sentence, ...]]:
        """The sentences of each set, those with exchanged words written out."""
        return {name: self._sentences(name) for name in self.contexts}

    def _sentences(self, name: str) -> tuple[Sentence, ...]:
        of_set = self.contexts[name]
        if of_set.exchanged is None:
            label = of_set.label
            return tuple(one if one.label else one.model_copy(update={"label": label}) for one in of_set.sentences)
        other = self.contexts.get(of_set.exchanged)
        if other is None or other.exchanged is not None:
            raise _wrong(name, "exchanged", f"{of_set.exchanged} is not a set with sentences; name one of those")
        if self.exchange is None:
            raise _wrong(name, "exchanged", "needs `exchange`, pairs of words or the name of a bundled rule; add it")
        exchanged = []
        for one in other.sentences:
            text = self.exchange(one.text)
            if text == one.text:
                words = f"the rule {self.exchange.name} exchanges no word of {one.text!r}"
                raise _wrong(name, "exchanged", f"{words}; add the words to `exchange`, or write the set out")
            exchanged.append(one.model_copy(update={"text": text, "label": one.label or of_set.label or other.label}))
        return tuple(exchanged)

    @model_validator(mode="after")
    def _consistent(self) -> "GroupTexts":
        wrong = []
        for kind, queries in (("open", self.open), ("closed", self.closed)):
            for place, text in enumerate(queries):
                is_question = kind == "closed" or text.startswith("Q:")
                wrong += _problems((kind, place), question if is_question else beginning, text, self.slots)
        for name, sentences in self.sets.items():
            for place, one in enumerate(sentences if self.contexts[name].exchanged is None else ()):
                key = "contexts", name, "sentences", place
                slots = self.slots if "{" in one.text or "}" in one.text else ()
                wrong += _problems(key, _one_line, one.text, slots)
                if one.strength is not None and one.label is None:
                    wrong.append(Problem((*key, "strength"), "is that of no label; add `label`, here or for the set"))
            texts = [one.text.casefold() for one in sentences]
            if doubled := next((text for text in texts if texts.count(text) > 1), None):
                wrong.append(Problem(("contexts", name), f"has {doubled!r} twice; leave one out"))
        texts = [text.casefold() for text in (*self.open, *self.closed)]
        if doubled := next((text for text in texts if texts.count(text) > 1), None):
            wrong.append(Problem(("open",), f"{doubled!r} is there twice; leave one out"))
        if wrong:
            raise refused(wrong)
        return self


def group_texts(file: Path) -> GroupTexts:
    """The texts of a file; InputError where it cannot be read or breaks a rule, with the key."""
    try:
        content = document(str(file), file.read_bytes())
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}; correct the path") from None
    try:
        return GroupTexts.model_validate(content)
    except ValidationError as error:
        found = problems(error, GroupTexts.model_fields)
        raise InputError("; ".join(f"{file}: {_message(one)}" for one in found[:5])) from None


def bundled(path: str, ending: str) -> Path:
    """The file that is meant: that of this path, or else the bundled one of this name."""
    file = FOLDER / f"{path}{ending}"
    return file if re.fullmatch("[a-z-]+", path) and file.is_file() and not Path(path).is_file() else Path(path)


def bundled_names(ending: str) -> str:
    """The names of the bundled files with this ending, for people."""
    return ", ".join(sorted(file.stem for file in FOLDER.glob(f"*{ending}")))


def _message(problem: Problem) -> str:
    key = ".".join(map(str, problem.place))
    if problem.is_unknown:
        return f"unknown key {key} ({problem.message})"
    return f"{key}: {problem.message}" if key else problem.message


def _wrong(name: str, key: str, message: str) -> ValidationError:
    return refused([Problem(("contexts", name, key), message)])


def _one_line(text: str, slots: tuple[str, ...]) -> str:
    if "\n" in text:
        raise ValueError("has a line break; write it on one line, a line break follows every sentence")
    return sound(text, slots)


def _problems(place: tuple[int | str, ...], rule: Any, text: str, slots: tuple[str, ...]) -> list[Problem]:
    try:
        rule(text, slots)
    except ValueError as error:
        return [Problem(place, str(error))]
    return []
