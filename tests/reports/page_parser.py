"""Parser of a page: its elements, and the texts of its scripts and styles."""

import json
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "img", "br", "input"}


class PageParser(HTMLParser):
    """The elements of a page in order, and the text of each script and style by its id, or else by its tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.open_tags: list[str] = []
        self.texts: dict[str, str] = {}
        self.current_block = ""
        self.feed(text)
        assert self.open_tags == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.elements.append((tag, attributes))
        self.current_block = attributes.get("id", tag) if tag in {"script", "style"} else ""
        if tag not in VOID:
            self.open_tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open_tags.pop() == tag, "elements must be closed in the reverse order of opening"
        self.current_block = ""

    def handle_data(self, data: str) -> None:
        if self.current_block:
            self.texts[self.current_block] = self.texts.get(self.current_block, "") + data

    def block(self, name: str) -> Any:
        """Return the content of a block of JSON."""
        return json.loads(self.texts[name])

    def policy(self) -> dict[str, str]:
        """Return the rules of the content security policy."""
        (policy,) = [
            attributes["content"]
            for _, attributes in self.elements
            if attributes.get("http-equiv") == "Content-Security-Policy"
        ]
        return dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def assert_self_contained(self) -> None:
        """Assert that only links lead out of the page, links within it arrive, and no element has a script or style."""
        for tag, attributes in self.elements:
            for name in ("src", "href", "srcset", "data", "poster", "action"):
                if attributes.get(name, "").startswith(("http:", "https:", "//")):
                    assert (tag, name) == ("a", "href")
            assert tag not in {"iframe", "object", "embed", "form", "base"}
            assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not any("@import" in text or "url(http" in text for text in self.texts.values())
        ids = [attributes["id"] for _, attributes in self.elements if "id" in attributes]
        assert len(ids) == len(set(ids))
        fragments = {
            attributes["href"][1:]
            for tag, attributes in self.elements
            if tag == "a" and attributes.get("href", "").startswith("#")
        }
        # A fragment with "=" is no id: the script of the page of answers reads the fragment.
        assert {fragment for fragment in fragments if "=" not in fragment} <= {*ids, ""}
