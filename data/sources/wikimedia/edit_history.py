"""The revisions of an item that changed a value of a property.

A revision counts if it adds or removes a statement of the property, or changes the value of a statement. References,
qualifiers, ranks, labels and links are not values. Wikibase begins the summary of a revision with a key, then names
what was edited, then adds the editor's comment: `/* wbsetclaim-create:2||1 */ [[Property:P36]]: [[Q585]]`. Only the
key at the start and the property right after the key are read, because the rest is free text.

The effect of a revision is UNKNOWN if its summary does not show whether the revision counts. The statements before and
after the revision are then compared by their ids; only the contents for these comparisons are requested.

The content of some revisions is hidden or deleted. If the effect of such a revision is UNKNOWN, the last readable
content before it is compared with the first readable content after it. A difference counts as one change, so the
number of changes is a lower bound.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto

from swaymeter.data.errors import ServiceError, printable
from swaymeter.data.records import WikidataId
from swaymeter.data.sources.http.response import MISREAD
from swaymeter.data.sources.wikimedia.mediawiki import Revision, Wiki
from swaymeter.data.sources.wikimedia.wikidata import Wikidata, statements_of


class Effect(Enum):
    """The effect of an edit on the values of a property."""

    CHANGED = auto()
    UNCHANGED = auto()
    UNKNOWN = auto()


class Edit(Enum):
    """The kind of an edit, by the key of its summary."""

    CHANGES_NAMED = auto()
    """Only values of the named property change."""
    MAY_CHANGE_NAMED = auto()
    """Only statements of the named property were edited, possibly only their references."""
    REMOVES_NAMED = auto()
    """Statements were removed. The summary names only the first statement's property; other properties are possible."""
    CHANGES_NOTHING = auto()
    """References, qualifiers, ranks, names or links change, and no values."""
    CHANGES_ANYTHING = auto()
    """Values of any property may change."""


_KEYS: Mapping[Edit, str] = {
    Edit.CHANGES_NAMED: """
        wbcreateclaim wbcreateclaim-create wbcreateclaim-value wbcreateclaim-novalue wbcreateclaim-somevalue
        wbsetclaim-create wbsetclaimvalue
        wbeditentity-statements-single-property-add wbeditentity-statements-single-property-remove
        """,
    Edit.MAY_CHANGE_NAMED: "wbsetclaim-update wbeditentity-statements-single-property-update",
    Edit.REMOVES_NAMED: "wbremoveclaims wbremoveclaims-remove wbremoveclaims-update",
    Edit.CHANGES_NOTHING: """
        wbsetclaim-update-qualifiers wbsetclaim-update-rank wbsetclaim-update-references
        wbsetqualifier-add wbsetqualifier-update wbremovequalifiers-remove wbremovequalifiers-update
        wbsetreference wbsetreference-add wbsetreference-set wbremovereferences-remove wbremovereferences-update
        wbsetlabel-add wbsetlabel-remove wbsetlabel-set
        wbsetdescription-add wbsetdescription-remove wbsetdescription-set
        wbsetaliases-add wbsetaliases-add-remove wbsetaliases-remove wbsetaliases-set wbsetaliases-update
        wbsetlabeldescriptionaliases wbeditentity-update-languages wbeditentity-update-languages-short
        wbsetsitelink-add wbsetsitelink-add-both wbsetsitelink-remove wbsetsitelink-set wbsetsitelink-set-badges
        wbsetsitelink-set-both wblinktitles-connect wblinktitles-create clientsitelink-remove clientsitelink-update
        special-create-item special-create-property wbcreate-new
        """,
    Edit.CHANGES_ANYTHING: """
        wbeditentity wbeditentity-create wbeditentity-create-item wbeditentity-create-property wbeditentity-override
        wbeditentity-update wbeditentity-update-languages-and-other wbeditentity-update-languages-and-other-short
        wbeditentity-statements-multiple-properties-add wbeditentity-statements-multiple-properties-remove
        wbeditentity-statements-multiple-properties-update
        wbsetitem wbmergeitems-from wbmergeitems-to wbcreateredirect restore undo
        """,
}

EDITS: Mapping[str, Edit] = {key: edit for edit, keys in _KEYS.items() for key in keys.split()}
"""The kinds of edits by Wikibase's keys; an unknown key counts as CHANGES_ANYTHING."""

_KEY = re.compile(r"/\*\s*([a-z][a-z-]*)(?::(.*?))?\s*\*/\s*", re.DOTALL)  # /* wbsetclaim-create:2||1 */
_NAMED_PROPERTY = re.compile(r"\[\[Property:(P[1-9][0-9]*)]](?::|,|$)")


def effect_of(summary: str | None, property_id: WikidataId) -> Effect:
    """Return the effect of an edit on the values of a property, by its summary; UNKNOWN for a hidden summary (None)."""
    key = _KEY.match(summary or "")
    if summary is None or key is None:
        return Effect.UNKNOWN
    edit = EDITS.get(key[1], Edit.CHANGES_ANYTHING)
    if edit is Edit.CHANGES_NOTHING:
        return Effect.UNCHANGED
    named_property = _NAMED_PROPERTY.match(summary, key.end())
    if edit is Edit.CHANGES_ANYTHING or named_property is None:
        return Effect.UNKNOWN
    if named_property[1] == property_id:
        return Effect.UNKNOWN if edit is Edit.MAY_CHANGE_NAMED else Effect.CHANGED
    statement_count = (key[2] or "").split("|")[0]  # such as 1 in wbremoveclaims-remove:1|
    removes_several = edit is Edit.REMOVES_NAMED and statement_count != "1"
    return Effect.UNKNOWN if removes_several else Effect.UNCHANGED


TAGS_OF_FREE_SUMMARIES = ("mw-undo", "mw-rollback")
"""Tags of edits whose summary is free text, which may look like a key."""

Values = Mapping[str, str]
"""The values of a property's statements, by the statements' ids."""


@dataclass(frozen=True, slots=True)
class EditHistory:
    """The revisions of an item that changed a value of a property, oldest first.

    Attributes:
        edits: The ids of these revisions.
        hidden: Unreadable revisions with an UNKNOWN effect, and deleted revisions that other revisions name as their
            parent. `edits` has no hidden revision.
        latest: The newest revision of the history.
        retrieved_at: The time of the newest response, UTC.
    """

    edits: tuple[int, ...]
    hidden: tuple[int, ...]
    latest: int
    retrieved_at: datetime

    @property
    def count(self) -> int:
        """Return the number of revisions that changed a value: 1 for a static fact, more for a temporal fact."""
        return len(self.edits)


def edit_history(wikidata: Wikidata, item_id: str, property_id: str) -> EditHistory | None:
    """Return the edit history of a property of an item; None if the item does not exist.

    The history of a merged item is incomplete; request the item into which it was merged.

    Raises:
        InputError: An id is invalid.
    """
    entity, wikidata_property = WikidataId(item_id), WikidataId(property_id)
    history = wikidata.wiki.revisions(f"Property:{entity}" if entity.startswith("P") else entity)
    if history is None or not history.revisions:
        return None
    # Sorted by id, because the clocks of a wiki's servers may swap two edits within a second.
    revisions = sorted(history.revisions, key=lambda revision: revision.revision_id)
    effects = [_effect(revision, wikidata_property) for revision in revisions]
    contents = _Contents(wikidata.wiki, revisions, wikidata_property)
    while True:  # again without the contents that turned out to be unreadable
        readable = [contents.content_id(revision) is not None for revision in revisions]
        classification = _classify(revisions, effects, readable)
        if contents.request(classification.comparisons):
            break
    return EditHistory(
        tuple(sorted([*classification.certain, *contents.changed(classification.comparisons)])),
        tuple(sorted(classification.hidden)),
        revisions[-1].revision_id,
        history.retrieved_at,
    )


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Two revisions whose contents are compared; `before` is None at the item's creation.

    `changes_between` is the number of certain changes by the unreadable revisions between the two revisions.
    """

    before: Revision | None
    after: Revision
    changes_between: int


@dataclass(slots=True)
class _Classification:
    """The certain changes and the hidden revisions (as in `EditHistory`), by id, and the comparisons to make."""

    certain: list[int] = field(default_factory=list)
    hidden: list[int] = field(default_factory=list)
    comparisons: list[_Comparison] = field(default_factory=list)


def _effect(revision: Revision, property_id: WikidataId) -> Effect:
    if set(TAGS_OF_FREE_SUMMARIES) & set(revision.tags):
        return Effect.UNKNOWN
    return effect_of(revision.comment, property_id)


def _classify(revisions: Sequence[Revision], effects: Sequence[Effect], readable: Sequence[bool]) -> _Classification:
    classification, revision_ids = _Classification(), {revision.revision_id for revision in revisions}
    before: Revision | None = None
    changes_between = 0  # certain changes by unreadable revisions since `before`
    has_possible_change = False  # True if an unreadable or deleted revision since `before` may be a change
    for revision, effect, is_readable in zip(revisions, effects, readable, strict=True):
        if revision.parent_id and revision.parent_id not in revision_ids:
            classification.hidden.append(revision.parent_id)
            has_possible_change = True
        if effect is Effect.CHANGED:
            classification.certain.append(revision.revision_id)
        if is_readable:
            if effect is Effect.UNKNOWN or (has_possible_change and effect is Effect.UNCHANGED):
                classification.comparisons.append(_Comparison(before, revision, changes_between))
            before, changes_between, has_possible_change = revision, 0, False
        elif effect is Effect.CHANGED:
            changes_between += 1
        elif effect is Effect.UNKNOWN:
            classification.hidden.append(revision.revision_id)
            has_possible_change = True
    return classification


class _Contents:
    """The values of a property at revisions; a content that several revisions have is requested once."""

    def __init__(self, wiki: Wiki, revisions: Iterable[Revision], property_id: WikidataId) -> None:
        self._wiki, self._property_id = wiki, property_id
        self._values: dict[int | None, Values] = {None: {}}
        """The values at each requested revision; none before the item's creation (None)."""
        self._ids_by_fingerprint: dict[str, list[int]] = {}
        self._unreadable: set[int] = set()
        for revision in revisions:
            self._ids_by_fingerprint.setdefault(_fingerprint(revision), []).append(revision.revision_id)

    def content_id(self, revision: Revision) -> int | None:
        """Return the id of the first readable revision with this content; None if the content cannot be read."""
        if revision.content_hidden or revision.revision_id in self._unreadable:
            return None
        ids = self._ids_by_fingerprint[_fingerprint(revision)]
        return next(revision_id for revision_id in ids if revision_id not in self._unreadable)

    def request(self, comparisons: Iterable[_Comparison]) -> bool:
        """Request the contents that are compared; return False if an unreadable content changes the comparisons."""
        needed: set[int | None] = set()
        for comparison in comparisons:
            before, after = self._content_ids(comparison)
            needed |= {before, after} if before != after else set()
        new_ids = sorted(
            revision_id for revision_id in needed if revision_id is not None and revision_id not in self._values
        )
        contents = self._wiki.contents(new_ids)
        self._values |= {
            revision_id: self._values_in(revision_id, content) for revision_id, content in contents.items()
        }
        unreadable = set(new_ids) - contents.keys()
        self._unreadable |= unreadable
        return not unreadable

    def changed(self, comparisons: Iterable[_Comparison]) -> list[int]:
        """Return the later revisions of the comparisons that show a change beyond the certain changes."""
        revision_ids = []
        for comparison in comparisons:
            before, after = self._content_ids(comparison)
            is_same = before == after or self._values[before] == self._values[after]
            # Different contents without a certain change in between: the later revision counts as the change.
            # Equal contents with one certain change in between: the later revision counts as its reversal.
            # Otherwise the certain changes in between can explain the contents.
            if comparison.changes_between == (1 if is_same else 0):
                revision_ids.append(comparison.after.revision_id)
        return revision_ids

    def _content_ids(self, comparison: _Comparison) -> tuple[int | None, int | None]:
        return self.content_id(comparison.before) if comparison.before else None, self.content_id(comparison.after)

    def _values_in(self, revision_id: int, content: str) -> Values:
        try:
            statements = statements_of(json.loads(content))
        except (*MISREAD, RecursionError) as error:
            service = self._wiki.session.service
            raise ServiceError(
                f"{service.name} ({service.address}): revision {revision_id} cannot be read as an item of Wikidata "
                f"({printable(repr(error), 160)})"
            ) from None
        return {statement.statement_id: statement.value for statement in statements.get(self._property_id, ())}


def _fingerprint(revision: Revision) -> str:
    """Return the SHA-1 of a revision's content; a unique text if the SHA-1 is hidden."""
    return revision.sha1 or f"revision {revision.revision_id}"
