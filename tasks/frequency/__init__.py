"""How often names stand in a corpus: its words, the names that are looked for, and the sources that count them.

This package imports `data`, and of `tasks.models` tokenizers alone.
"""

from data.named import Registry
from tasks.frequency.corpus import CORPUS
from tasks.frequency.infini_gram import INFINI_GRAM
from tasks.frequency.source import FrequencySource

FREQUENCY_SOURCES: Registry[FrequencySource] = Registry("source of counts", [CORPUS, INFINI_GRAM])
"""The sources that a study file can name; the first is the default."""
