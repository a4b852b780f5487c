"""The page in a real browser: no error, no request, no sideways scrolling, both themes."""

from pathlib import Path

import pytest

from tests.reports.browser import CHROMIUM, Browser

LOOK = """[document.documentElement.scrollWidth, innerWidth, getComputedStyle(document.documentElement).backgroundColor,
[...document.images].every(image => image.complete && image.naturalWidth > 0), document.images.length]"""


pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1400])
def test_the_page_has_no_error_no_request_and_scrolls_only_downwards(
    browser: Browser, report: Path, width: int, theme: str
) -> None:
    browser.look(width, theme)
    browser.open(report / "index.html")
    browser.ask("document.querySelectorAll('details').forEach(one => one.open = true)")
    scroll, inner, paper, complete, pictures = browser.ask(LOOK)
    assert scroll <= inner == width
    assert (paper == "rgb(20, 23, 28)") is (theme == "dark")
    assert complete
    assert pictures == 15
    assert browser.trouble() == []
