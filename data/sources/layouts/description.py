"""Descriptions of layouts, one YAML file each: the paths of question, answers and passages in a row.

A value is a path (swaymeter.data.sources.layouts.paths), or a text after `=` with paths in braces:
`="Is this {name} true? {claim}"`.
"""

from functools import cache
from importlib import resources
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from swaymeter.data.records import OwnKind
from swaymeter.data.untrusted import UniqueKeyLoader


class Entry(BaseModel):
    """A part of a description."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ContextRule(Entry):
    """The paths of a row's context, or of each context in a list."""

    each: str | None = None
    """The path of a list of contexts.
    Every other path begins at an item of this list, or at the row if the item lacks the first key of the path."""
    text: str
    kind: str | dict[str, dict[str, OwnKind | None]] | None = None
    """A kind, the path of a kind, or a column with a kind for each value, such as {context_type: {gold: supporting}}.
    If the field is null, or the kind of a value is null, the text decides the kind."""
    answers: str | dict[OwnKind, str] | None = None
    """The path of the answers that the context states: one path, or a path for each kind of contexts."""
    id: str | None = None
    title: str | None = None
    source: str | None = None
    date: str | None = None
    score: str | None = None
    if_equal: tuple[str, str] | None = None
    """Two paths: the rule applies only if both have the same text."""
    unless_equal: tuple[str, str] | None = None
    """Two paths: the rule applies only if their texts differ."""


class Form(Entry):
    """One form of a layout's files, such as CounterFact's files in CUB, or HotpotQA's files as published."""

    name: str
    """The name in messages."""
    needs: tuple[str, ...]
    """The required paths; a file has the first form whose required paths are all in the file."""
    rows: str = ""
    """The path of the rows within a row of the file, such as `paragraphs[*].qas[*]`."""
    step: str = ""
    """The name of a function in swaymeter.data.sources.layouts.steps that adds columns to a row, or refuses the row."""
    id: str | None = None
    group: str | None = None
    question: str
    answers: str
    """The path of the right answers; reports show the first answer."""
    aliases: str | None = None
    contexts: str | tuple[ContextRule, ...]
    """The rules of the contexts, or the path of a list of contexts, each a text or an object."""
    keep: tuple[str, ...] | Literal["all"] = ()
    """Further columns of the file that stay. With `all`, every column without lists and objects stays, except the
    columns of `question`, `answers`, `aliases`, `id` and `needs`."""


class PassageForm(Entry):
    """An object that stands for a passage, such as a Document of LangChain."""

    text: str
    """The path of the text; an object is such a passage if it has this path."""
    id: str
    metadata: str
    """The path of an object that may have a title, source, date and score."""


class Layout(Entry):
    """The layout of a data set or of the files of a tool."""

    title: str
    forms: tuple[Form, ...] = ()
    passages: tuple[PassageForm, ...] = ()


class DataSet(Layout):
    """A published data set; its description is data_sets/NAME.yaml, for the source NAME."""

    measures: str
    """The measured behaviour, as a clause of the documentation, such as "whether models follow wrong contexts"."""
    citation: str
    licence: str
    """The licence that the repository states."""
    address: str
    """The address of the publication."""
    file: str
    """The name of the published file."""
    becomes: str
    """The question and contexts that a row becomes, in a sentence of the documentation."""
    version: int = 1
    """The version of the description, raised if the same file gives other questions."""


def data_set(name: str) -> DataSet:
    """Return the description of a published data set."""
    return DataSet.model_validate(_content(f"data_sets/{name}.yaml"))


@cache
def nested_layouts() -> tuple[Layout, ...]:
    """Return the layouts that are recognised in users' files."""
    names = sorted(file.name for file in (resources.files(__package__) / "nested").iterdir())
    return tuple(Layout.model_validate(_content(f"nested/{name}")) for name in names if name.endswith(".yaml"))


def _content(file: str) -> object:
    return yaml.load((resources.files(__package__) / file).read_text(encoding="utf-8"), Loader=UniqueKeyLoader)
