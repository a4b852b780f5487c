"""The sources that a study file can name; the first of each list is the default."""

from swaymeter.data.named import Registry
from swaymeter.data.sources.dynamicqa.published import PUBLISHED
from swaymeter.data.sources.graph.yago import YAGO
from swaymeter.data.sources.own.facts import OWN_FACTS
from swaymeter.data.sources.own.groups import GROUPS
from swaymeter.data.sources.own.source import OWN_QUESTIONS
from swaymeter.data.sources.sample import SAMPLE_FACTS, SAMPLE_QUESTIONS
from swaymeter.data.sources.source import FactSource, QuestionSource
from swaymeter.data.sources.wikimedia.options import WIKIDATA_QUESTIONS

FACT_SOURCES: Registry[FactSource] = Registry("source of facts", [SAMPLE_FACTS, YAGO, OWN_FACTS, GROUPS])
QUESTION_SOURCES: Registry[QuestionSource] = Registry(
    "source of questions", [SAMPLE_QUESTIONS, PUBLISHED, WIKIDATA_QUESTIONS, OWN_QUESTIONS]
)
