"""The sources that a study file can name; the first of each list is the default."""

from swaymeter.data.named import Registry
from swaymeter.data.sources.dynamicqa.published import PUBLISHED
from swaymeter.data.sources.graph.yago import YAGO
from swaymeter.data.sources.own.facts import OWN_FACTS
from swaymeter.data.sources.own.groups import GROUPS
from swaymeter.data.sources.own.source import OWN_QUESTIONS
from swaymeter.data.sources.published.clasheval import CLASHEVAL
from swaymeter.data.sources.published.conflictqa import CONFLICT_QA
from swaymeter.data.sources.published.cub import CUB
from swaymeter.data.sources.published.faitheval import FAITHEVAL
from swaymeter.data.sources.published.nq_swap import NQ_SWAP
from swaymeter.data.sources.published.popqa import POP_QA
from swaymeter.data.sources.published.ramdocs import RAMDOCS
from swaymeter.data.sources.published.rgb import RGB
from swaymeter.data.sources.published.wikicontradict import WIKI_CONTRADICT
from swaymeter.data.sources.sample import SAMPLE_FACTS, SAMPLE_QUESTIONS
from swaymeter.data.sources.source import FactSource, QuestionSource
from swaymeter.data.sources.wikimedia.options import WIKIDATA_QUESTIONS

FACT_SOURCES: Registry[FactSource] = Registry("source of facts", [SAMPLE_FACTS, YAGO, OWN_FACTS, GROUPS])
DATA_SETS = (CUB, FAITHEVAL, CLASHEVAL, RAMDOCS, CONFLICT_QA, NQ_SWAP, RGB, WIKI_CONTRADICT, POP_QA)
"""The published data sets of knowledge conflicts, which are read from a file or folder that a study names."""

QUESTION_SOURCES: Registry[QuestionSource] = Registry(
    "source of questions", [SAMPLE_QUESTIONS, PUBLISHED, WIKIDATA_QUESTIONS, OWN_QUESTIONS, *DATA_SETS]
)
