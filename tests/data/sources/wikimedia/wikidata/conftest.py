from collections.abc import Callable

import pytest

from swaymeter.data.sources.wikimedia.edit_history import EditHistory, edit_history
from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.wikidata import Wikidata
from tests.data.sources.servers.faults import FaultServer, serving
from tests.data.sources.sessions import Open
from tests.data.sources.wikimedia.wikidata.item_wiki import ITEM, Edit, holding

Asking = Callable[[FaultServer], Wikidata]


@pytest.fixture
def asking(opened: Open) -> Asking:
    """Opens clients of servers."""
    return lambda server: Wikidata(Wiki(opened(server, name="Wikidata", max_concurrency=3)))


def told(asking: Asking, *edits: Edit) -> EditHistory:
    """The history after these edits, the first of which is revision 100."""
    with serving(play=holding(edits)) as server:
        history = edit_history(asking(server), ITEM, "P36")
    assert history is not None
    return history


def counted(asking: Asking, *edits: Edit) -> tuple[int, ...]:
    """The edits that changed a value."""
    return told(asking, *edits).edits
