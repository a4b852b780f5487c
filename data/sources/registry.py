"""The sources that a study file can name; the first of each list is the default."""

from swaymeter.data.named import Registry
from swaymeter.data.sources.dynamicqa.published import PUBLISHED
from swaymeter.data.sources.graph.yago import YAGO
from swaymeter.data.sources.layouts.source import published_source
from swaymeter.data.sources.own.facts import OWN_FACTS
from swaymeter.data.sources.own.groups import GROUPS
from swaymeter.data.sources.own.source import OWN_QUESTIONS
from swaymeter.data.sources.sample import SAMPLE_FACTS, SAMPLE_QUESTIONS
from swaymeter.data.sources.source import FactSource, QuestionSource
from swaymeter.data.sources.wikimedia.options import WIKIDATA_QUESTIONS

FACT_SOURCES: Registry[FactSource] = Registry("source of facts", [SAMPLE_FACTS, YAGO, OWN_FACTS, GROUPS])
DATA_SETS = tuple(
    published_source(name)
    for name in (
        "cub",
        "faitheval",
        "clasheval",
        "ramdocs",
        "conflictqa",
        "nq-swap",
        "rgb",
        "wikicontradict",
        "popqa",
    )
)
"""The published data sets of knowledge conflicts, which are read from a file or folder that a study names."""

QUESTION_SOURCES: Registry[QuestionSource] = Registry(
    "source of questions", [SAMPLE_QUESTIONS, PUBLISHED, WIKIDATA_QUESTIONS, OWN_QUESTIONS, *DATA_SETS]
)
