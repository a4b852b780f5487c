"""models.yaml and prompts.yaml: what the aliases of models stand for, and how language models are prompted.

A prompt has a chat form and a plain one, for models without a chat template.
"""

import re
from collections.abc import Mapping
from dataclasses import asdict, field
from functools import cache
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import AfterValidator, Field, model_validator
from pydantic.dataclasses import dataclass

from swaymeter.data.catalog.reading import ENTRY, Text, entries, mapping, validated

AnswerForm = Literal["default", "published", "strict", "abstain", "cite", "conflict_aware", "role"]
Prompts = TypeVar("Prompts")


@dataclass(frozen=True, config=ENTRY)
class CatalogModel:
    """What an alias stands for: a hub id, or a file (or folder) inside an installed package."""

    alias: str
    kind: Literal["language_model", "embedder", "entailment"]
    licence: Text
    hub: Text | None = None
    package: Text | None = None
    module: Text | None = None
    version: Text | None = None
    file: Text | None = None
    sha256: Text | None = None
    parameters: Annotated[int, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _somewhere(self) -> Self:
        if (self.hub is None) == (self.package is None):
            raise ValueError("must name a hub id or a package, one of the two")
        return self


def _slots(*names: str) -> AfterValidator:
    def check(prompt: str) -> str:
        if sorted(re.findall(r"\{(\w*)\}", prompt)) != sorted(names):
            raise ValueError(f"must have the slots {', '.join(names) or 'none'}, each once")
        return prompt

    return AfterValidator(check)


def _asks(*names: str, may: str = "") -> AfterValidator:
    """Each slot once, and `may` once or not at all."""

    def check(prompt: str) -> str:
        if "question" in names and prompt.count("{about}") > 1:
            raise ValueError("may have the slot {about} only once")
        for name in ("context", "question", *(() if "question" in names else ("about",))):
            count = prompt.count(f"{{{name}}}")
            if name == may and count < 2:
                continue
            if name in (*names, may) and count != 1:
                raise ValueError(f"must have the slot {{{name}}} exactly once, not {count} times")
            if name not in (*names, may) and count:
                raise ValueError(f"may not have the slot {{{name}}}; write the text without it")
        return prompt

    return AfterValidator(check)


System = Annotated[str, Field(pattern=r"^$|\S"), _asks()]
SystemWithContext = Annotated[str, Field(pattern=r"^$|\S"), _asks(may="context")]
RequestWithContext = Annotated[Text, _asks("question", may="context")]
WithContext = Annotated[Text, _asks("context", "question")]
WithoutContext = Annotated[Text, _asks("question")]
About = Annotated[str, Field(pattern=r"^$|\{page\}"), _asks()]
AboutWhich = Literal["disputable", "all"]
ChatTemplate = Literal["auto", "never"]
TemplateScalar = bool | int | float | str | None
TemplateValue = TemplateScalar | list[TemplateScalar]
StartToken = Literal["tokenizer", "never"]


@dataclass(frozen=True, config=ENTRY)
class AnswerPrompts:
    """The instructions for short answers, with and without a context.

    system_with_context: None for the same as `system`; it or `with_context` has the slot {context}. about: the sentence
    that says which page a question is about, "" for none; about_without_context, about_with_context: which questions
    have it. chat_template: auto, where the model has one. generation_prompt: whether the prompt ends with the beginning
    of the assistant's turn. template_options: keywords of the chat template, with their values. thinking: whether a
    model is let think before it answers, where its template has a switch for that and no option sets it. start_token:
    whether a prompt that no chat template writes begins as the tokenizer begins a text.
    """

    system: System
    with_context: RequestWithContext
    without_context: WithoutContext
    plain_with_context: WithContext
    plain_without_context: WithoutContext
    about: About
    system_with_context: SystemWithContext | None = None
    about_without_context: AboutWhich = "disputable"
    about_with_context: AboutWhich = "disputable"
    chat_template: ChatTemplate = "auto"
    generation_prompt: bool = True
    template_options: Mapping[str, TemplateValue] = field(default_factory=dict, hash=False)
    thinking: bool = False
    start_token: StartToken = "tokenizer"

    @model_validator(mode="after")
    def _one_context(self) -> Self:
        if f"{self.system_with_context or ''}{self.with_context}".count("{context}") != 1:
            raise ValueError("must have the slot {context} in with_context or system_with_context, in one of the two")
        return self

    @property
    def content(self) -> dict[str, Any]:
        """What a prompt depends on, a part of the scores' key."""
        return asdict(self)


@dataclass(frozen=True, config=ENTRY)
class NamesPrompt:
    """How a model is asked for made-up names."""

    chat: Annotated[Text, _slots("things", "examples")]
    plain: Annotated[Text, _slots("things", "examples")]


@dataclass(frozen=True, config=ENTRY)
class DisputePrompt:
    """How a model is asked for the question of a dispute."""

    chat: Annotated[Text, _slots("page", "sentence", "answer")]
    plain: Annotated[Text, _slots("page", "sentence", "answer")]


VERDICTS = ("context", "original", "both", "neither", "refusal")
"""Whose answer a reply can give, in the order in which a judge reads them."""


@dataclass(frozen=True, config=ENTRY)
class JudgePrompt:
    """How a model is asked whose answer a reply gives; verdicts: each in a sentence, by its name."""

    chat: Annotated[Text, _slots("question", "answers", "reply", "verdicts")]
    plain: Annotated[Text, _slots("question", "answers", "reply", "verdicts")]
    original: Annotated[Text, _slots("names")]
    context: Annotated[Text, _slots("names")]
    no_reply: Text
    verdicts: Mapping[str, Text] = field(hash=False)

    @model_validator(mode="after")
    def _every_verdict(self) -> Self:
        if tuple(self.verdicts) != VERDICTS:
            raise ValueError(f"must have the verdicts {', '.join(VERDICTS)}, in this order")
        return self


@cache
def models() -> Mapping[str, CatalogModel]:
    """What each model alias stands for."""
    return entries("models.yaml", "aliases", CatalogModel, "alias")


@cache
def prompts(form: AnswerForm = "default") -> AnswerPrompts:
    """The prompts for short answers, by their form; published: in the form of DynamicQA's, in our own words."""
    return _prompts("answers" if form == "default" else f"{form}_answers", AnswerPrompts)


@cache
def names_prompt() -> NamesPrompt:
    """The prompt for made-up names."""
    return _prompts("names", NamesPrompt)


@cache
def dispute_prompt() -> DisputePrompt:
    """The prompt for the question of a dispute."""
    return _prompts("disputes", DisputePrompt)


@cache
def judge_prompt() -> JudgePrompt:
    """The prompt for a verdict on a reply."""
    return _prompts("judge", JudgePrompt)


def _prompts(key: str, model: type[Prompts]) -> Prompts:
    read: Prompts = validated(f"prompts.yaml: {key}.", model, mapping("prompts.yaml", key))
    return read
