"""What the files of facts and of invented names are made from: enough to tell whether they must be fetched again."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from data import catalog
from data.catalog.name_parts import names_prompt
from data.invented import GENERATOR_VERSION
from data.sources.graph import dump
from flows.study.facts import FactsPart
from flows.study.study_file import Study
from tasks.models.backends import identify_language_model

FETCH_VERSION = 3
INVENT_VERSION = 2
NAMES_DTYPE = "bfloat16"
"""What a model that makes up names computes in: they need no exactness, and a large model fits."""
SPARE_NAMES = 20
"""Invented names beyond those asked for, since some turn out to exist."""


def facts_made_from(study: Study, relation: str, graphs: Path) -> dict[str, Any]:
    """What a relation's file of facts is made from; InputError where the dump cannot be read.

    graphs: the folder of loaded dumps, which remembers what they hold.
    """
    facts = _facts(study)
    made: dict[str, Any] = {"step": "fetch", "version": FETCH_VERSION, "relation": relation, "source": facts.source}
    if facts.source == "sample":
        return made | {"digest": catalog.digest("facts.csv")}
    found = catalog.relation(relation)
    return made | {
        "graph": graph(study, "yago", graphs), "predicates": list(found.yago), "reverse": found.reverse,
        "unit": found.unit, "object_class": found.object_class, "pairs": facts.pairs, "seed": study.seed,
        "cited": facts.cited, "licence": facts.licence,
    }  # fmt: skip


def names_made_from(study: Study, entity_class: str, graphs: Path) -> dict[str, Any]:
    """What a class's file of invented names is made from; graphs and errors as in `facts_made_from`."""
    facts = _facts(study)
    made: dict[str, Any] = {
        "step": "invent", "version": INVENT_VERSION, "class": entity_class, "by": facts.invented,
        "not_in": {name: graph(study, name, graphs) for name in not_in(study)},
    }  # fmt: skip
    if facts.invented == "catalog":
        return made | {"names": list(catalog.invented_entities(entity_class))}
    made |= {"seed": study.seed, "count": names_wanted(facts), "generator": GENERATOR_VERSION}
    if facts.invented == "names":
        return made
    assert facts.invented_model is not None
    return made | {
        "model": facts.invented_model, "revision": identify_language_model(facts.invented_model).revision,
        "dtype": NAMES_DTYPE, "prompt": asdict(names_prompt()), "known": catalog.digest("facts.csv"),
    }  # fmt: skip


def graph(study: Study, name: str, graphs: Path) -> str:
    """Which graph is asked: an address, or what a dump holds."""
    files = dump_files(_facts(study))
    return dump.digest(files, graphs) if name == "yago" and files else study.services.service(name).address


def dump_files(facts: FactsPart) -> list[Path]:
    """The dump's files; none where an endpoint is asked."""
    return [Path(name).expanduser() for name in facts.dump]


def not_in(study: Study) -> Sequence[str]:
    """The graphs in which invented names must not occur."""
    facts = _facts(study)
    if facts.names_not_in is not None:
        return facts.names_not_in
    if facts.source == "sample":
        return ()
    public = not facts.dump and study.services.yago.address is None
    return ("yago", "wikidata") if public else ("yago",)


def names_wanted(facts: FactsPart) -> int:
    """How many names are made up for a class."""
    return facts.invented_entities + SPARE_NAMES


def _facts(study: Study) -> FactsPart:
    assert study.facts is not None
    return study.facts
