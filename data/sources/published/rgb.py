"""RGB (Chen et al. 2023), a benchmark of retrieval: passages with the answer, without it, and with a false one.

Repository: github.com/chen700564/RGB, files data/en.json, en_refine.json, en_fact.json, en_int.json and the Chinese
zh_… of each, an object on each line. Licence: CC BY-NC-SA 4.0 (its readme).

A row has id, query, answer, positive and negative, lists of passages; those of …_fact.json have fakeanswer and
positive_wrong, too, the positive passages with the false answer. Passages are supporting, irrelevant (RGB's noise) and
conflicting. An answer is a text, or a list of parts that are all needed, each a text or a list of its forms. Where
`positive` has a list of passages for each part (…_int.json), no passage has the whole answer: the first passages of
all parts together are one context, the second ones the next, and so on, as long as every part has one.
"""

from itertools import islice, product
from typing import Any, ClassVar, Literal

from swaymeter.data.errors import InputError
from swaymeter.data.sources.published.data_set import Cells, DataSet, Form, context, each, text, texts
from swaymeter.data.sources.published.source import PublishedFile, published

MOST_FORMS = 50
"""Forms of an answer of several parts, which are those of its parts in every combination."""
_CHINESE = ("一", "鿿")


def _row(cells: Cells) -> dict[str, Any]:
    parts = _parts(cells.get("answer"))
    joint = "和" if _is_chinese(text(cells, "query")) else " and "
    forms = list(dict.fromkeys(islice((joint.join(chosen) for chosen in product(*parts)), MOST_FORMS)))
    contexts = [context(passage, "supporting", forms) for passage in _together(cells, "positive")]
    if wrong := _together(cells, "positive_wrong"):
        contexts += [context(passage, "conflicting", texts(cells, "fakeanswer")) for passage in wrong]
    contexts += [context(passage, "irrelevant") for passage in _together(cells, "negative")]
    return {"question": text(cells, "query"), "answer": forms[0], "aliases": forms[1:], "contexts": contexts}


def _parts(answer: Any) -> list[list[str]]:
    """The forms of each part of an answer."""
    parts = answer if isinstance(answer, list) else [answer]
    found = [[str(form).strip() for form in (part if isinstance(part, list) else [part]) if form] for part in parts]
    if not found or not all(found):
        raise InputError("answer: is missing, or a part of it is")
    return found


def _together(cells: Cells, column: str) -> list[str]:
    """The passages of a list; of a list for each part the first ones together, then the second ones, and so on."""
    lists = passages if isinstance(passages := cells.get(column), list) else []
    if any(isinstance(one, list) for one in lists):
        of_parts = [[str(passage) for passage in one] for one in lists if isinstance(one, list)]
        if not all(of_parts):
            raise InputError(f"{column}: a part of the answer has no passage")
        return ["\n\n".join(together) for together in zip(*of_parts, strict=False)]
    return [str(passage) for passage in lists if passage]


def _is_chinese(words: str) -> bool:
    return any(_CHINESE[0] <= letter <= _CHINESE[1] for letter in words)


class Rgb(PublishedFile):
    """RGB: whether answers withstand noise, passages without the answer, and passages with a false one."""

    data_set: ClassVar[DataSet] = DataSet(
        title="RGB",
        citation="Chen et al. 2023, arXiv:2309.01431",
        licence="CC BY-NC-SA 4.0",
        address="github.com/chen700564/RGB",
        file="data/en_refine.json, en_fact.json, en_int.json or a zh_… of them",
        becomes="positive passages support, negative ones are irrelevant, those of positive_wrong conflict with "
        "fakeanswer; of an answer of several parts, a passage of each part together are a context. All files of a "
        "folder are one group: name one file",
        forms=(Form("passages", ("query", "answer", "positive", "negative"), each(_row)),),
        version=2,
    )

    source: Literal["rgb"] = "rgb"
    """RGB, as its files are published."""


RGB = published(Rgb)
