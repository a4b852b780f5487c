"""Unclosed markup of a wikitext, at which the parser backtracks and reads the rest of the text again.

The count is an upper bound: unfinished tags, and markup that the end of another kind cuts off, count as unclosed.
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from mwparserfromhell.definitions import is_single, is_single_only

_MARK = re.compile(
    r"""(?P<comment><!--)|(?P<commented>-->)
    |<(?P<tag>[a-z][^\s<>/'"{}\[\]|]*)(?P<rest>(?:[^<>/'"{}\[\]]|"[^<>"{}\[\]]*"|'[^<>'{}\[\]]*')*+(?P<alone>/?)>)?
    |</(?P<ended>[a-z][^\s<>/]*)\s*>
    |(?P<table>^[ \t:*\#;]*\{\|)|(?P<tabled>^[ \t]*\|\}(?=\}\}|[^}]|$))
    |(?P<braces>\{\{+)|(?P<unbraced>\}\}+)
    |(?P<link>\[\[|\[(?=//|[a-z][a-z+.\-]*:))|(?P<linked>\]+)
    |(?P<heading>^=+)|(?P<headed>=[ \t]*(?=$|<!--))
    |(?P<quotes>''+)|(?P<line>\n)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
_BRACES, _LINK, _ADDRESS, _ITALIC, _BOLD = "{{", "[[", "[", "''", "'''"
_KINDS = {"comment": "<!--", "commented": "<!--", "table": "{|", "tabled": "{|", "heading": "=", "headed": "="}
_LINE_KINDS = frozenset({_ADDRESS, _ITALIC, _BOLD, _KINDS["heading"]})


def open_markup(wikitext: str) -> tuple[list[int], int]:
    """Return the positions of unclosed markup, unordered, and the depth of nested closable markup; in linear time."""
    reading = _Reading()
    for mark in _MARK.finditer(wikitext):
        reading.meet(mark)
    left = (opened.start for opened in reading.open if opened.levels)
    return [*reading.unclosed, *left], reading.depth


@dataclass(slots=True)
class _Open:
    """Markup that is open.

    Attributes:
        kind: its opening mark, or "<" and the name of a tag.
        start: its position in the text.
        levels: its nesting depth; 0 for a tag with an optional end.
        braces: number of open braces.
    """

    kind: str
    start: int
    levels: int
    braces: int


@dataclass(slots=True)
class _Reading:
    """The open markup, innermost last, and the positions of markup that can no longer be closed."""

    open: list[_Open] = field(default_factory=list)
    unclosed: list[int] = field(default_factory=list)
    nested: int = 0
    depth: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def meet(self, mark: re.Match[str]) -> None:
        start, length = mark.start(), len(mark[0])
        match mark.lastgroup if mark["tag"] is None else "tag":
            case "tag" if mark["rest"] is None:
                self.unclosed.append(start)
            case "tag":
                if not mark["alone"] and not is_single_only(name := mark["tag"].casefold()):
                    self._begin("<" + name, start, levels=0 if is_single(name) else 1)
            case "ended":
                self._close("<" + mark["ended"].casefold())
            case "comment" | "table" | "heading" as name:
                self._begin(_KINDS[name], start)
            case "commented" | "tabled" | "headed" as name:
                self._close(_KINDS[name])
            case "braces":
                self._begin(_BRACES, start, levels=length // 2, braces=length)
            case "unbraced":
                self._close_braces(length)
            case "link":
                self._begin(mark[0], start)
            case "linked":
                while length and self._reach(*((_ADDRESS, _LINK) if length > 1 else (_ADDRESS,))):
                    length -= 1 if self._end().kind == _ADDRESS else 2
            case "quotes":
                self._quotes(start, length)
            case _:
                self._end_line()

    def _end_line(self) -> None:
        while any(self.counts[kind] for kind in _LINE_KINDS):
            if self.open[-1].kind in _LINE_KINDS:
                self._give_up()
            elif self.open[-1].levels:
                break
            else:
                self._end()

    def _quotes(self, start: int, count: int) -> None:
        kinds = {2: [_ITALIC], 3: [_BOLD], 4: [_BOLD]}.get(count, [_BOLD, _ITALIC])
        for kind in sorted(kinds, key=lambda kind_of_quotes: not self.open or self.open[-1].kind != kind_of_quotes):
            if self.counts[kind]:
                self._close(kind)
            else:
                self._begin(kind, start)

    def _begin(self, kind: str, start: int, *, levels: int = 1, braces: int = 0) -> None:
        self.open.append(_Open(kind, start, levels, braces))
        self.counts[kind] += 1
        self.nested += levels
        self.depth = max(self.depth, self.nested)

    def _end(self) -> _Open:
        ended = self.open.pop()
        self.counts[ended.kind] -= 1
        self.nested -= ended.levels
        return ended

    def _give_up(self) -> None:
        self.unclosed.append(self._end().start)

    def _close(self, kind: str) -> None:
        if self._reach(kind):
            self._end()

    def _reach(self, *kinds: str) -> bool:
        """Return True if a kind is open; markup that was opened within the innermost one counts as unclosed."""
        if not any(self.counts[kind] for kind in kinds):
            return False
        while self.open[-1].kind not in kinds:
            self._give_up()
        return True

    def _close_braces(self, count: int) -> None:
        while count > 1 and self._reach(_BRACES):
            innermost = self.open[-1]
            closed = min(count, innermost.braces)
            count, innermost.braces = count - closed, innermost.braces - closed
            if innermost.braces == 1:
                self._give_up()
            elif not innermost.braces:
                self._end()
