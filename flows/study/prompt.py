"""The section `prompt`: how questions are put to the models."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, get_args

import yaml
from pydantic import AfterValidator, BeforeValidator, ValidationError, model_validator

from swaymeter.data import catalog
from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.catalog.language_models import (
    About,
    AboutWhich,
    AnswerForm,
    ChatTemplate,
    RequestWithContext,
    StartToken,
    System,
    SystemWithContext,
    TemplateValue,
    WithContext,
    WithoutContext,
)
from swaymeter.data.options import NamedPath, Options, Problem, problems, refused
from swaymeter.data.untrusted import text_of, untrusted_yaml

OWN_ARGUMENTS = frozenset({
    "add_generation_prompt", "chat_template", "continue_final_message", "conversation", "documents", "max_length",
    "messages", "padding", "return_assistant_tokens_mask", "return_dict", "return_tensors", "sanitize_control_tokens",
    "tokenize", "tokenizer_kwargs", "tools", "truncation",
})  # fmt: skip
"""What `apply_chat_template` takes itself, so that no template can have it as a keyword of its own."""


def _for_templates(options: dict[str, TemplateValue] | None) -> dict[str, TemplateValue] | None:
    if taken := sorted(OWN_ARGUMENTS & (options or {}).keys()):
        raise ValueError(f"{', '.join(taken)} is set by Swaymeter itself; name keywords of the chat template alone")
    return options


class PromptPart(Options):
    """How questions are put to the models; what is left out is the catalog's (data/catalog/prompts.yaml).

    Slots are {question} and, in a text with a context, {context}, each once. {about} is where the sentence stands that
    says which page the question is about; without that slot it stands before the context, or before the question. Other
    braces, and the letters of a control token, stay text.
    """

    form: AnswerForm = "default"
    """Whose texts these are by default: default, ours; published, the form of DynamicQA's prompts in words of our own:
    answers of one word, one instruction whether there is a context or not, which page a question is about before every
    question, and no generation prompt; strict, abstain, cite, conflict_aware and role, ways to ask that are compared
    under `prompts`."""
    file: NamedPath | None = None
    """A YAML file with keys of this section, such as the published wording; keys of the study's own come before its."""
    system: System | None = None
    """The text before a request, in its own turn where the chat template takes one; null: the catalog's; "": none."""
    system_with_context: SystemWithContext | None = None
    """The same before a request with a context; null: the same text where `system` is one, else the catalog's. With the
    slot {context} the context, all passages of it, stands here and not in `with_context`."""
    with_context: RequestWithContext | None = None
    """The request with a context, for models with a chat template. Write a text with {context} and {question}; without
    {context} where `system_with_context` has it."""
    without_context: WithoutContext | None = None
    """The request without a context, for models with a chat template. Write a text with {question}."""
    plain_with_context: WithContext | None = None
    """The prompt with a context, for models without a chat template. Write a text with {context} and {question}."""
    plain_without_context: WithoutContext | None = None
    """The prompt without a context, for models without a chat template. Write a text with {question}."""
    about: About | None = None
    """The sentence that says which page a question is about, with the slot {page}; null: the catalog's; "": none."""
    about_without_context: AboutWhich | None = None
    """Which questions have it where they stand alone: disputable ones, many of which name no subject, or all; null: the
    catalog's."""
    about_with_context: AboutWhich | None = None
    """Which questions have it where they stand behind a context; null: the catalog's."""
    chat_template: ChatTemplate | None = None
    """Whether chat templates are used: auto, where the tokenizer has one; never, all models get the plain prompts;
    null: auto."""
    generation_prompt: bool | None = None
    """Whether the prompt ends with the beginning of the assistant's turn; without it a model writes that itself, which
    counts as a part of what it samples and not as a part of the answer's text; null: the catalog's."""
    template_options: Annotated[dict[str, TemplateValue] | None, AfterValidator(_for_templates)] = None
    """Keywords of the chat template with their values, such as `enable_thinking: false`; a model whose template lacks
    one of them is refused, before anything runs where its tokenizer is on this machine. Where a template has a switch
    for thinking that is not named here, thinking is off, unless `answers: {thinking: ...}` under `measures` lets the
    models think."""
    start_token: StartToken | None = None
    """Which start token texts have that no chat template writes: contexts before queries, queries, and plain prompts.
    tokenizer, the one that the model's tokenizer puts there, which Llama, Mistral and Gemma have and GPT-2 and Pythia
    have not; never, none; null: tokenizer."""

    @model_validator(mode="after")
    def _readable(self) -> "PromptPart":
        texts = {**asdict(catalog.prompts(self.form)), **self._changes()}
        count = f"{texts['system_with_context'] or ''}{texts['with_context']}".count("{context}")
        if count != 1:
            has = "neither this nor system_with_context has" if count == 0 else "both this and system_with_context have"
            wrong = f"{has} the slot {{context}}; write it in one of the two"
            raise refused([Problem(("with_context",), wrong)])
        return self

    def answer_prompts(self) -> AnswerPrompts:
        """The catalog's prompts with the changes of the file and of the study."""
        return replace(catalog.prompts(self.form), **self._changes())

    def _changes(self) -> dict[str, Any]:
        own = self.own_texts()
        return {"system_with_context": None, **own} if "system" in own else own

    def own_texts(self) -> dict[str, Any]:
        """What is not the catalog's, by key: of the file, and of the study, which comes first."""
        return {**self._of_file(), **self.model_dump(exclude={"form", "file"}, exclude_none=True)}

    def _of_file(self) -> dict[str, Any]:
        if self.file is None:
            return {}
        try:
            content = untrusted_yaml(text_of(Path(self.file)))
        except (OSError, ValueError, yaml.YAMLError) as error:
            problem = " ".join(str(error).split())
            raise refused([Problem(("file",), f"{self.file} cannot be read as YAML ({problem}); correct it")]) from None
        if not isinstance(content, dict) or {"form", "file"} & content.keys():
            raise refused([Problem(("file",), f"{self.file} must hold keys of `prompt`, and neither form nor file")])
        try:
            return PromptPart.model_validate(content).model_dump(exclude={"form"}, exclude_none=True)
        except ValidationError as error:
            wrong = problems(error, PromptPart.model_fields)
            raise refused(one._replace(message=f"{one.message} (in {self.file})") for one in wrong) from None


TEXTS = frozenset({
    "system", "system_with_context", "with_context", "without_context", "plain_with_context", "plain_without_context",
})  # fmt: skip
"""The keys of a prompt that are its wording."""


def _named(content: Any) -> Any:
    """Prompts by their names: those of a list, and those of which nothing is said, are forms of the catalog."""
    if isinstance(content, list | tuple):
        if twice := [name for name, count in Counter(map(str, content)).items() if count > 1]:
            raise ValueError(f"{twice[0]} is named twice; name it once")
        content = dict.fromkeys(map(str, content))
    if not isinstance(content, Mapping):
        raise ValueError("expected names with keys of `prompt`, or a list of forms, such as [default, strict]")
    if not content:
        raise ValueError("may not be empty; name at least 1, or leave it out")
    known = get_args(AnswerForm)
    for name, keys in content.items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", str(name)):
            raise ValueError(f"{name!r} cannot be a name; use at most 40 letters, digits, dashes and underscores")
        if keys is None and name not in known:
            raise ValueError(f"{name} is no form; name one of {', '.join(known)}, or write keys of `prompt` below it")
    return {str(name): {"form": name} if keys is None else keys for name, keys in content.items()}


Prompts = Annotated[dict[str, PromptPart], BeforeValidator(_named)]
"""Several prompts, by their names."""
