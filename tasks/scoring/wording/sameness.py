"""Whether two words are about the same: equal, forms of one verb, of one sense, or of opposite senses.

What it is not: a stemmer. Words of four letters or more are compared by their beginnings.
"""

from swaymeter.tasks.scoring.wording.opposites import is_opposite, is_synonym

IRREGULAR = {
    past: verb
    for verb, pasts in {
        "win": "won", "write": "wrote written", "make": "made", "go": "went gone", "get": "got", "give": "gave given",
        "take": "took taken", "see": "saw seen", "come": "came", "become": "became", "begin": "began begun",
        "break": "broke broken", "build": "built", "buy": "bought", "sell": "sold", "lose": "lost", "lead": "led",
        "leave": "left", "meet": "met", "run": "ran", "sing": "sang sung", "speak": "spoke spoken", "teach": "taught",
        "think": "thought", "fall": "fell fallen", "fight": "fought", "find": "found", "fly": "flew flown",
        "hold": "held", "keep": "kept", "know": "knew known", "grow": "grew grown", "drive": "drove driven",
        "draw": "drew drawn", "eat": "ate eaten", "sit": "sat", "stand": "stood", "wear": "wore worn",
        "swim": "swam swum", "say": "said", "tell": "told", "pay": "paid", "send": "sent", "spend": "spent",
    }.items()
    for past in pasts.split()
}  # fmt: skip
"""The verbs of past forms that do not end in -ed."""


def is_about(one: str, other: str) -> bool:
    """Whether two words are the same, of one sense, or of opposite senses."""
    return is_same(one, other) or is_synonym(one, other) or is_opposite(one, other)


def is_same(one: str, other: str) -> bool:
    """Equal, or with the same beginning, or one verb: invented and invent, won and win."""
    if is_opposite(one, other):
        return False
    if len(one) > 6 < len(other) and one.startswith("ge") != other.startswith("ge"):  # gegründet, gründete
        one, other = one.removeprefix("ge"), other.removeprefix("ge")
    one, other = IRREGULAR.get(one, one), IRREGULAR.get(other, other)
    shorter = min(len(one), len(other))
    return one == other or (shorter >= 4 and one[: max(4, shorter - 2)] == other[: max(4, shorter - 2)])
