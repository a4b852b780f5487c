"""Titles: any that a page can have is asked for as it is, and no other."""

import pytest

from tests.data.sources.servers.faults import recorded, serving
from tests.data.sources.wikimedia.mediawiki.conftest import Asking


def test_a_title_that_none_can_be_is_not_asked_for(asking: Asking) -> None:
    with serving() as server:
        wikipedia = asking(server)
        for title in ("", "  ", "_", "A|B", "A\x1fB", "C#", "<b>", "[[A]]", "{{A}}", "A\nB", "\ud800", "é" * 300):
            assert wikipedia.wiki.revisions(title) is None, title
            assert wikipedia.page(title) is None, title
    assert server.asked == []


@pytest.mark.parametrize(
    "title", ["../../etc/passwd", ".", "AC/DC", 'Say "Hi"', "100% & more?", "עברית \u202e", "a=b&c=d", "C++", "🙂"]
)
def test_any_other_title_arrives_as_it_is(title: str, asking: Asking) -> None:
    with serving(recorded("wikipedia/missing_title.json")) as server:
        asking(server).wiki.revisions(title)
    (asked,) = server.asked
    assert asked.form["titles"] == title
    assert asked.path == "/ask"
