"""What wikitext says: the text that readers see, as TextExtracts gives it, and the links."""

import html
import re
from collections.abc import Iterator

_NOT_READ = (r"<!--.*?-->", r"<ref[^>/]*/>", r"<ref.*?</ref>", r"\{\|.*?\n\|\}", r"\[\[Category:[^\]]*\]\]")
_TAG = re.compile(r"</?(?:b|i|small|sub|sup|span|div|u)\b[^>]*>")
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}")
_LINK = re.compile(r"\[\[([^|\]]*)\|?([^\]]*)\]\]")
_HEADING = re.compile(r"\n*^(=+) *(.*?) *\1$\n*", re.MULTILINE)
_ENTRY = re.compile(r"^[*#:;]+ *", re.MULTILINE)
NAMESPACES = {"Talk": 1, "User": 2, "User talk": 3, "Wikipedia": 4, "Wikipedia talk": 5, "Template": 10, "Category": 14}


def plain(wikitext: str) -> str:
    """The running text: paragraphs on lines of their own, headings between signs of equality after two empty lines."""
    text = wikitext
    for pattern in _NOT_READ:
        text = re.sub(pattern, "", text, flags=re.DOTALL)
    while _TEMPLATE.search(text):
        text = _TEMPLATE.sub("", text)
    text = _LINK.sub(lambda link: link[2] or link[1].removeprefix(":"), text).replace("'''", "").replace("''", "")
    text = re.sub(r"\n{2,}(?!=)", "\n", text.strip())
    text = re.sub(r"^([^*#:;\n].*)\n(?=[*#:;])", r"\1\n\n", text, flags=re.MULTILINE)
    text = _HEADING.sub(lambda heading: f"\n\n\n{heading[1]} {heading[2]} {heading[1]}\n", _ENTRY.sub("", text))
    return html.unescape(_TAG.sub("", text)).strip()


def written(text: str) -> str:
    """A line of wikitext that says just this, whatever signs of markup are in it."""
    return re.sub(r"[&<>\[\]{}|'*#:;=~_-]", lambda sign: f"&#{ord(sign[0])};", text)


def links(wikitext: str) -> Iterator[tuple[int, str]]:
    """Namespace and title of each page that is linked to, sorted and once each, as the wiki lists them."""
    found = {link[1].removeprefix(":").split("#")[0].replace("_", " ").strip() for link in _LINK.finditer(wikitext)}
    yield from sorted((namespace_of(title), title[:1].upper() + title[1:]) for title in found if title)


def namespace_of(title: str) -> int:
    """The namespace that a title's beginning names; 0, of articles, where it names none."""
    return NAMESPACES.get(title.split(":", 1)[0], 0) if ":" in title else 0
