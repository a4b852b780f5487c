"""The measures that a study can name; the one place where flows.study imports their registry."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from data import measures
from data.named import Registry


@dataclass(frozen=True)
class Declared:
    """What a study has to know of a measure."""

    name: str
    about: str
    needs: tuple[str, ...]
    parameters: type[BaseModel]
    meaning: str
    capability: str | None = None


def _declared() -> Iterator[Declared]:
    for one in measures.MEASURES.values():
        yield Declared(one.name, one.inputs, one.needs, one.parameters, one.meaning)


MEASURES: Registry[Any] = Registry("measure", _declared())
