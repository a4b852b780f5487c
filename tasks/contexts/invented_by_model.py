"""Names of invented entities that a language model makes up, asked with the catalog's prompt.

A model with a chat template is asked in it for a list, whose first dash stands there already, so that small models
neither greet nor explain; any other goes on with a list that has begun. Each round shows other examples from the seeded
generator, so that the answers differ, and draws several answers to them. Names depend on seed, model and class alone,
and the first n of a longer list are the list of n.
What it is not: a proof that a name is nobody's. Models repeat what they have read, so the names must be looked up.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from data.catalog.name_parts import SLOT, class_of_names, names_prompt
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
    """`count` different names of a class of entities that the model made up.

    known: names not to be given, whatever their capitals; what a prompt says is not given either.
    Raises UnknownName for what is no class of entities, UsageError for a negative count, ModelError for a chat template
    that fails, ScoreError where prompt and answer do not fit the model's window, InputError where the model gives too
    few names in 8 rounds and one more for every two names.
    """
    if count < 0:
        raise UsageError(f"{count} invented names are asked for; ask for 0 or more")
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
            if folded(name) not in taken and not _says(prompt, name):
                taken.add(folded(name))
                names.append(name)
    if len(names) >= count:
        return names[:count]
    raise InputError(
        f"class {entity_class}: {count} invented names are asked for, {model.name} gave {len(names)} in {rounds} "
        "rounds; take another model, or let them be made up with `invented: names` under `facts`"
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
        asked = model.tokenizer.apply_chat_template(
            turns, chat_template=chat_template(model), add_generation_prompt=True, return_dict=False
        )
    except Exception as error:  # whatever the author of a template chose to raise
        raise ModelError(f"the chat template of {model.name} cannot ask for names: {error}") from error
    return [*asked, *model.tokenizer("-", add_special_tokens=False)["input_ids"]]


def _says(prompt: str, name: str) -> bool:
    said, words = (" ".join(re.findall(r"\w+", folded(text))) for text in (prompt, name))
    return f" {words} " in f" {said} "
