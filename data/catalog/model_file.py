"""models.yaml: what the aliases of models stand for."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from data.catalog.reading import fields, mapping, text
from data.errors import InputError

MODEL_KINDS = ("language_model", "embedder", "entailment")


@dataclass(frozen=True)
class CatalogModel:
    """What an alias stands for: a hub id, or a file (or folder) inside an installed package."""

    alias: str
    kind: str
    licence: str
    hub: str | None = None
    package: str | None = None
    module: str | None = None
    version: str | None = None
    file: str | None = None
    sha256: str | None = None


@cache
def models() -> Mapping[str, CatalogModel]:
    """What each model alias stands for."""
    entries = mapping("models.yaml", "aliases")
    return MappingProxyType({alias: _model(alias, entry) for alias, entry in entries.items()})


def _model(alias: str, entry: object) -> CatalogModel:
    known = [field for field in CatalogModel.__dataclass_fields__ if field != "alias"]
    values = fields("models.yaml", f"aliases.{alias}", entry, known)
    texts = {field: text("models.yaml", f"aliases.{alias}.{field}", value) for field, value in values.items()}
    for field in ("kind", "licence"):
        text("models.yaml", f"aliases.{alias}.{field}", texts.get(field))
    if texts["kind"] not in MODEL_KINDS:
        raise InputError(f"models.yaml: aliases.{alias}.kind must be one of {', '.join(MODEL_KINDS)}")
    if ("hub" in texts) == ("package" in texts):
        raise InputError(f"models.yaml: aliases.{alias} must name a hub id or a package, one of the two")
    return CatalogModel(alias=alias, **texts)
