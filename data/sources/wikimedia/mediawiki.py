"""Any MediaWiki through its Action API: all parts of an answer, its errors, and the history of a page.

Its content is untrusted: a title is the value of a field, never part of a path; answers of another type are refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from swaymeter.data.errors import ServiceError, ServiceTimeout
from swaymeter.data.sources.http.answer import Answer
from swaymeter.data.sources.wikimedia import mediawiki_answers as answers
from swaymeter.data.sources.wikimedia.mediawiki_answers import Reads, Revision

if TYPE_CHECKING:
    from swaymeter.data.sources.http.session import Session

CONTENTS_AT_ONCE = 20
MAXLAG_S = 5
"""Replication lag (s) of a wiki above which requests wait."""
_ASKED = {"format": "json", "formatversion": "2", "maxlag": str(MAXLAG_S)}
_METADATA = "ids|timestamp|user|userid|flags|sha1|size|comment|tags"


@dataclass(frozen=True, slots=True)
class History:
    """The versions of a page, oldest first; title: the wiki's own. retrieved_at: of the newest of them (UTC)."""

    title: str
    page_id: int
    revisions: tuple[Revision, ...]
    retrieved_at: datetime
    address: str


class Wiki:
    """A wiki, for all threads of a run; every method raises ServiceError where it fails."""

    def __init__(self, session: "Session") -> None:
        self.session = session

    def ask(self, form: Mapping[str, str], *, reads: Reads | None = None, **caching: Any) -> Answer:
        """The answer to a form, or its first part; caching: `immutable` and `bypass_cache` of `Session.ask`.

        reads: raises one of MISREAD where the answer is not valid, which is then an error and is not cached.
        """
        return self.session.ask({**_ASKED, **form}, error_of=answers.error_or_misread(reads), **caching)

    def query(self, form: Mapping[str, str], *, reads: Reads | None = None, **caching: Any) -> Iterator[Answer]:
        """The answers to a form of action=query, part by part until the wiki has no more; the rest is as in `ask`."""
        form = {"action": "query", **form}
        reads_part = partial(answers.read_part, form=form, reads=reads)
        requested: list[Mapping[str, str]] = []
        more: Mapping[str, str] = {}
        while more or not requested:
            if more in requested:
                raise ServiceError(f"{self._named} repeats a continuation: {more}"[:300])
            requested.append(more)
            answer = self.ask({**form, **more}, reads=reads_part, **caching)
            yield answer
            more = answers.continued(answer.content)

    def revisions(self, title: str, *, redirects: bool = False) -> History | None:
        """All versions of a page, maybe through redirects; None where it does not exist or the title is not valid.

        If the parts are of two pages, since one took the other's name meanwhile, all are requested a second time.
        """
        if not answers.is_title(title):
            return None
        form = {"prop": "revisions", "titles": title, "rvprop": _METADATA, "rvlimit": "max", "rvdir": "newer"}
        form |= {"redirects": "1"} if redirects else {}
        for bypass_cache in (False, True):
            parts = [
                _part(answer) for answer in self.query(form, reads=answers.read_revisions, bypass_cache=bypass_cache)
            ]
            existing = [part for part in parts if part is not None]
            if not existing:
                return None
            if len(existing) == len(parts) and len({part.page_id for part in existing}) == 1:
                return replace(
                    existing[-1], revisions=tuple(revision for part in existing for revision in part.revisions)
                )
        raise ServiceError(
            f"{self._named}: another page took the name {title!r} while its history was read; "
            f"run again{' with a network' if self.session.offline else ''}"
        )

    def contents(self, revision_ids: Sequence[int]) -> dict[int, str]:
        """The contents of versions, by their ids; hidden, deleted and unknown ones are absent. They never expire."""
        numbers = sorted({number for number in revision_ids if number > 0})
        contents: dict[int, str] = {}
        for first in range(0, len(numbers), CONTENTS_AT_ONCE):
            contents |= self._contents(numbers[first : first + CONTENTS_AT_ONCE])
        return contents

    def _contents(self, numbers: Sequence[int]) -> dict[int, str]:
        form = {"prop": "revisions", "revids": "|".join(map(str, numbers)), "rvprop": "ids|content", "rvslots": "main"}
        contents: dict[int, str] = {}
        try:
            for answer in self.query(form, immutable=answers.all_there, reads=answers.read_contents):
                contents |= answers.read_contents(answer.content)
        except ServiceTimeout:
            if len(numbers) == 1:
                raise
            half = len(numbers) // 2
            return self._contents(numbers[:half]) | self._contents(numbers[half:])
        return {number: contents[number] for number in numbers if number in contents}

    @property
    def _named(self) -> str:
        return f"{self.session.service.name} ({self.session.service.address})"


def _part(answer: Answer) -> History | None:
    page = answers.page_of(answer.content)
    if page is None:
        return None
    revisions = answers.read_revisions(answer.content)
    return History(page["title"], page["pageid"], revisions, answer.retrieved_at, answer.address)
