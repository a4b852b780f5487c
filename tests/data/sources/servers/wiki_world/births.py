"""People of difficult names, and the towns of difficult names that they were born in."""

from swaymeter.data import reasons
from tests.data.sources.servers.wiki_world.expected import Kept, Left, Outcome
from tests.data.sources.servers.wiki_world.other_services import Views
from tests.data.sources.servers.wiki_world.state import World
from tests.data.sources.servers.wiki_world.things import (
    BRACED,
    DUNMARROW,
    HEBREW,
    HOSTILE_TOWNS,
    HUMAN,
    MARKUP,
    OSTREL,
    PATH,
    QUILLHAVEN,
    QUOTED,
    REGEX,
)
from tests.data.sources.servers.wiki_world.wikitext import written

_P = "P19"

HOSTILE_PEOPLE = {
    "Q551": ('Kit "Ace" O\'Nim', 'Kit "Ace" O\'Nim', QUOTED),
    "Q552": ("{subject} {0} {{x}}", "Braces (poet)", BRACED),
    "Q553": ("فريدة الخيال", "فريدة الخيال", HEBREW),
    "Q554": ("<script>alert(1)</script>", "Bold & Co? 50%/2+2", MARKUP),
    "Q555": ("../../../secret/x", "Etc/passwd.../x", PATH),
    "Q556": ("Line\nBreak\r\n\tTab", "Line break; DROP TABLE facts", REGEX),
}
"""Item -> its label, the title of its article, the town."""


def make_births(world: World) -> None:
    """All people with a place of birth, in the order of `OUTCOME`."""
    for item_id, (label, title, town) in HOSTILE_PEOPLE.items():
        world.item(item_id, label, article=title, claims=[("P31", HUMAN), (_P, town)])
        name = " ".join(label.split())
        text = f"{name} was born in {HOSTILE_TOWNS[town]} and stayed there. The rest is silence."
        world.article(title, written(text), item_id=item_id, views=12)
    world.item("Q557", "Out There", article="../../etc/passwd", claims=[("P31", HUMAN), (_P, QUILLHAVEN)])
    world.item("Q558", "Ansel Brook", article="Ansel Brook", claims=[("P31", HUMAN), (_P, OSTREL)])
    text = "'''Ansel Brook''' sang.\nHe was born in [[Ostrel]], not in Lower Ostrel, in winter. He never said why."
    world.article("Ansel Brook", text, item_id="Q558", views=Views(60, one_in=3))
    moved = world.item("Q559", "Berta Quay", article="Berta Quay", claims=[("P31", HUMAN)])
    moved.adds(_P, DUNMARROW)
    moved.changes(_P, DUNMARROW, QUILLHAVEN)
    text = "'''Berta Quay''' was born in [[Quillhaven|Port Quill]]. QUILLHAVEN made her a citizen."
    world.article("Berta Quay", text, item_id="Q559")
    itself = world.items[DUNMARROW]
    itself.adds(_P, DUNMARROW, user="Danbot")


OUTCOME: Outcome = {
    ("Q551", _P, QUOTED): Kept("static", (1,), REGEX, (12, None), page='Kit "Ace" O\'Nim'),
    ("Q552", _P, BRACED): Kept("static", (1,), QUOTED, (12, None), page="Braces (poet)"),
    ("Q553", _P, HEBREW): Kept("static", (1,), BRACED, (12, None), page="فريدة الخيال"),
    ("Q554", _P, MARKUP): Kept("static", (1,), HEBREW, (12, None), page="Bold & Co? 50%/2+2"),
    ("Q555", _P, PATH): Kept("static", (1,), MARKUP, (12, None), page="Etc/passwd.../x"),
    ("Q556", _P, REGEX): Kept("static", (1,), PATH, (12, None), page="Line break; DROP TABLE facts"),
    ("Q557", _P, QUILLHAVEN): Left(reasons.PAGE_MISSING),  # no article can be called ../../etc/passwd
    # Most similar are a property, a hill, a town whose name holds the answer, and the answer; read every third month.
    ("Q558", _P, OSTREL): Kept("static", (1,), DUNMARROW, (20, 80)),
    ("Q559", _P, QUILLHAVEN): Kept("temporal", (2, 3), DUNMARROW, (0, 240)),  # nobody reads of her
    (DUNMARROW, _P, DUNMARROW): Left(reasons.OBJECT_IS_SUBJECT),
}
"""What becomes of each fact."""
