"""The sources that a study file can name; the first of each list is the default."""

from data.named import Registry
from data.sources.dynamicqa.published import PUBLISHED
from data.sources.graph.source import YAGO
from data.sources.own.facts import OWN_FACTS
from data.sources.own.groups import GROUPS
from data.sources.own.source import OWN_QUESTIONS
from data.sources.sample import SAMPLE_FACTS, SAMPLE_QUESTIONS
from data.sources.source import FactSource, QuestionSource
from data.sources.wikimedia.options import WIKIDATA_QUESTIONS

FACT_SOURCES: Registry[FactSource] = Registry("source of facts", [SAMPLE_FACTS, YAGO, OWN_FACTS, GROUPS])
QUESTION_SOURCES: Registry[QuestionSource] = Registry(
    "source of questions", [SAMPLE_QUESTIONS, PUBLISHED, WIKIDATA_QUESTIONS, OWN_QUESTIONS]
)
