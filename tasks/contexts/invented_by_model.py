"""Names of invented entities that a language model generates from the catalog's prompt.

A model with a chat template gets a chat prompt for a list with the first dash of its answer, so that small models
neither greet nor explain; any other model continues a list. Each round has other examples from the seeded generator, so
that the answers differ, and samples several answers. Names depend only on seed, model and class, and the first n names
of a longer list are the list of n.
What it is not: a proof that a name does not exist. Models repeat what they have read, so the names must be looked up.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from data.catalog import names_prompt
from data.catalog.name_parts import SLOT, class_of_names
from data.errors import InputError, ModelError, UsageError
from data.invented import invented_names
from tasks.contexts.listed_names import folded, names_in
from tasks.models.language_model import LanguageModel
from tasks.scoring.answer_prompts import chat_template, prompt_form
from tasks.scoring.generation import sample_answers

TEMPERATURE = 0.8
SAMPLES = 8
EXAMPLES = 5
MOST_TOKENS = {"chat": 96, "plain": 24}
FEWEST_ROUNDS = 8


def names_by_model(
    model: LanguageModel, entity_class: str, count: int, *, seed: int, known: Collection[str]
) -> list[str]:
    """`count` different names of a class of entities that the model invents.

    Args:
        model: The model.
        entity_class: The class, by its name in the catalog.
        count: The number of names.
        seed: Draws examples and answers.
        known: Names to exclude, whatever their case; names in a prompt are excluded, too.

    Raises:
        UnknownName: The catalog does not have the class.
        UsageError: The count is negative.
        ModelError: The chat template fails.
        ScoreError: Prompt and answer do not fit the model's context window.
        InputError: The model gives too few names in 8 rounds plus one for every two names.
    """
    if count < 0:
        raise UsageError(f"{count} invented names are requested; request 0 or more")
    rounds = FEWEST_ROUNDS + count // 2
    examples = invented_names(entity_class, EXAMPLES * rounds, seed=seed)
    taken = {folded(name) for name in known}
    names: list[str] = []
    for number in range(rounds):
        if len(names) >= count:
            return names[:count]
        shown = examples[EXAMPLES * number : EXAMPLES * (number + 1)]
        prompt = _prompt(model, class_of_names(entity_class).called, shown)
        for name in _answered(model, prompt, ("invented names", entity_class, str(number)), seed, shown):
            if folded(name) not in taken and not _contains(prompt, name):
                taken.add(folded(name))
                names.append(name)
    if len(names) >= count:
        return names[:count]
    raise InputError(
        f"class {entity_class}: {count} invented names are requested, {model.name} gave {len(names)} in {rounds} "
        "rounds; use another model, or generate them with `invented: names` under `facts`"
    )


def _prompt(model: LanguageModel, things: str, examples: Sequence[str]) -> str:
    texts = {"things": things, "examples": "\n".join(f"- {example}" for example in examples)}
    forms = names_prompt()
    return SLOT.sub(lambda slot: texts[slot[1]], forms.chat if prompt_form(model) == "chat" else forms.plain)


def _answered(
    model: LanguageModel, prompt: str, identity: tuple[str, ...], seed: int, examples: Sequence[str]
) -> Iterator[str]:
    """The names in the answers to a prompt; they begin with a capital where the examples do."""
    [answers] = sample_answers(
        model, [_tokens(model, prompt)], [identity], samples=SAMPLES, max_new_tokens=MOST_TOKENS[prompt_form(model)],
        temperature=TEMPERATURE, seed=seed,
    )  # fmt: skip
    proper = not examples[0][0].islower()
    for answer in answers.samples:
        yield from names_in(answer.text, ended=answer.finished, proper=proper)


def _tokens(model: LanguageModel, prompt: str) -> str | list[int]:
    if prompt_form(model) == "plain":
        return prompt
    turns = [{"role": "user", "content": prompt}]
    try:
        tokens = model.tokenizer.apply_chat_template(
            turns, chat_template=chat_template(model), add_generation_prompt=True, return_dict=False
        )
    except Exception as error:  # a template can raise anything
        raise ModelError(f"the chat template of {model.name} cannot render the prompt for names: {error}") from error
    return [*tokens, *model.tokenizer("-", add_special_tokens=False)["input_ids"]]


def _contains(prompt: str, name: str) -> bool:
    prompt_words, name_words = (" ".join(re.findall(r"\w+", folded(text))) for text in (prompt, name))
    return f" {name_words} " in f" {prompt_words} "
