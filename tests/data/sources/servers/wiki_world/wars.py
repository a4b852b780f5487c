"""Controversial pages, the list that links to them, and the expected disputes of each page."""

from collections.abc import Mapping, Sequence

from swaymeter.data import reasons
from tests.data.sources.servers.wiki_world.expected import PageWars, War
from tests.data.sources.servers.wiki_world.items import World
from tests.data.sources.servers.wiki_world.pages import Views

LIST = "Wikipedia:List of controversial issues"
ALICE, BOB, CLEO = "Alice Editor", "Bob Reverter", "Cleo Patroller"
PASSER_BY, TEMPORARY = "198.51.100.23", "~2025-31415-92"

SKIRMISH, LEVY, GUILD, QUIET = "Skirmish of Ostrel", "Tidewater levy", "Moss Painters' Guild", "Quiet Matter"
HOSTILE = 'Who owns "Velm"? / Question & answer'
_SKIRMISH = (
    "The '''Skirmish of Ostrel''' was fought in a fog.<ref>A chronicle.</ref>\n\n== Outcome ==\n"
    "The skirmish ended in a @ for the town of [[Velm]]. Nobody was hurt."
)
_LEVY = "The '''Tidewater levy''' is a tax.\n\nThe levy was @ by the council in its last session. It is still paid."
_HOSTILE = "Some call it '''Velm'''. Its mayor is known as @ to friends & foes. {{cite}}"
_GUILD = (
    "{{Infobox guild|founded=@1}}\nThe '''Moss Painters' Guild''' has @2 members.<ref>Counted by @3.</ref>\n\n"
    "== @4 ==\nThe guild was founded by @5 in a barn near the old mill. The barn of the guild is @6 today.\n\n"
    "* Patron: @7"
)


def make_wars(world: World) -> None:
    _war(world, SKIRMISH, _SKIRMISH, ("narrow victory", "costly defeat"), turns=5)
    _levy(world)
    _guild(world)
    _war(world, HOSTILE, _HOSTILE, ("ملك %s الخيال", 'Boss {0} "of" Velm'), turns=4)
    world.article(QUIET, "The '''Quiet Matter''' is disputed by nobody.")
    world.article("Controversy", "A '''controversy''' is a long quarrel.")
    world.wikipedia.redirect("Fight at Ostrel", SKIRMISH, user=CLEO)
    world.article(
        LIST,
        f"These are [[controversy|controversial]]:\n* [[{SKIRMISH}]], also [[Fight at Ostrel]]\n"
        f"* [[{LEVY}]]\n* [[{GUILD}]]\n* [[{HOSTILE}]]\n* [[{QUIET}]]\n* [[Red Link]]\n"
        "See [[Talk:Skirmish of Ostrel]], [[Wikipedia:No fighting]] and [[:Category:Disputes]].\n[[Category:Lists]]",
        namespace=4,
    )
    world.views |= {SKIRMISH: Views(700), LEVY: Views(90, interval=2)}


def _war(world: World, title: str, text: str, spans: tuple[str, str], *, turns: int) -> None:
    """Save revisions by two registered users, who replace one span by the other in turns."""
    for turn in range(turns):
        _save(world, title, text.replace("@", spans[turn % 2]), user=(ALICE, BOB)[turn % 2])


def _levy(world: World) -> None:
    turns: Sequence[tuple[str, str]] = (
        ("approved", ALICE),
        ("stolen", PASSER_BY),
        ("approved", BOB),
        ("invented", TEMPORARY),
        ("approved", CLEO),
        ("rejected", BOB),
        ("approved", ALICE),
        ("rejected in a secret vote at midnight", BOB),
        ("approved", CLEO),
    )
    for verdict, user in turns:
        _save(world, LEVY, _LEVY.replace("@", verdict), user=user)
    longer = f"{_LEVY} Few like it."
    for verdict, user in (("approved", ALICE), ("rejected", BOB), ("approved", ALICE)):
        _save(world, LEVY, longer.replace("@", verdict), user=user)


def _guild(world: World) -> None:
    spans = ["1801", "ninety", "hand", "History", "a weaver", "red", "a fox"]
    changes: Sequence[Mapping[int, str]] = (
        {1: "1901"},  # revisions 2 and 3: in a template
        {3: "heart"},  # 4 and 5: in a reference
        {4: "Legend"},  # 6 and 7: in a heading
        {2: "eighty", 6: "green"},  # 8 and 9: two spans
        {5: ""},  # 10 and 11: an empty replacement
        {7: "a hare"},  # 12 and 13: outside of sentences
        {6: "<b>blue</b> and <i>pink</i>"},  # 14 and 15: with tags
        {5: "a baker"},  # 16 and 17: 16 is hidden
        {5: "a tailor"},  # 18 and 19: the user of 18 is hidden
    )
    _save(world, GUILD, _filled(spans), user=ALICE)
    for index, change in enumerate(changes):
        changed = [change.get(number, span) for number, span in enumerate(spans, start=1)]
        _save(world, GUILD, _filled(changed), user=BOB)
        if index >= len(changes) - 2:
            latest = world.wikipedia.pages[GUILD].latest
            latest.hidden = frozenset({"user", "comment", "content"} if index == len(changes) - 2 else {"user"})
        _save(world, GUILD, _filled(spans), user=ALICE)


def _filled(spans: Sequence[str]) -> str:
    text = _GUILD
    for number, span in enumerate(spans, start=1):
        text = text.replace(f"@{number}", span)
    return text


def _save(world: World, title: str, text: str, *, user: str) -> None:
    page = world.wikipedia.pages.get(title)
    is_revert = page is not None and any(text == revision.content for revision in page.revisions)
    tags = ["mw-manual-revert"] if is_revert else []
    world.wikipedia.save(title, text, user=user, comment="rv" if is_revert else "", tags=tags)


LISTED = ("Controversy", "Fight at Ostrel", GUILD, QUIET, "Red Link", SKIRMISH, LEVY, HOSTILE)
"""The articles that the list links to, in the wiki's order; "Fight at Ostrel" is a redirect, "Red Link" is missing."""

_OSTREL = "The skirmish ended in a narrow victory for the town of Velm."
_COUNCIL = "The levy was approved by the council in its last session."
_MAYOR = 'Its mayor is known as Boss {0} "of" Velm to friends & foes.'
WARS: Mapping[str, PageWars] = {
    SKIRMISH: PageWars((War("narrow victory", "costly defeat", _OSTREL, ((2, 3), (3, 4), (4, 5)), 700),)),
    LEVY: PageWars(
        (War("approved", "rejected", _COUNCIL, ((6, 7), (11, 12)), 45),),
        {reasons.ANONYMOUS_EDITOR: 1, reasons.TEMPORARY_EDITOR: 1, reasons.SPAN_TOO_LONG: 1},
    ),
    GUILD: PageWars(
        (),
        {
            reasons.NOT_IN_RUNNING_TEXT: 4,
            reasons.NOT_SINGLE_SPAN: 2,
            reasons.NO_SENTENCE: 1,
            reasons.HIDDEN_CONTENT: 1,
            reasons.HIDDEN_EDITOR: 1,
        },
    ),
    HOSTILE: PageWars((War('Boss {0} "of" Velm', "ملك %s الخيال", _MAYOR, ((2, 3), (3, 4)), 0),)),
    QUIET: PageWars(),
    "Controversy": PageWars(),
}
"""The expected disputes of each page, and its other reverted pairs."""
