"""The world's facts as lists of facts come: a CSV, PopQA's table, and a graph in Wikidata's words."""

import csv
import io
import json
from collections.abc import Iterable

from tests.data.sources.servers.wiki_world.expected import Fact
from tests.data.sources.servers.wiki_world.state import World

_ENTITY = "http://www.wikidata.org/entity/"
_DIRECT = "http://www.wikidata.org/prop/direct/"
_POPQA = (
    *("id", "subj", "prop", "obj", "subj_id", "prop_id", "obj_id", "s_aliases", "o_aliases", "s_uri", "o_uri"),
    *("s_wiki_title", "o_wiki_title", "s_pop", "o_pop", "question", "possible_answers"),
)
_WORDS = {"P106": "occupation", "P19": "place of birth", "P57": "director"}


def as_csv(facts: Iterable[Fact]) -> str:
    """Only the ids."""
    return _table(["subject_id", "property_id", "object_id"], facts, ",")


def as_popqa(world: World, facts: Iterable[Fact]) -> str:
    """PopQA's test.tsv: names and questions too, with internal numbers for ids."""
    rows = []
    for number, (subject_id, property_id, object_id) in enumerate(facts):
        subject, object = _named(world, subject_id), _named(world, object_id)
        word = _WORDS[property_id]
        question = f"What is {subject}'s {word}?" if property_id != "P19" else f"In what city was {subject} born?"
        internal = (number + 100, 22, number + 500)
        uris = (_ENTITY + subject_id, _ENTITY + object_id, subject, object, 10, 20)
        answers = json.dumps([object])
        rows.append((number, subject, word, object, *internal, "[]", "[]", *uris, question, answers))
    return _table(_POPQA, rows, "\t")


def as_turtle(world: World) -> str:
    """What the Query Service knows: the statements' values as they are now, and the articles."""
    lines = ["@prefix schema: <http://schema.org/> .", "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> ."]
    for item_id, item in world.items.items():
        if item_id not in world.wikidata.pages or item_id in world.wikidata.redirects:
            continue
        me = f"<{_ENTITY}{item_id}>"
        for property_id, statements in item.content["claims"].items():
            for said in statements:
                if said["mainsnak"]["snaktype"] == "value" and said["rank"] != "deprecated":
                    value = said["mainsnak"]["datavalue"]["value"]["id"]
                    lines.append(f"{me} <{_DIRECT}{property_id}> <{_ENTITY}{value}> .")
        for language, label in item.content["labels"].items():
            lines.append(f"{me} rdfs:label {json.dumps(label['value'], ensure_ascii=False)}@{language} .")
        if "enwiki" in item.content["sitelinks"]:
            page = f"<https://en.wikipedia.org/wiki/{item_id}>"
            lines.append(f"{page} schema:about {me} ; schema:isPartOf <https://en.wikipedia.org/> .")
    return "\n".join(lines) + "\n"


def _named(world: World, item_id: str) -> str:
    labels = world.items[item_id].content["labels"].values()
    return " ".join(str(next(iter(labels), {"value": item_id})["value"]).split())


def _table(columns: Iterable[str], rows: Iterable[Iterable[object]], between: str) -> str:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=between, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return file.getvalue()
