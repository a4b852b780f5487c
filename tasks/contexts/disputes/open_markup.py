"""Unclosed markup of a wikitext, such as "{{" without "}}".

At unclosed markup, the parser mwparserfromhell reads the rest of the text again, which may take very long.
`open_markup` finds at least as much unclosed markup as the parser: it also counts a tag without ">", and the link in
"{{ [[ }}".
"""

import re
from collections import Counter
from dataclasses import dataclass, field

from mwparserfromhell.definitions import is_single, is_single_only

_MARK = re.compile(
    r"""(?P<comment><!--)|(?P<comment_end>-->)
    |<(?P<tag>[a-z][^\s<>/'"{}\[\]|]*)(?P<rest>(?:[^<>/'"{}\[\]]|"[^<>"{}\[\]]*"|'[^<>'{}\[\]]*')*+(?P<slash>/?)>)?
    |</(?P<tag_end>[a-z][^\s<>/]*)\s*>
    |(?P<table>^[ \t:*\#;]*\{\|)|(?P<table_end>^[ \t]*\|\}(?=\}\}|[^}]|$))
    |(?P<braces>\{\{+)|(?P<braces_end>\}\}+)
    |(?P<link>\[\[|\[(?=//|[a-z][a-z+.\-]*:))|(?P<link_end>\]+)
    |(?P<heading>^=+)|(?P<heading_end>=[ \t]*(?=$|<!--))
    |(?P<quotes>''+)|(?P<line>\n)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)
"""A mark that opens or closes markup. `rest` is missing for a tag without ">"; `slash` is the slash of <br/>."""
_BRACES, _LINK, _ADDRESS, _ITALIC, _BOLD = "{{", "[[", "[", "''", "'''"
_KINDS = {"comment": "<!--", "table": "{|", "heading": "="}
"""The opening mark of further markup, by the name of its group in `_MARK`."""
_LINE_KINDS = frozenset({_ADDRESS, _ITALIC, _BOLD, _KINDS["heading"]})
"""Markup that ends with its line."""


def open_markup(wikitext: str) -> tuple[list[int], int]:
    """Return the positions of unclosed markup, unordered, and the largest nesting depth; the time is linear."""
    reader = _Reader()
    for mark in _MARK.finditer(wikitext):
        reader.read(mark)
    # A tag with an optional end has no level, and may stay open.
    still_open = (opened.start for opened in reader.open if opened.levels)
    return [*reader.unclosed, *still_open], reader.max_depth


@dataclass(slots=True)
class _OpenMark:
    """Markup that is open.

    Attributes:
        kind: its opening mark, or "<" and the name of a tag.
        start: its position in the text.
        levels: the nesting levels that it adds; 0 for a tag with an optional end, such as <li>.
        braces: number of its braces that are still open; 0 for other markup.
    """

    kind: str
    start: int
    levels: int
    braces: int


@dataclass(slots=True)
class _Reader:
    """The open markup of a text up to a mark.

    Attributes:
        open: the open markup, innermost last.
        unclosed: positions of markup that can no longer be closed.
        depth: the nesting depth of the open markup.
        max_depth: the largest nesting depth so far.
        counts: the number of open marks by kind.
    """

    open: list[_OpenMark] = field(default_factory=list)
    unclosed: list[int] = field(default_factory=list)
    depth: int = 0
    max_depth: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def read(self, mark: re.Match[str]) -> None:
        start, length = mark.start(), len(mark[0])
        match mark.lastgroup if mark["tag"] is None else "tag":  # the last group of a tag may be `rest`
            case "tag" if mark["rest"] is None:
                self.unclosed.append(start)
            case "tag":
                if not mark["slash"] and not is_single_only(name := mark["tag"].casefold()):
                    self._begin("<" + name, start, levels=0 if is_single(name) else 1)
            case "tag_end":
                self._close("<" + mark["tag_end"].casefold())
            case "comment" | "table" | "heading" as name:
                self._begin(_KINDS[name], start)
            case "comment_end" | "table_end" | "heading_end" as name:
                self._close(_KINDS[name.removesuffix("_end")])
            case "braces":
                self._begin(_BRACES, start, levels=length // 2, braces=length)
            case "braces_end":
                self._close_braces(length)
            case "link":
                self._begin(mark[0], start)
            case "link_end":
                self._close_links(length)
            case "quotes":
                self._quotes(start, length)
            case _:
                self._end_line()

    def _close_links(self, count: int) -> None:
        """Close the innermost links with `count` closing brackets; an external link takes one, a wiki link two."""
        while count and self._reach(*((_ADDRESS, _LINK) if count > 1 else (_ADDRESS,))):
            count -= 1 if self._end().kind == _ADDRESS else 2

    def _end_line(self) -> None:
        """Give up the innermost marks of `_LINE_KINDS`, up to a mark that may stay open after the line."""
        while any(self.counts[kind] for kind in _LINE_KINDS):
            if self.open[-1].kind in _LINE_KINDS:
                self._give_up()
            elif self.open[-1].levels:
                break
            else:
                self._end()

    def _quotes(self, start: int, count: int) -> None:
        kinds = {2: [_ITALIC], 3: [_BOLD], 4: [_BOLD]}.get(count, [_BOLD, _ITALIC])  # 4: one is an apostrophe
        innermost = self.open[-1].kind if self.open else None
        for kind in sorted(kinds, key=lambda kind: kind != innermost):  # the innermost kind first
            if self.counts[kind]:
                self._close(kind)
            else:
                self._begin(kind, start)

    def _begin(self, kind: str, start: int, *, levels: int = 1, braces: int = 0) -> None:
        self.open.append(_OpenMark(kind, start, levels, braces))
        self.counts[kind] += 1
        self.depth += levels
        self.max_depth = max(self.max_depth, self.depth)

    def _end(self) -> _OpenMark:
        innermost = self.open.pop()
        self.counts[innermost.kind] -= 1
        self.depth -= innermost.levels
        return innermost

    def _give_up(self) -> None:
        self.unclosed.append(self._end().start)

    def _close(self, kind: str) -> None:
        if self._reach(kind):
            self._end()

    def _reach(self, *kinds: str) -> bool:
        """Return True if markup of these kinds is open; the marks within the innermost such markup are given up."""
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
