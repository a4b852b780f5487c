"""Names of invented entities of a class, from the catalog's lists, a seeded generator or a language model.

A study may list knowledge graphs under `absent_from`. An invented name is left out if an entity of these graphs has it.
"""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, Literal

from swaymeter.data import catalog
from swaymeter.data.catalog import names_prompt
from swaymeter.data.errors import InputError
from swaymeter.data.invented import GENERATOR_VERSION, invented_names
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.graph import yago
from swaymeter.data.sources.graph.dump import Dump
from swaymeter.data.sources.registry import FACT_SOURCES
from swaymeter.data.sources.source import FactsOptions, with_advice
from swaymeter.tasks.models.loading import identify_language_model

VERSION = 2
"""Version of this procedure, a part of the key of names."""
DTYPE: Literal["bfloat16"] = "bfloat16"
"""The dtype of a model that invents names. Names need no high precision, and a short dtype saves memory."""
SPARE = 20
"""Names that are requested beyond `invented_entities`, because some names turn out to exist."""
ADVICE = "or set `absent_from: []` under `facts`, and no name is looked up"


def invented_names_key(options: FactsOptions, entity_class: str, seed: int, access: Access) -> dict[str, Any]:
    """Return all that the names of a class depend on, as JSON values for a key; InputError for an unreadable dump."""
    graphs = FACT_SOURCES[options.source].graphs(options, access)
    key: dict[str, Any] = {
        "version": VERSION,
        "class": entity_class,
        "by": options.invented,
        "absent_from": {graph.name: graph.identity() for graph in graphs},
    }
    if options.invented == "catalog":
        return key | {"names": list(catalog.invented_entities(entity_class))}
    key |= {"seed": seed, "count": options.invented_entities + SPARE, "generator": GENERATOR_VERSION}
    if options.invented == "names":
        return key
    assert options.invented_model is not None
    return key | {
        "model": options.invented_model,
        "revision": identify_language_model(options.invented_model).revision,
        "dtype": DTYPE,
        "prompt": asdict(names_prompt()),
        "known": catalog.digest("facts.csv"),  # its names are not invented again
    }


def fetch_invented_names(
    options: FactsOptions, entity_class: str, seed: int, access: Access
) -> tuple[list[str], list[str]]:
    """Return invented names of a class, and the addresses of the graphs of `absent_from`, which lack these names.

    Raises:
        InputError: every name is that of an existing entity, or fewer names can be invented than a relation needs.
        ServiceError: a graph cannot be queried.
    """
    invent = _name_function(options, entity_class, seed)
    requested = options.invented_entities + SPARE
    total = 0  # number of names to invent, with the names of earlier rounds
    looked_up: set[str] = set()
    names: list[str] = []
    stores = [graph.open() for graph in FACT_SOURCES[options.source].graphs(options, access)]
    while len(names) < requested:
        # Later rounds invent twice as many names as are missing, because some names turn out to exist.
        total += 2 * (requested - len(names)) if total else requested
        try:
            new = [name for name in invent(total) if name not in looked_up]
        except InputError:
            if len(names) < options.invented_entities:
                raise
            new = []  # the relation has enough names, with fewer spare names
        if not new:
            break
        looked_up.update(new)
        for store in stores:
            with with_advice("" if isinstance(store, Dump) else ADVICE):
                existing = yago.names_in_graph(store, new)
            new = [name for name in new if name not in existing]
        names += new
    if not names:
        advice = "set `invented: names` under `facts`" if options.invented == "catalog" else "change the study's `seed`"
        raise InputError(
            f"entity class {entity_class}: every invented name is the name of an existing entity; {advice}"
        )
    return names, [store.address for store in stores]


def _name_function(options: FactsOptions, entity_class: str, seed: int) -> Callable[[int], list[str]]:
    """Return a function that invents a requested number of names, or returns the catalog's whole list.

    A larger number gives the same names first.
    """
    if options.invented == "catalog":
        return lambda count: list(catalog.invented_entities(entity_class))
    if options.invented == "names":
        return partial(invented_names, entity_class, seed=seed)
    from swaymeter.tasks.contexts.invented_by_model import names_by_model  # imports torch
    from swaymeter.tasks.models import load_language_model

    assert options.invented_model is not None
    model = load_language_model(options.invented_model, dtype=DTYPE)
    existing = {name for fact in catalog.facts() for name in (fact.subject, fact.object)}
    return lambda count: names_by_model(model, entity_class, count, seed=seed, existing=existing)
