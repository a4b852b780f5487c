"""What the summary of an edit proves about the values of a property.

Wikibase begins a summary with a key, `/* wbsetclaim-create:2||1 */ [[Property:P36]]: [[Q585]]`, then names what was
edited, then adds the editor's comment. Only a key at the very start counts, and only a property right behind it: the
rest is free text. In case of doubt the verdict is UNKNOWN, and contents must be compared.
"""

import re
from collections.abc import Mapping
from enum import Enum, auto

from swaymeter.data.records import WikidataId


class Verdict(Enum):
    """Whether an edit changed a value of a property: added or removed a statement, or changed its value."""

    CHANGED = auto()
    UNCHANGED = auto()
    UNKNOWN = auto()


class Edit(Enum):
    """The meaning of a key."""

    CHANGES_NAMED = auto()
    """Only values of the named property change."""
    MAY_CHANGE_NAMED = auto()
    """Only statements of the named property were edited, maybe only their references."""
    REMOVES_NAMED = auto()
    """Statements were removed; the first one's property is named, further ones may be of any property."""
    CHANGES_NOTHING = auto()
    """No values: references, qualifiers, ranks, names, links."""
    CHANGES_ANYTHING = auto()


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
"""The meaning of each key of Wikibase; an unknown key may belong to an edit that changes anything."""

_KEY = re.compile(r"/\*\s*([a-z][a-z-]*)(?::(.*?))?\s*\*/\s*", re.DOTALL)
_NAMED = re.compile(r"\[\[Property:(P[1-9][0-9]*)]](?::|,|$)")


def verdict(summary: str | None, property_id: WikidataId) -> Verdict:
    """What a summary proves about the values of a property; None: the summary is hidden."""
    begins = _KEY.match(summary or "")
    if summary is None or begins is None:
        return Verdict.UNKNOWN
    edit = EDITS.get(begins[1], Edit.CHANGES_ANYTHING)
    if edit is Edit.CHANGES_NOTHING:
        return Verdict.UNCHANGED
    named = _NAMED.match(summary, begins.end())
    if edit is Edit.CHANGES_ANYTHING or named is None:
        return Verdict.UNKNOWN
    if named[1] == property_id:
        return Verdict.UNKNOWN if edit is Edit.MAY_CHANGE_NAMED else Verdict.CHANGED
    several = edit is Edit.REMOVES_NAMED and (begins[2] or "").split("|")[0] != "1"
    return Verdict.UNKNOWN if several else Verdict.UNCHANGED
