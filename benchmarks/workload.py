"""The committed workload: queries for the capitals of real countries, and contexts that state capitals.

An entity is a country. It has four queries (two open, two closed forms) and twelve contexts: eight base, two assertive,
two negation. A workload of more entities begins with the entities of a smaller one. A second file has the same prompts
as token ids of SmolLM2, for machines without a tokenizer.

    python benchmarks/workload.py       write both files again; earlier results are then no longer comparable
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

FOLDER = Path(__file__).parent / "workload"
TEXTS = FOLDER / "next_token.json"
TOKEN_IDS = FOLDER / "token_ids.json"

ENTITIES = 100
FORMS = ("open", "open", "closed", "closed")
"""Query types of the four queries of an entity."""
PER_KIND = {"base": 8, "assertive": 2, "negation": 2}
"""Number of contexts of an entity by context type."""
TWO_OF_EACH = dict.fromkeys(PER_KIND, 2)

RELATION = "capital"
SEED = 0
TOKENIZER = "smollm2-135m-instruct"

# Common knowledge beside the facts of the catalog, which are too few.
MORE_CAPITALS = {
    "Afghanistan": "Kabul",
    "Algeria": "Algiers",
    "Angola": "Luanda",
    "Argentina": "Buenos Aires",
    "Belarus": "Minsk",
    "Belgium": "Brussels",
    "Belize": "Belmopan",
    "Bhutan": "Thimphu",
    "Botswana": "Gaborone",
    "Brazil": "Brasília",
    "Burkina Faso": "Ouagadougou",
    "Cambodia": "Phnom Penh",
    "Cameroon": "Yaoundé",
    "Chad": "N'Djamena",
    "Chile": "Santiago",
    "China": "Beijing",
    "Colombia": "Bogotá",
    "Costa Rica": "San José",
    "Croatia": "Zagreb",
    "Cyprus": "Nicosia",
    "Ecuador": "Quito",
    "El Salvador": "San Salvador",
    "Eritrea": "Asmara",
    "Ethiopia": "Addis Ababa",
    "Fiji": "Suva",
    "Gabon": "Libreville",
    "Georgia": "Tbilisi",
    "Ghana": "Accra",
    "Greece": "Athens",
    "Guatemala": "Guatemala City",
    "Haiti": "Port-au-Prince",
    "Honduras": "Tegucigalpa",
    "Iceland": "Reykjavik",
    "India": "New Delhi",
    "Indonesia": "Jakarta",
    "Jamaica": "Kingston",
    "Jordan": "Amman",
    "Kenya": "Nairobi",
    "Laos": "Vientiane",
    "Latvia": "Riga",
    "Liberia": "Monrovia",
    "Lithuania": "Vilnius",
    "Madagascar": "Antananarivo",
    "Malaysia": "Kuala Lumpur",
    "Mali": "Bamako",
    "Malta": "Valletta",
    "Mexico": "Mexico City",
    "Moldova": "Chișinău",
    "Mongolia": "Ulaanbaatar",
    "Morocco": "Rabat",
    "Mozambique": "Maputo",
    "Namibia": "Windhoek",
    "Nepal": "Kathmandu",
    "Nicaragua": "Managua",
    "Niger": "Niamey",
    "Nigeria": "Abuja",
    "Pakistan": "Islamabad",
    "Paraguay": "Asunción",
    "Qatar": "Doha",
    "Rwanda": "Kigali",
    "Senegal": "Dakar",
    "Serbia": "Belgrade",
    "Slovakia": "Bratislava",
    "Slovenia": "Ljubljana",
    "Somalia": "Mogadishu",
    "Sudan": "Khartoum",
    "Turkey": "Ankara",
    "Uganda": "Kampala",
    "Vietnam": "Hanoi",
    "Zambia": "Lusaka",
    "Zimbabwe": "Harare",
}

Text = TypeVar("Text")


class Workload(Generic[Text]):
    """Contexts and queries about the same entities, as texts or as token ids."""

    def __init__(self, entries: Sequence[Mapping[str, Any]]) -> None:
        self._entries = entries

    def contexts(self, entities: int, per_kind: Mapping[str, int] = TWO_OF_EACH) -> list[Text]:
        """Return the contexts of the first entities, entity by entity, with `per_kind` contexts of each type."""
        return [
            text
            for entry in self._first(entities)
            for kind, count in per_kind.items()
            for text in entry["contexts"][kind][:count]
        ]

    def queries(self, entities: int) -> list[Text]:
        """Return the queries of the first entities, entity by entity, in the order of FORMS."""
        return [text for entry in self._first(entities) for text in entry["queries"]]

    def _first(self, entities: int) -> Sequence[Mapping[str, Any]]:
        if not 1 <= entities <= len(self._entries):
            raise SystemExit(f"the workload has 1 to {len(self._entries)} entities, not {entities}")
        return self._entries[:entities]


def texts() -> Workload[str]:
    """Return the workload as texts."""
    return Workload(json.loads(TEXTS.read_text(encoding="utf-8")))


def token_ids(vocabulary: int) -> Workload[list[int]]:
    """Return the workload as token ids modulo the vocabulary size, so that any network can read them.

    A prompt is the ids of a context, and then the ids of a query.
    """
    return Workload(
        json.loads(TOKEN_IDS.read_text(encoding="utf-8"), parse_int=lambda digits: int(digits) % vocabulary)
    )


def written() -> list[dict[str, Any]]:
    """Return the entries of the workload as texts, from the catalog's templates and SEED."""
    from swaymeter.data import catalog
    from swaymeter.data.randomness import drawn_first
    from swaymeter.tasks.contexts.sentences import Entity, write_contexts, write_queries

    relation = catalog.relation(RELATION)
    capitals = {fact.subject: fact.object for fact in catalog.facts(RELATION)} | MORE_CAPITALS
    entities = [Entity(name, False, capitals[name]) for name in drawn_first(capitals, ENTITIES, SEED, RELATION)]
    pool = sorted({entity.object for entity in entities})
    entries = []
    for entity in entities:
        contexts = write_contexts(relation, [entity], pool, per_kind=PER_KIND, seed=SEED)  # type: ignore[arg-type]
        by_kind = {kind: [context.text for context in contexts if context.kind == kind] for kind in PER_KIND}
        queries = [query.text for query in write_queries(relation, [entity])]
        entries.append({"entity": entity.name, "answer": entity.object, "contexts": by_kind, "queries": queries})
    return entries


def tokenized(entries: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries with token ids in place of texts; SystemExit if a token spans context and query."""
    from swaymeter.tasks.models import load_language_model

    tokenizer = load_language_model(TOKENIZER, device="cpu").tokenizer

    def ids(texts: list[str]) -> list[list[int]]:
        tokens: list[list[int]] = tokenizer(texts, add_special_tokens=False)["input_ids"]
        return tokens

    tokenized_entries = []
    for entry in entries:
        contexts = {kind: ids(kind_texts) for kind, kind_texts in entry["contexts"].items()}
        tokenized_entries.append({"contexts": contexts, "queries": ids(entry["queries"])})
        context, query = entry["contexts"]["base"][0], entry["queries"][0]
        ids_of_both, ids_of_context, ids_of_query = ids([context + query, context, query])
        if ids_of_both != ids_of_context + ids_of_query:
            raise SystemExit(f"a token spans the seam of {context!r} and {query!r}")
    return tokenized_entries


def _saved(file: Path, entries: Sequence[Mapping[str, Any]]) -> None:
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    file.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    _saved(TEXTS, written())
    _saved(TOKEN_IDS, tokenized(written()))
