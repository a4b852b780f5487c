"""What the files of facts and of invented names are made from: enough to tell whether they must be fetched again."""

from pathlib import Path
from typing import Any

from data.sources.registry import FACT_SOURCES
from flows.study.study import Study
from tasks.contexts.invented_names import invented_names_key


def facts_made_from(study: Study, relation: str, graphs: Path) -> dict[str, Any]:
    """What a relation's file of facts is made from."""
    assert study.facts is not None
    key = FACT_SOURCES[study.facts.source].key(study.facts, relation, study.seed, study.access(graphs.parent))
    return {"step": "fetch", **key}


def names_made_from(study: Study, entity_class: str, graphs: Path) -> dict[str, Any]:
    """What a class's file of invented names is made from."""
    assert study.facts is not None
    return {"step": "invent", **invented_names_key(study.facts, entity_class, study.seed, study.access(graphs.parent))}
