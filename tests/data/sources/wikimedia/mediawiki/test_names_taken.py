"""The history of a page whose name, or its own, is given to another while the parts are read."""

import json
from typing import Any

import pytest

from data.errors import ServiceError
from tests.data.sources.servers.faults import Say, says, serving
from tests.data.sources.wikimedia.mediawiki.conftest import Asking
from tests.data.sources.wikimedia.mediawiki.small_wiki import in_parts


def renamed(asked: Any, **said: Any) -> Say:
    """The second part says something else of the page than the first."""
    say = in_parts(asked)
    if asked.form.get("rvcontinue", "").endswith("|10"):
        content = json.loads(say.body)
        content["query"]["pages"][0] |= said
        return says(content)
    return say


@pytest.mark.parametrize("said", [{"pageid": 4}, {"missing": True}])
def test_another_page_under_the_name_meanwhile_is_an_error(said: Any, asking: Asking) -> None:
    taken = r"another page took the name 'Ada Example' while its history was read; run again$"
    with serving(play=lambda asked: renamed(asked, **said)) as server:
        with pytest.raises(ServiceError, match=taken):
            asking(server).wiki.revisions("Ada Example")
        with pytest.raises(ServiceError, match=f"{taken[:-1]} with a network$"):
            asking(server, offline=True).wiki.revisions("Ada Example")
    assert [asked.form.get("rvcontinue", "")[-3:] for asked in server.asked] == ["", "|10", "|13", "|16"] * 2


@pytest.mark.parametrize("said", [{"pageid": 4}, {"missing": True}])
def test_a_history_kept_of_two_pages_is_asked_for_anew(said: Any, asking: Asking) -> None:
    with serving(play=lambda asked: renamed(asked, **said)) as server:
        with pytest.raises(ServiceError, match="another page took the name"):
            asking(server).wiki.revisions("Ada Example")
        server.play = in_parts
        asked_so_far = len(server.asked)
        history = asking(server).wiki.revisions("Ada Example")
        assert history is not None
        assert [revision.revision_id for revision in history.revisions] == list(range(7, 18))
        assert len(server.asked) == asked_so_far + 4
        assert asking(server).wiki.revisions("Ada Example") == history
    assert len(server.asked) == asked_so_far + 4
