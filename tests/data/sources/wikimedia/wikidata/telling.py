"""What a history tells of an item's capital (P36)."""

from data.sources.wikimedia.edit_history import EditHistory, edit_history
from tests.data.sources.servers.faults import serving
from tests.data.sources.wikimedia.wikidata.conftest import Asking
from tests.data.sources.wikimedia.wikidata.item_wiki import ITEM, Edit, holding


def told(asking: Asking, *edits: Edit) -> EditHistory:
    """The history after these edits, the first of which is revision 100."""
    with serving(play=holding(edits)) as server:
        history = edit_history(asking(server), ITEM, "P36")
    assert history is not None
    return history


def counted(asking: Asking, *edits: Edit) -> tuple[int, ...]:
    """The edits that changed a value."""
    return told(asking, *edits).edits
