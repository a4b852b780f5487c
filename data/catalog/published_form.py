"""The contexts of a relation in the published form: one sentence a kind, made from that which an answer completes.

    base        the beginning of the sentence, and the answer         The capital of Norway is Lima.
    assertive   one lead-in for all relations, and the base           Without any doubt, the capital of Norway is Lima.
    negation    the base with its verb denied                         The capital of Norway is not Lima.
A verb is denied where it must be that of the whole sentence, never one of a relative clause ("the person who is married
to {entity} lives in"): a form of "be" or "include" at the end of the beginning, or a form of "be" right behind {entity}
or "The ... of {entity}" with which the sentence begins. Elsewhere the negation is the relation's own first one.
Source: Du et al. 2024, section 4.1 and the released data; the lead-in is our own.
"""

import re
from collections.abc import Mapping

from swaymeter.data.catalog.relation_file import Relation
from swaymeter.data.records import ContextKind

LEAD_IN = "Without any doubt, "
_BE = re.compile(r"^(.*\b(?:is|are|was|were)$|(?:(?:The|An?|One) \w+ of )?\{entity\} (?:is|are|was|were)\b)(.*)$")
_INCLUDE = re.compile(r"\binclude(s|d)?$")
_SMALL = re.compile(r"^(?:The|An?|One|Another|In|On|At)(?= )")  # first words that have a capital for the place alone
_DENIED = {None: "do not include", "s": "does not include", "d": "did not include"}


def published_form(relation: Relation) -> Mapping[ContextKind, tuple[str, ...]]:
    """One template of each kind, with the slots {entity} and {answer}, ending with a newline."""
    beginning = relation.open[1]
    base = f"{beginning} {{answer}}.\n"
    denied = _denied(beginning)
    return {
        "base": (base,),
        "assertive": (LEAD_IN + _SMALL.sub(lambda first: first[0].lower(), base),),
        "negation": (f"{denied} {{answer}}.\n" if denied else relation.contexts["negation"][0],),
    }


def _denied(beginning: str) -> str | None:
    if found := _INCLUDE.search(beginning):
        return beginning[: found.start()] + _DENIED[found[1]]
    found = _BE.match(beginning)
    return f"{found[1]} not{found[2]}" if found else None
