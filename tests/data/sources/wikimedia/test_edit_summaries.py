import pytest

from swaymeter.data.records import WikidataId
from swaymeter.data.sources.wikimedia.edit_history import EDITS, Edit, Effect, effect_of
from tests.data.sources.servers.faults import ANSWERS

CAPITAL = WikidataId("P36")


SUMMARIES: dict[Effect, list[str | None]] = {
    Effect.CHANGED: [
        "/* wbcreateclaim-create:1| */ [[Property:P36]]: [[Q585]]",
        "/* wbcreateclaim-create:1| */ [[Property:P36]]: unknown value",
        "/* wbsetclaim-create:2||1 */ [[Property:P36]]: [[Q585]], from a list",
        "/* wbsetclaimvalue:1| */ [[Property:P36]]: [[Q585]]",
        "/* wbremoveclaims-remove:1| */ [[Property:P36]]: [[Q585]]",
        "/* wbremoveclaims-remove:2| */ [[Property:P36]]: [[Q585]], [[Property:P35]]: [[Q1]]",
        "/* wbeditentity-statements-single-property-add:1||2 */ [[Property:P36]]",
    ],
    Effect.UNCHANGED: [
        "/* wbcreateclaim-create:1| */ [[Property:P35]]: [[Q585]]",
        "/* wbcreateclaim-create:1| */ [[Property:P366]]: [[Q585]]",
        "/* wbsetclaim-update:2||1 */ [[Property:P35]]: [[Q585]]",
        "/* wbsetclaimvalue:1| */ [[Property:P35]]: [[Property:P36]]: [[Q585]]",
        "/* wbremoveclaims-remove:1| */ [[Property:P35]]: [[Q585]], [[Property:P36]]: [[Q585]]",
        "/* wbeditentity-statements-single-property-update:1||2 */ [[Property:P35]], [[Property:P36]]",
        "/* wbsetqualifier-add:1| */ [[Property:P36]]: [[Q585]]",
        "/* wbsetreference-add:2| */ [[Property:P36]]: [[Q585]]",
        "/* wbsetclaim-update-qualifiers:2||1|1 */ [[Property:P36]]: [[Q585]]",
        "/* wbsetlabel-add:1|en */ [[Property:P36]]: [[Q585]]",
    ],
    Effect.UNKNOWN: [
        None,
        "",
        "a better capital",
        "/* undo:0||29|Example */",
        "/* wbsetclaim-update:2||1 */ [[Property:P36]]: [[Q585]]",
        "/* wbeditentity-statements-single-property-update:1||2 */ [[Property:P36]]",
        "/* wbeditentity-statements-multiple-properties-add:0||2 */ [[Property:P36]], [[Property:P35]]",
        "/* wbeditentity-update:0| */ [[Property:P36]]: [[Q585]]",
        "/* wbremoveclaims-remove:2| */ [[Property:P35]]: [[Q1]], [[Property:P36]]: [[Q585]]",
        # In old summaries, a comment of the editor may replace the property and the value.
        "/* wbcreateclaim-create:1| */ moved from [[Property:P36]]: see talk",
        "/* wbcreateclaim-create:1| */",
        # These comments of editors do not begin with a known key.
        "see /* wbsetlabel-add:1|en */",
        "/* wbsetlabel-add:1|en",
        "/* P36 */ [[Property:P36]]: [[Q585]]",
        "/* wbnewkey-of-some-day:1| */ [[Property:P36]]: [[Q585]]",
    ],
}


@pytest.mark.parametrize(
    ("expected", "summary"), [(effect, summary) for effect in SUMMARIES for summary in SUMMARIES[effect]]
)
def test_summary_has_its_effect(expected: Effect, summary: str | None) -> None:
    assert effect_of(summary, CAPITAL) is expected


@pytest.mark.parametrize(
    "hostile", ["\u202e]]", "]]: [[Property:P36]]", "{}", "<b>", "\n/* wbsetlabel-add:1|en */ ", "*/"]
)
def test_hostile_values_change_no_effect(hostile: str) -> None:
    assert effect_of(f"/* wbcreateclaim-create:1| */ [[Property:P36]]: {hostile}", CAPITAL) is Effect.CHANGED
    assert effect_of(f"/* wbcreateclaim-create:1| */ [[Property:P35]]: {hostile}", CAPITAL) is Effect.UNCHANGED
    assert effect_of(f"/* wbeditentity-update:0| */ {hostile}", CAPITAL) is Effect.UNKNOWN


def test_every_key_of_wikibase_is_classified() -> None:
    # The keys of summaries in the branches REL1_39 and master of Wikibase, without their prefix (the kind of entity).
    listed = set((ANSWERS / "wikidata" / "edit_summary_keys.txt").read_text().split())
    assert len(listed) > 60
    assert listed - EDITS.keys() == set()
    assert EDITS.keys() - listed == set()


def test_only_keys_of_statements_report_values() -> None:
    keys_with_values = {key for key, edit in EDITS.items() if edit not in (Edit.CHANGES_NOTHING, Edit.CHANGES_ANYTHING)}
    assert all("claim" in key or "statements-single-property" in key for key in keys_with_values)
    assert {key for key in EDITS if "claim" in key} - keys_with_values == {
        "wbsetclaim-update-qualifiers",
        "wbsetclaim-update-rank",
        "wbsetclaim-update-references",
    }
