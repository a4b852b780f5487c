"""What the pieces of work that fetch live questions are called."""

from data.records import identity
from data.sources.http.printable import printable

PAGES_WORK = "fetch x pages"
"""What fetching the list of controversial pages is called."""


def seeds_work(name: str) -> str:
    """What fetching a list of facts is called."""
    return f"fetch x {name} facts" if name != "seeds" else "fetch x seeds"


def property_work(relation: str) -> str:
    """What fetching a property's questions is called."""
    return f"fetch x {relation} questions"


def page_work(title: str) -> str:
    """What searching a page for disputes is called."""
    return f"fetch x page {_shown(title)}"


def writing_work(title: str) -> str:
    """What writing the questions of a page's disputes is called."""
    return f"write x page {_shown(title)}"


def _shown(title: str) -> str:
    """The title, if it is short and all of it can be seen; else what can be, and a digest that tells it from others."""
    seen = printable(title)
    return seen if seen == title else f"{seen} ({identity(title)[:8]})"
