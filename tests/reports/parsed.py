"""An HTML page as its elements and the text of its scripts and styles."""

import json
from html.parser import HTMLParser
from typing import Any

VOID = {"meta", "link", "img", "br", "input"}


class Parsed(HTMLParser):
    """Every element of a page in order, and the text of every script and style by id, or tag where it has none."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.open: list[str] = []
        self.inside: dict[str, str] = {}
        self.within = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.found.append((tag, attributes))
        self.within = attributes.get("id", tag) if tag in {"script", "style"} else ""
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, "elements are closed in another order than they were opened"
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within:
            self.inside[self.within] = self.inside.get(self.within, "") + data

    def block(self, name: str) -> Any:
        """A block of JSON."""
        return json.loads(self.inside[name])

    def policy(self) -> dict[str, str]:
        """The rules of its content security policy."""
        (policy,) = [a["content"] for _, a in self.found if a.get("http-equiv") == "Content-Security-Policy"]
        return dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    def assert_self_contained(self) -> None:
        """Nothing is loaded from outside, nothing but links leads there, and no element runs a script of its own."""
        for tag, attributes in self.found:
            for name in ("src", "href", "srcset", "data", "poster", "action"):
                if attributes.get(name, "").startswith(("http:", "https:", "//")):
                    assert (tag, name) == ("a", "href")
            assert tag not in {"iframe", "object", "embed", "form", "base"}
            assert not any(name.startswith("on") or name == "style" for name in attributes)
        assert not any("@import" in text or "url(http" in text for text in self.inside.values())

    def assert_inner_links_arrive(self) -> None:
        """An id occurs once, and what links to one finds it."""
        ids = [attributes["id"] for _, attributes in self.found if "id" in attributes]
        assert len(ids) == len(set(ids))
        inner = {a["href"][1:] for tag, a in self.found if tag == "a" and a.get("href", "").startswith("#")}
        assert {link for link in inner if "=" not in link} <= {*ids, ""}
