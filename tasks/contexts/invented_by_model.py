"""Names of invented entities that a language model generates from the catalog's prompt.

A chat model gets a prompt for a list with the first dash of its answer; any other model continues a list. Each round
has other examples from the seeded generator, and samples several answers. Names depend only on seed, model and class,
and the first n names of a longer list are the list of n.
What it is not: a proof that a name does not exist. Models repeat what they have read, so the names must be looked up.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from swaymeter.data.catalog import names_prompt
from swaymeter.data.catalog.name_parts import class_of_names
from swaymeter.data.errors import InputError, UsageError
from swaymeter.data.invented import invented_names
from swaymeter.tasks.contexts.listed_names import folded, names_in
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.language_model import LanguageModel
from swaymeter.tasks.models.prompts.answer_prompts import filled, turn_prompt
from swaymeter.tasks.models.prompts.template_options import prompt_form

TEMPERATURE = 0.8
SAMPLES = 8
EXAMPLES = 5
MOST_TOKENS = {"chat": 96, "plain": 24}
FEWEST_ROUNDS = 8


def names_by_model(
    model: LanguageModel, entity_class: str, count: int, *, seed: int, known: Collection[str]
) -> list[str]:
    """`count` different names of a class of the catalog that the model invents.

    known: names to exclude, whatever their case; names in a prompt are excluded, too. Raises UnknownName for the class,
    UsageError for a negative count, InputError where 8 rounds plus one for every two names give too few, and ModelError
    and ScoreError as the prompt and the engine do.
    """
    if count < 0:
        raise UsageError(f"{count} invented names are requested; request 0 or more")
    rounds = FEWEST_ROUNDS + count // 2
    examples = invented_names(entity_class, EXAMPLES * rounds, seed=seed)
    taken = {folded(name) for name in known}
    names: list[str] = []
    form = names_prompt().chat if prompt_form(model) == "chat" else names_prompt().plain
    for number in range(rounds):
        if len(names) >= count:
            break
        shown = examples[EXAMPLES * number : EXAMPLES * (number + 1)]
        listed = "\n".join(f"- {example}" for example in shown)
        prompt = filled(form, things=class_of_names(entity_class).called, examples=listed)
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


def _answered(
    model: LanguageModel, prompt: str, identity: tuple[str, ...], seed: int, examples: Sequence[str]
) -> Iterator[str]:
    """The names in the answers to a prompt; they begin with a capital where the examples do."""
    [answers] = sample_answers(
        model, [turn_prompt(model, prompt, begun="-")], [identity], samples=SAMPLES,
        max_new_tokens=MOST_TOKENS[prompt_form(model)], temperature=TEMPERATURE, seed=seed,
    )  # fmt: skip
    proper = not examples[0][0].islower()
    for answer in answers.samples:
        yield from names_in(answer.text, ended=answer.finished, proper=proper)


def _contains(prompt: str, name: str) -> bool:
    prompt_words, name_words = (" ".join(re.findall(r"\w+", folded(text))) for text in (prompt, name))
    return f" {name_words} " in f" {prompt_words} "
