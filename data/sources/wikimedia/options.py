"""The keys of a study file for questions that are built from the current Wikidata and Wikipedia."""

from functools import partial
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from swaymeter.data.options import ModelName, NamedPath, Options
from swaymeter.data.sources.source import ModelUse, QuestionsOptions, QuestionSource, refuse_repeated

CONTROVERSIAL = "Wikipedia:List of controversial issues"
"""The default page of links to the pages that are searched for disputes."""

PropertyId = Annotated[str, Field(pattern=r"^P[1-9][0-9]*$")]
Title = Annotated[str, Field(min_length=1)]


class TriplesOptions(Options):
    """Triples of Wikidata that become static and temporal questions."""

    source: Literal["popqa", "file", "wikidata"] = "popqa"
    """popqa: PopQA's list, from `file` or the Hugging Face hub. file: the list in `file`. wikidata: pairs drawn by
    Wikidata's query service."""
    file: NamedPath | None = None
    """A copy of PopQA's list, or a list of triples in CSV, JSON or Parquet."""
    properties: Annotated[tuple[PropertyId, ...], AfterValidator(partial(refuse_repeated, kind="property"))] = ()
    """Only these properties, such as P36; empty for all properties of a list."""
    per_property: int | None = Field(default=100, ge=1, le=1_000_000)
    """Number of triples of each property, drawn by the study's seed; null for all triples of a list."""

    @model_validator(mode="after")
    def _complete(self) -> "TriplesOptions":
        if self.source == "file" and not self.file:
            raise ValueError("`source: file` needs the key `file`; name a CSV file of Wikidata triples")
        if self.source == "wikidata" and self.file:
            raise ValueError("`file` cannot be used with `source: wikidata`; remove the key `file`")
        if self.source == "wikidata" and not (self.properties and self.per_property):
            raise ValueError("`source: wikidata` needs `properties`, such as [P36], and `per_property`; set both keys")
        return self


class DisputesOptions(Options):
    """Pages of Wikipedia that are searched for disputes, and the limits of the search."""

    pages: Annotated[tuple[Title, ...], AfterValidator(partial(refuse_repeated, kind="page"))] = ()
    """Titles of pages; empty for the pages that `list_page` links to."""
    list_page: str = Field(default=CONTROVERSIAL, min_length=1)
    """The page with links to the searched pages."""
    max_pages: int | None = Field(default=50, ge=1)
    """Number of pages of `list_page`, drawn by the study's seed; null for all."""
    max_span_words: int = Field(default=5, ge=1, le=50)
    """Limit of the words of a disputed span."""
    similarity: float = Field(default=0.98, gt=0, le=1)
    """Cosine similarity above which two spans mean the same."""
    writer: ModelName | None = Field(default=None, min_length=1)
    """The language model that writes the questions; null: the study's first model."""


class WikidataQuestions(QuestionsOptions):
    """Static and temporal questions built from the current Wikidata, and disputable questions from Wikipedia."""

    source: Literal["wikidata"] = "wikidata"
    """The current Wikidata and Wikipedia."""
    triples: TriplesOptions = TriplesOptions()
    """Triples that become static and temporal questions."""
    disputes: DisputesOptions = DisputesOptions()
    """Pages that are searched for disputes."""
    snippet_words: int = Field(default=80, ge=5, le=2000)
    """Limit of the words of a snippet."""
    months: int = Field(default=12, ge=1, le=120)
    """Number of the last months over which page views are averaged."""
    counter_memory: Literal["wembedder", "embeddings"] = "wembedder"
    """Origin of the answer that replaces the object. embeddings: an item that the model `embedder` finds similar to the
    object. wembedder: an item that the service Wembedder finds similar; without such an item, as for embeddings."""
    embedder: ModelName = Field(default="all-minilm-l6-v2", min_length=1)
    """The embedding model that compares entities and spans."""

    @property
    def needs_triples(self) -> bool:
        """True if the study has static or temporal questions."""
        return bool({"static", "temporal"} & set(self.partitions))

    @property
    def needs_disputes(self) -> bool:
        """True if the study has disputable questions."""
        return "disputable" in self.partitions


def _models(options: WikidataQuestions, first_model: str) -> dict[ModelUse, str]:
    models: dict[ModelUse, str] = {"embedder": options.embedder}
    if options.needs_disputes:
        models["language_model"] = options.disputes.writer or first_model
    return models


WIKIDATA_QUESTIONS = QuestionSource("wikidata", WikidataQuestions, models=_models)
