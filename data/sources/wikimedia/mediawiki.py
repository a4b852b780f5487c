"""Any MediaWiki, asked by its Action API: all parts of an answer, what its errors mean, and the history of a page.

What a wiki holds is hostile. A title is sent as the value of a field and becomes part of no path, and what a wiki says
is read as text, of the type that was asked for or not at all.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from data.errors import ServiceError, ServiceTimeout
from data.sources.http.answer import Answer, Lasting
from data.sources.http.session import Session
from data.sources.wikimedia.mediawiki_answers import (
    Reads,
    Revision,
    all_there,
    continued,
    error_of,
    error_or_misread,
    is_title,
    page_of,
    pages_of,
    read_contents,
    read_part,
    read_revisions,
)

__all__ = ["History", "Revision", "Wiki", "error_of", "is_title", "page_of", "pages_of"]

CONTENTS_AT_ONCE = 20
MAXLAG_S = 5
"""Seconds that a wiki's copies may lag behind before we leave it in peace."""
_ASKED = {"format": "json", "formatversion": "2", "maxlag": str(MAXLAG_S)}
_METADATA = "ids|timestamp|user|userid|flags|sha1|size|comment|tags"


@dataclass(frozen=True, slots=True)
class History:
    """The versions of a page, oldest first; title: as the wiki has it, which may be another than was asked for.

    retrieved_at: of the answer that told the newest of them (UTC).
    """

    title: str
    page_id: int
    revisions: tuple[Revision, ...]
    retrieved_at: datetime
    address: str


class Wiki:
    """A wiki asked through a session, for all threads of a run; every method raises ServiceError where it fails."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def query(
        self, form: Mapping[str, str], *, lasting: Lasting = False, reads: Reads | None = None, anew: bool = False
    ) -> Iterator[Answer]:
        """The answers to a form of action=query, part by part until the wiki has no more.

        lasting, anew: as `Session.ask` has them. reads: reads an answer and raises LookupError, TypeError, ValueError
        or AttributeError where it is not what was asked for; such an answer is an error and is not kept.
        """
        form = {"action": "query", **form}
        asked: list[Mapping[str, str]] = []
        more: Mapping[str, str] = {}
        while more or not asked:
            if more in asked:
                raise ServiceError(f"{self.session.service.name} ({self._address}) goes on in a circle: {more}"[:300])
            asked.append(more)
            answer = self._ask({**form, **more}, lasting, lambda content: read_part(content, form, reads), anew)
            yield answer
            more = continued(answer.content)

    def ask(self, form: Mapping[str, str], *, reads: Reads | None = None) -> Answer:
        """The answer to a form of any other action, which has one part; reads: as for `query`."""
        return self._ask(form, False, reads, False)

    def revisions(self, title: str, *, redirects: bool = False) -> History | None:
        """All versions of a page; None where there is none, or the title is none.

        redirects: whether a page that only leads to another stands for that one. Where the parts are of two pages,
        since one took the other's name meanwhile, all of them are asked anew, once.
        """
        if not is_title(title):
            return None
        form = {"prop": "revisions", "titles": title, "rvprop": _METADATA, "rvlimit": "max", "rvdir": "newer"}
        form |= {"redirects": "1"} if redirects else {}
        for anew in (False, True):
            parts = [_part(answer) for answer in self.query(form, reads=read_revisions, anew=anew)]
            found = [part for part in parts if part is not None]
            if not found:
                return None
            if len(found) == len(parts) and len({part.page_id for part in found}) == 1:
                return replace(found[-1], revisions=tuple(revision for part in found for revision in part.revisions))
        raise ServiceError(
            f"{self.session.service.name} ({self._address}): another page took the name {title!r} "
            f"while its history was read; run again{' with a network' if self.session.offline else ''}"
        )

    def contents(self, revision_ids: Sequence[int]) -> dict[int, str]:
        """What versions say, by their ids; those that are hidden, deleted or were never there are absent.

        A content that was answered once is not asked for again, however long ago that was.
        """
        wanted = sorted({number for number in revision_ids if number > 0})
        found: dict[int, str] = {}
        for first in range(0, len(wanted), CONTENTS_AT_ONCE):
            found |= self._contents(wanted[first : first + CONTENTS_AT_ONCE])
        return found

    def _contents(self, wanted: Sequence[int]) -> dict[int, str]:
        form = {"prop": "revisions", "revids": "|".join(map(str, wanted)), "rvprop": "ids|content", "rvslots": "main"}
        found: dict[int, str] = {}
        try:
            for answer in self.query(form, lasting=all_there, reads=read_contents):
                found |= read_contents(answer.content)
        except ServiceTimeout:
            if len(wanted) == 1:
                raise
            half = len(wanted) // 2
            return self._contents(wanted[:half]) | self._contents(wanted[half:])
        return {number: found[number] for number in wanted if number in found}

    @property
    def _address(self) -> str:
        return self.session.service.address

    def _ask(self, form: Mapping[str, str], lasting: Lasting, reads: Reads | None, anew: bool) -> Answer:
        return self.session.ask({**_ASKED, **form}, error_of=error_or_misread(reads), lasting=lasting, anew=anew)


def _part(answer: Answer) -> History | None:
    page = page_of(answer.content)
    if page is None:
        return None
    told = read_revisions(answer.content)
    return History(page["title"], page["pageid"], told, answer.retrieved_at, answer.address)
