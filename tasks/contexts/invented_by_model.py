"""Names of invented entities from a language model, read from the lines of sampled lists.

A round is a prompt with new examples of names, and several sampled lists. Names depend only on seed, model, class and
the names to avoid; a request for more names gives the same names first. Models repeat names of their training data, so
the caller must drop the names of existing entities.
"""

import re
import unicodedata
from collections.abc import Collection

from swaymeter.data.catalog import names_prompt
from swaymeter.data.catalog.name_parts import names_of_class
from swaymeter.data.errors import InputError, UsageError
from swaymeter.data.invented import LENGTHS, invented_names
from swaymeter.tasks.contexts.texts import fold
from swaymeter.tasks.models.generation.sample import sample_answers
from swaymeter.tasks.models.language_model import LanguageModel
from swaymeter.tasks.models.prompts.answer_prompts import fill_gaps, turn_prompt
from swaymeter.tasks.models.prompts.template_options import prompt_form

TEMPERATURE = 0.8
SAMPLES = 8  # replies of a round
EXAMPLES = 5  # names in the prompt of a round
MAX_TOKENS = {"chat": 96, "plain": 24}  # of a reply, by the form of the prompt
MIN_ROUNDS = 8

_MAX_WORDS = 12  # of a name
_MAX_WORDS_OF_SENTENCE = 5  # a longer line with a full stop is no name
_MAX_WORDS_OF_PIECE = 5  # of each name in a line with several names

_LIST_MARK = re.compile(r"^(?:[-–—•*·+#>|]\s*|\(?\d{1,3}[.):]\s*|\(?[a-z][.)]\s+)+")  # "- ", "1. ", "(a) "
_QUOTED = re.compile(r"^[\"“”„«‹](.+?)[\"“”»›]")
# The beginning of a description after a name: " - ", ": ", " (", a tab; ". "; " is "; ", which ", ", a ".
_DESCRIPTION = re.compile(
    r"\s+[-–—]+\s|\s*[:|\t]\s|\s+[(\[=]|(?<=\w{4})\.\s|\s(?:is|was|are|were)\s"
    r"|,\s+(?:an?|the|which|who|whose|where)\s"
)
_VERB = re.compile(r"\s(?:is|was|are|were)\s")
_OUTER_CHARACTERS = " \t\"'“”„‘’«»‹›*_`.,;:|"
# Beginnings of remarks of a chat model, such as "Sure, here are ten names".
_REMARK = re.compile(
    r"^(?:sure|certainly|of course|okay|here (?:are|is)|here's|these (?:are|names)|i'm|i am|i can|i have|sorry|"
    r"as an ai|note|please|let me|the following)\b",
    re.IGNORECASE,
)
_AND = re.compile(r"^and\s")
_THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
_FORBIDDEN = frozenset("{}[]<>\\|=@\ufffd")


def names_by_model(
    model: LanguageModel, entity_class: str, count: int, *, seed: int, existing: Collection[str]
) -> list[str]:
    """Invent `count` names of a class of the catalog: different names, other than `existing`, whatever their case.

    Args:
        model: the language model.
        entity_class: a class of the catalog.
        count: number of names.
        seed: seed of the study.
        existing: names to avoid, such as the names in the catalog.

    Raises:
        UnknownName: the catalog has no such class.
        UsageError: the count is negative.
        InputError: 8 rounds, plus one for every two names, give too few names.
    """
    if count < 0:
        raise UsageError(f"{count} invented names are requested; request 0 or more")
    rounds = MIN_ROUNDS + count // 2
    examples = invented_names(entity_class, EXAMPLES * rounds, seed=seed)
    taken = {fold(name) for name in existing}
    names: list[str] = []
    template = names_prompt().chat if prompt_form(model) == "chat" else names_prompt().plain
    for index in range(rounds):
        if len(names) >= count:
            break
        round_examples = examples[EXAMPLES * index : EXAMPLES * (index + 1)]
        listed = "\n".join(f"- {example}" for example in round_examples)
        prompt = fill_gaps(template, things=names_of_class(entity_class).called, examples=listed)
        [sampled] = sample_answers(
            model,
            [turn_prompt(model, prompt, answer_start="-")],
            [("invented names", entity_class, str(index))],
            samples=SAMPLES,
            max_new_tokens=MAX_TOKENS[prompt_form(model)],
            temperature=TEMPERATURE,
            seed=seed,
        )
        needs_capitals = not round_examples[0][0].islower()
        for reply in sampled.samples:
            for name in names_in(reply.text, is_complete=reply.state != "truncated", needs_capitals=needs_capitals):
                # Accept a new name that the prompt, with its examples, does not contain.
                name_words, prompt_words = (" ".join(re.findall(r"\w+", fold(text))) for text in (name, prompt))
                if fold(name) not in taken and f" {name_words} " not in f" {prompt_words} ":
                    taken.add(fold(name))
                    names.append(name)
    if len(names) >= count:
        return names[:count]
    raise InputError(
        f"entity class {entity_class}: {count} invented names are requested, but {model.name} wrote only {len(names)} "
        f"that can be used, in {rounds} tries; use another model, or set `invented: names` under `facts`"
    )


def names_in(reply: str, *, is_complete: bool = True, needs_capitals: bool = False) -> list[str]:
    """Return the names in a reply in order, in Unicode's normal form C, of 2 to 80 characters.

    Args:
        reply: the reply.
        is_complete: False drops the last name, because the reply was cut off.
        needs_capitals: True requires a capital or a digit at the beginning of a name and of at least half of its words.
    """
    text = _THOUGHT.sub("", unicodedata.normalize("NFC", reply))
    pieces = [piece for line in map(str.strip, text.splitlines()) if line for piece in _items_of_line(line)]
    if not is_complete:
        pieces = pieces[:-1]
    names = (_name(piece) for piece in pieces)
    return [name for name in names if name and (not needs_capitals or _is_proper(name))]


def _items_of_line(line: str) -> list[str]:
    """Return the names of a line that lists at least three, such as "Oslo, Bergen, Hamar"; otherwise the whole line."""
    for separator in (";", ","):
        pieces = [_AND.sub("", piece.strip()) for piece in line.strip("[]").split(separator)]
        all_or_none_have_marks = len({_LIST_MARK.match(piece) is None for piece in pieces if piece}) == 1
        are_short = all(len(piece.split()) <= _MAX_WORDS_OF_PIECE for piece in pieces)
        has_description = _DESCRIPTION.search(line.rstrip("."))
        if len(pieces) > 2 and all_or_none_have_marks and are_short and not _is_remark(line) and not has_description:
            return pieces
    return [line]


def _name(line: str) -> str | None:
    """Return the name in a line, without list marks, quotes and description; None without a usable name."""
    if not line or _is_remark(line):
        return None
    is_long_sentence = line[-1] in ".!?" and len(line.split()) > _MAX_WORDS_OF_SENTENCE
    if (is_long_sentence or _VERB.search(line)) and not _LIST_MARK.match(line):
        return None
    line = _LIST_MARK.sub("", line.replace("**", "").replace("`", ""))
    quoted = _QUOTED.match(line)
    name = quoted[1] if quoted else _DESCRIPTION.split(line, maxsplit=1)[0]
    text = " ".join(name.split()).strip(_OUTER_CHARACTERS)
    words = text.casefold().split()
    repeats = len(words) >= 4 and 2 * len(set(words)) <= len(words)  # la la la la
    is_printable = all(unicodedata.category(character)[0] != "C" for character in text) and not _FORBIDDEN & set(text)
    letters = sum(character.isalpha() for character in text)
    has_length = letters >= 2 and len(text) in LENGTHS and len(words) <= _MAX_WORDS
    return text if is_printable and not repeats and has_length else None


def _is_remark(line: str) -> bool:
    return line[-1] == ":" or _REMARK.match(line) is not None


def _is_proper(name: str) -> bool:
    initials = [next((character for character in word if character.isalnum()), "a") for word in name.split()]
    are_capitals = [first.isdigit() or first != first.lower() for first in initials]
    return are_capitals[0] and 2 * sum(are_capitals) >= len(are_capitals)
