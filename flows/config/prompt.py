"""The section `prompt` of a study: the texts around questions and contexts."""

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
    AnswerForm,
    ChatTemplate,
    QuestionsWithAbout,
    RequestWithContext,
    StartToken,
    System,
    SystemWithContext,
    TemplateValue,
    WithContext,
    WithoutContext,
)
from swaymeter.data.options import NamedPath, Options, Problem, problems, validation_error
from swaymeter.data.untrusted import text_of, untrusted_yaml

RESERVED_ARGUMENTS = frozenset(
    {
        "add_generation_prompt",
        "chat_template",
        "continue_final_message",
        "conversation",
        "documents",
        "max_length",
        "messages",
        "padding",
        "return_assistant_tokens_mask",
        "return_dict",
        "return_tensors",
        "sanitize_control_tokens",
        "tokenize",
        "tokenizer_kwargs",
        "tools",
        "truncation",
    }
)
"""Arguments of `apply_chat_template` in transformers; `template_options` may not set them."""


def _check_template_options(options: dict[str, TemplateValue] | None) -> dict[str, TemplateValue] | None:
    if reserved := sorted(RESERVED_ARGUMENTS & (options or {}).keys()):
        raise ValueError(f"has keywords that only Swaymeter sets ({', '.join(reserved)}); leave these keywords out")
    return options


class PromptPart(Options):
    """The texts around questions and contexts; missing keys take the texts of data/catalog/prompts.yaml.

    A text has the slot {question} once, and a text with a context has {context} once. The slot {about} takes the
    sentence that names the question's page. Without this slot, the sentence precedes the context or the question. Other
    braces stay text. A control token in a text, such as <|im_end|>, is read as its letters.
    """

    form: AnswerForm = "default"
    """Source of missing texts. default: Swaymeter's. published: the prompts of DynamicQA, reworded, with answers of one
    word, the same instruction with and without a context, the page before every question, and no generation prompt.
    strict, abstain, cite, conflict_aware, role: instructions to compare under `prompts`."""
    file: NamedPath | None = None
    """A YAML file with keys of this section, such as the published wording. Keys in the study win."""
    system: System | None = None
    """The system prompt; part of the request if the chat template has no system turn. null: the catalog's. "": none."""
    system_with_context: SystemWithContext | None = None
    """The system prompt of a request with a context; null: `system` if the study has it, else the catalog's. With the
    slot {context}, all passages stand here and not in `with_context`."""
    with_context: RequestWithContext | None = None
    """The request with a context, for models with a chat template. Write a text with {context} and {question}. Leave
    {context} out if `system_with_context` has it."""
    without_context: WithoutContext | None = None
    """The request without a context, for models with a chat template. Write a text with {question}."""
    plain_with_context: WithContext | None = None
    """The prompt with a context, for models without a chat template. Write a text with {context} and {question}."""
    plain_without_context: WithoutContext | None = None
    """The prompt without a context, for models without a chat template. Write a text with {question}."""
    about: About | None = None
    """The sentence that names the page of a question, with the slot {page}. null: the catalog's. "": none."""
    about_without_context: QuestionsWithAbout | None = None
    """Closed-book questions that get the sentence `about`: all, or only disputable questions, because many of these
    name no subject. null: the catalog's."""
    about_with_context: QuestionsWithAbout | None = None
    """Questions after a context that get the sentence `about`: all, or only disputable questions. null: the
    catalog's."""
    chat_template: ChatTemplate | None = None
    """Use of chat templates. auto: if the tokenizer has one. never: all models read the plain prompts. null: auto."""
    generation_prompt: bool | None = None
    """true: the prompt ends with the start of the assistant's turn. false: the model writes this start. The tokens of
    the start count as sampled tokens, but are not in the text of the reply. null: the catalog's."""
    template_options: Annotated[dict[str, TemplateValue] | None, AfterValidator(_check_template_options)] = None
    """Keywords of the chat template with their values, such as `enable_thinking: false`. A model whose template lacks a
    keyword is refused, before the run if its tokenizer is on this machine. Thinking is off by default; the parameter
    `answers: {thinking: ...}` under `measures` turns it on."""
    start_token: StartToken | None = None
    """The start token of texts without a chat template: queries, contexts before queries, and plain prompts. tokenizer:
    the token that the tokenizer adds (Llama, Mistral and Gemma have one; GPT-2 and Pythia have none). never: none.
    null: tokenizer."""

    @model_validator(mode="after")
    def _has_single_context_slot(self) -> "PromptPart":
        texts = {**asdict(catalog.prompts(self.form)), **self._changes()}
        count = f"{texts['system_with_context'] or ''}{texts['with_context']}".count("{context}")
        if count != 1:
            has = "neither this nor system_with_context has" if count == 0 else "both this and system_with_context have"
            problem = f"{has} the slot {{context}}; write the slot in one of the two texts"
            raise validation_error([Problem(("with_context",), problem)])
        return self

    def answer_prompts(self) -> AnswerPrompts:
        """Return the catalog's prompts with the changes of the file and the study."""
        return replace(catalog.prompts(self.form), **self._changes())

    def _changes(self) -> dict[str, Any]:
        """Return the texts that replace the catalog's; a text of `system` also applies to requests with a context."""
        own = self.own_texts()
        return {"system_with_context": None, **own} if "system" in own else own

    def own_texts(self) -> dict[str, Any]:
        """Return the texts of the file and the study by key; the study's texts win."""
        return {**self._file_texts(), **self.model_dump(exclude={"form", "file"}, exclude_none=True)}

    def _file_texts(self) -> dict[str, Any]:
        if self.file is None:
            return {}
        try:
            content = untrusted_yaml(text_of(Path(self.file)))
        except (OSError, ValueError, yaml.YAMLError) as error:
            problem = " ".join(str(error).split())
            raise validation_error(
                [Problem(("file",), f"{self.file} cannot be read as YAML ({problem}); correct it")]
            ) from None
        if not isinstance(content, dict) or {"form", "file"} & content.keys():
            raise validation_error(
                [Problem(("file",), f"{self.file} must have keys of `prompt` other than form and file")]
            )
        try:
            return PromptPart.model_validate(content).model_dump(exclude={"form"}, exclude_none=True)
        except ValidationError as error:
            file_problems = problems(error, PromptPart)
            raise validation_error(
                problem._replace(message=f"{problem.message} (in {self.file})") for problem in file_problems
            ) from None


TEXT_KEYS = frozenset(
    {
        "system",
        "system_with_context",
        "with_context",
        "without_context",
        "plain_with_context",
        "plain_without_context",
    }
)
"""Keys of the system prompts and requests; a study with `prompts` may have these keys only under `prompts`."""


def _prompts_by_name(content: Any) -> Any:
    """Return the keys of `prompt` by name; a name in a list, or a name without keys, is a form of the catalog."""
    if isinstance(content, list | tuple):
        if repeated := [name for name, count in Counter(map(str, content)).items() if count > 1]:
            raise ValueError(f"{repeated[0]} is named twice; name each prompt once")
        content = dict.fromkeys(map(str, content))
    if not isinstance(content, Mapping):
        raise ValueError(
            "expected a list of forms, such as [default, strict], or names with keys of `prompt` below each name"
        )
    if not content:
        raise ValueError("may not be empty; name at least 1 prompt, or leave `prompts` out")
    forms = get_args(AnswerForm)
    for name, keys in content.items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}", str(name)):
            raise ValueError(
                f"{name!r} cannot be the name of a prompt; begin with a letter or digit, and use at most 40 letters, "
                "digits, dashes and underscores"
            )
        if keys is None and name not in forms:
            raise ValueError(
                f"{name} is no form of prompts; name one of the forms {', '.join(forms)}, or define a prompt of this "
                "name by keys of `prompt` below the name"
            )
    return {str(name): {"form": name} if keys is None else keys for name, keys in content.items()}


Prompts = Annotated[dict[str, PromptPart], BeforeValidator(_prompts_by_name)]
"""Several prompts by name."""
