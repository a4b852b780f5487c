"""Corpus frequency: names of entities and answers, the words of a corpus, and the sources of counts.

The package imports `data`, and only the tokenizers of `swaymeter.tasks.models`.
"""

from swaymeter.data.named import Registry
from swaymeter.tasks.frequency.corpus import CORPUS
from swaymeter.tasks.frequency.infini_gram import INFINI_GRAM
from swaymeter.tasks.frequency.source import FrequencySource

FREQUENCY_SOURCES: Registry[FrequencySource] = Registry("source of counts", [CORPUS, INFINI_GRAM])
"""The sources that a study file can name; the first is the default."""
