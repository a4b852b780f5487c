"""Corpus frequency: counts of entities, and of entities near their answers, in a corpus such as training data.

The package imports `data` and, of `swaymeter.tasks.models`, only the tokenizers.
"""

from swaymeter.data.named import Registry
from swaymeter.tasks.frequency.corpus import CORPUS
from swaymeter.tasks.frequency.infini_gram import INFINI_GRAM
from swaymeter.tasks.frequency.source import FrequencySource

FREQUENCY_SOURCES: Registry[FrequencySource] = Registry("source of counts", [CORPUS, INFINI_GRAM])
"""The sources that a study file can name; the first is the default."""
