"""The part of a study file that says which questions are asked: bundled, published, or made anew from live sources."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from data.records import PARTITIONS, Partition
from flows.study.facts import Part

CONTROVERSIAL = "Wikipedia:List of controversial issues"

PropertyId = Annotated[str, Field(pattern=r"^P[1-9][0-9]*$")]


class SeedsPart(Part):
    """Which facts of Wikidata become static and temporal questions.

    source: PopQA's list (`file`, or from its hub), any other list (`file`, a CSV of triples), or pairs that Wikidata's
    query service draws. properties: only these; all of a list where none are named. each: how many facts of a property
    are looked at, drawn by the study's seed; all where it is null.
    """

    source: Literal["popqa", "file", "wikidata"] = "popqa"
    file: str | None = None
    properties: tuple[PropertyId, ...] = ()
    each: int | None = Field(default=100, ge=1, le=1_000_000)

    @model_validator(mode="after")
    def _possible(self) -> "SeedsPart":
        if self.source == "file" and not self.file:
            raise ValueError("source file needs `file`, a CSV of Wikidata triples")
        if self.source == "wikidata" and self.file:
            raise ValueError("`file` is for source popqa or file")
        if self.source == "wikidata" and not (self.properties and self.each):
            raise ValueError("source wikidata needs `properties`, such as [P36], and `each`, a number of facts")
        if len(set(self.properties)) < len(self.properties):
            raise ValueError("a property is named twice")
        return self


class DisputesPart(Part):
    """Which pages are searched for disputes, and how.

    pages: titles; where none are named, those that `listed_on` links to, of which `most` are drawn by the study's seed.
    span: the most words of a disputed span; similarity: spans that are more alike say the same. writer: the language
    model that writes the questions, by default the study's first.
    """

    pages: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    listed_on: str = Field(default=CONTROVERSIAL, min_length=1)
    most: int | None = Field(default=50, ge=1)
    span: int = Field(default=5, ge=1, le=50)
    similarity: float = Field(default=0.98, gt=0, le=1)
    writer: str | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _once(self) -> "DisputesPart":
        if len(set(self.pages)) < len(self.pages):
            raise ValueError("a page is named twice")
        return self


class QuestionsPart(Part):
    """Which DynamicQA-style questions: the bundled sample, the published CSV files, or made from live sources.

    folder: of the published files; they are downloaded where it is not named. words: the most words of a snippet.
    months: over how many of the last ones page views are averaged. counter_memory: what finds the answer that is put in
    the object's place, Wembedder, and embeddings where it knows none; or embeddings alone. embedder: what compares
    entities and spans.
    annotated: only questions that annotators accepted or changed.
    """

    source: Literal["sample", "dynamicqa", "wikidata"] = "sample"
    folder: str | None = None
    partitions: tuple[Partition, ...] = PARTITIONS
    per_partition: int | None = Field(default=8, ge=1)
    seeds: SeedsPart = SeedsPart()
    disputes: DisputesPart = DisputesPart()
    words: int = Field(default=80, ge=5, le=2000)
    months: int = Field(default=12, ge=1, le=120)
    counter_memory: Literal["wembedder", "embeddings"] = "wembedder"
    embedder: str = Field(default="all-minilm-l6-v2", min_length=1)
    annotated: bool = False

    @model_validator(mode="after")
    def _possible(self) -> "QuestionsPart":
        if self.source != "dynamicqa" and self.folder:
            raise ValueError("`folder` is for source dynamicqa")
        live = self.model_fields_set & {"seeds", "disputes", "words", "months", "counter_memory", "embedder"}
        if self.source != "wikidata" and live:
            raise ValueError(f"`{sorted(live)[0]}` is for source wikidata")
        if not self.partitions:
            raise ValueError("no partition is named; leave `partitions` out for all of them")
        if len(set(self.partitions)) < len(self.partitions):
            raise ValueError("a partition is named twice")
        return self

    @property
    def of_facts(self) -> bool:
        """Whether facts of Wikidata are made into questions."""
        return self.source == "wikidata" and bool({"static", "temporal"} & set(self.partitions))

    @property
    def of_disputes(self) -> bool:
        """Whether disputes on pages of Wikipedia are."""
        return self.source == "wikidata" and "disputable" in self.partitions
