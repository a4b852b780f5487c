"""Declarations of sources: their options in study files, and the functions that fetch facts or questions.

The module of a source has one `FactSource` or `QuestionSource`, which swaymeter.data.sources.registry lists.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from pydantic import Field, ValidationInfo, field_validator, model_validator

from swaymeter.data import catalog
from swaymeter.data.catalog import Relation, Sentence
from swaymeter.data.catalog.group_texts import PAIR, SINGLE
from swaymeter.data.digests import content_key
from swaymeter.data.errors import ServiceBudget, ServiceClosed, ServiceError, UnknownName
from swaymeter.data.options import ModelName, Options
from swaymeter.data.records import PARTITIONS, Fact, Partition, Question, Rejected
from swaymeter.data.sources.access import Access, GraphName

if TYPE_CHECKING:
    from swaymeter.data.sources.graph.dump import Graph

Choice = Literal["random", "degree"]
NameSource = Literal["catalog", "names", "model"]
ModelUse = Literal["language_model", "embedder"]
Value = TypeVar("Value", bound=str)


def refuse_repeated(values: tuple[Value, ...], kind: str) -> tuple[Value, ...]:
    """Return the values; ValueError for a repeated value."""
    if len(set(values)) < len(values):
        raise ValueError(f"a {kind} is named twice; name each {kind} once")
    return values


def listed_relations(names: Any, own: Mapping[str, Relation] = MappingProxyType({})) -> tuple[str, ...]:
    """Return the names in a list of relations of the catalog or of `own`, the user's relations.

    Raises:
        ValueError: A name is repeated or unknown.
    """
    if not isinstance(names, list | tuple):
        raise ValueError("expected a list of relations, or `all`")
    try:
        return refuse_repeated(tuple(catalog.relation(str(name), own).name for name in names), "relation")
    except UnknownName as error:
        raise ValueError(str(error)) from None


@dataclass(frozen=True)
class LabelledEntity:
    """An entity (Ada) or a pair (Ada and Ben), with a label (friends) and, if it has one, a type (film)."""

    names: tuple[str, ...]
    label: str
    type: str | None = None

    @property
    def name(self) -> str:
        """Return the name of the entity, or both names of a pair."""
        return " and ".join(self.names)

    @property
    def slots(self) -> dict[str, str]:
        """Return the name for each slot of a text, such as {"entity1": "Ada", "entity2": "Ben"}."""
        slots = PAIR if len(self.names) > 1 else SINGLE
        return dict(zip((slot.strip("{}") for slot in slots), self.names, strict=True))


@dataclass(frozen=True)
class Group:
    """The texts of a relation whose entities have labels in place of answers.

    Attributes:
        entities: The entities, which fill the slots of the texts.
        open: Templates of open queries.
        closed: Templates of closed queries.
        sentences: Sentences from which contexts are written, with or without slots.
    """

    entities: tuple[LabelledEntity, ...]
    open: tuple[str, ...]
    closed: tuple[str, ...]
    sentences: tuple[Sentence, ...]

    @property
    def sentences_per_entity(self) -> int:
        """The number of sentences with a slot; each of these sentences gives a context for each entity."""
        return sum("{" in sentence.text for sentence in self.sentences)

    @property
    def context_count(self) -> int:
        """The number of contexts: a sentence with a slot gives a context for each entity."""
        return len(self.sentences) + (len(self.entities) - 1) * self.sentences_per_entity

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters that the prompts depend on, as JSON values."""
        entities = [asdict(entity) for entity in self.entities]
        sentences = [sentence.model_dump() for sentence in self.sentences]
        return {"entities": entities, "open": self.open, "closed": self.closed, "sentences": sentences}


class FactsOptions(Options):
    """Relations, the numbers of their real and invented entities, and the origin of invented names."""

    display_name: ClassVar[str]
    """The source's name in error messages, such as "YAGO"."""
    refuses: ClassVar[Mapping[str, str]] = {}
    """Sections, kinds of measures and exports that are impossible with facts of the source, each with the reason."""
    names_own_relations: ClassVar[bool] = False
    """True to accept relations beyond the catalog's."""

    source: str
    """Name of the source of the facts."""
    relations: tuple[str, ...] = ()
    """Names of relations (`swaymeter list relations` lists them), or `all` for every relation of the source."""
    real_entities: int = Field(default=4, ge=0, le=100_000)
    """Number of real entities of each relation."""
    invented_entities: int = Field(default=4, ge=0, le=100_000)
    """Number of invented entities of each relation."""
    choice: Choice = "random"
    """Choice of real entities: at random, or by the highest degree in the graph."""
    invented: NameSource = "catalog"
    """Origin of invented names: the catalog's lists, a generator of names, or a language model."""
    invented_model: ModelName | None = None
    """The language model that invents names if `invented` is model."""
    absent_from: tuple[GraphName, ...] | None = None
    """The graphs in which invented names must not occur; null: the source's default."""

    @classmethod
    def available_relations(cls) -> tuple[str, ...]:
        """Return the relations of the source, in the catalog's order."""
        raise NotImplementedError

    @field_validator("relations", mode="before")
    @classmethod
    def _check_relations(cls, names: Any, info: ValidationInfo) -> Any:
        available = cls.available_relations()
        if names == "all":
            return available
        relations = listed_relations(names)
        for name in relations:
            if name not in available:
                raise ValueError(
                    f"relation {name} is not in {cls.display_name}; leave the relation out, or choose another source"
                )
        return relations

    @model_validator(mode="after")
    def _possible_entities(self) -> "FactsOptions":
        if self.relations and self.real_entities + self.invented_entities == 0:
            raise ValueError("real_entities and invented_entities are both 0; set one of the two keys to at least 1")
        if (self.invented == "model") != (self.invented_model is not None):
            raise ValueError("`invented: model` and `invented_model` go together; set both keys, or neither key")
        return self

    @property
    def own_relations(self) -> Mapping[str, Relation]:
        """Return the relations beyond the catalog's, by name."""
        return {}

    def relation(self, name: str) -> Relation:
        """Return the relation with this name, from the user's file or the catalog; UnknownName for an unknown name."""
        return catalog.relation(name, self.own_relations)

    def group(self, relation: str, seed: int) -> Group | None:
        """Return the texts for a relation's prompts; None if prompts are written from facts.

        Raises:
            InputError: The texts cannot be read or made.
        """
        return None


class QuestionsOptions(Options):
    """DynamicQA-style questions, and the number of each partition."""

    published: ClassVar[Mapping[str, int]] = {}
    """Number of questions of each partition, if known before the fetch."""
    prompts_per_question: ClassVar[int | None] = 3
    """Number of prompts of a question: closed-book, and one for each context; None if the number varies."""

    source: str
    """Name of the source of the questions."""
    partitions: tuple[Partition, ...] = PARTITIONS
    """The partitions of the study."""
    per_partition: int | None = Field(default=8, ge=1)
    """Number of questions of each partition, drawn by the study's seed; null for all."""
    annotated: bool = False
    """true: only questions that annotators accepted or changed (docs/judgements.md)."""

    @property
    def draw_options(self) -> dict[str, Any]:
        """Return the options that change the contexts of chosen questions but not the fetched rows, as JSON values."""
        return {}

    def askable(self, questions: Sequence[Question]) -> "FetchedQuestions":
        """Return the fetched questions that can be drawn, and a row for each rejected question."""
        return FetchedQuestions(questions)

    def arrange(self, questions: Sequence[Question]) -> Sequence[Question]:
        """Return the chosen questions with the contexts of the study."""
        return questions

    @field_validator("partitions")
    @classmethod
    def _check_partitions(cls, partitions: tuple[Partition, ...]) -> tuple[Partition, ...]:
        if not partitions:
            raise ValueError("no partition is named; name a partition, or leave `partitions` out for all partitions")
        return refuse_repeated(partitions, "partition")


@dataclass(frozen=True)
class FetchedFacts:
    """The facts of a relation, in the order of the source.

    Attributes:
        rejected: Number of rejected candidates, by reason.
        examined: Number of examined candidates; 0 for a source that rejects none.
    """

    facts: Sequence[Fact]
    rejected: Mapping[str, int] = field(default_factory=dict)
    examined: int = 0


@dataclass(frozen=True)
class FetchedQuestions:
    """The questions of a partition, in the order of the source, and the rejected candidates."""

    questions: Sequence[Question]
    rejected: Sequence[Rejected] = ()


def named_graphs(options: FactsOptions, access: Access) -> list["Graph"]:
    """Return the graphs that the study names under `absent_from`."""
    from swaymeter.data.sources.graph.dump import Graph  # needs requests, which a bare GPU machine lacks

    return [Graph(name, access) for name in options.absent_from or ()]


@dataclass(frozen=True)
class FactSource:
    """A source of facts.

    Attributes:
        name: the name in study files, `facts.source`.
        options: the pydantic model of the section `facts`.
        key: (options, relation, seed, access) -> all inputs of the fetched facts as JSON values; InputError for an
            unreadable input.
        fetch: (options, relation, seed, access) -> the facts; InputError or an empty sequence without facts.
        graphs: (options, access) -> the graphs in which invented names must not occur.
        graph: (options, access) -> the graph of the facts; None for a source that is not a graph.
        at_hand: True if the facts are read without a service, so that a run with too few facts is refused at its start.
    """

    name: str
    options: type[FactsOptions]
    key: Callable[[Any, str, int, Access], Mapping[str, Any]]
    fetch: Callable[[Any, str, int, Access], FetchedFacts]
    graphs: Callable[[Any, Access], Sequence["Graph"]] = named_graphs
    graph: Callable[[Any, Access], "Graph"] | None = None
    at_hand: bool = False

    @classmethod
    def from_file(
        cls, name: str, options: type[FactsOptions], version: int, facts: Callable[[Any, str, int], Sequence[Fact]]
    ) -> "FactSource":
        """Return a source of facts in a file; `facts` reads the facts from options, relation and seed.

        The key depends only on the facts of the relation, not on other content of the file.
        """

        def key(section: Any, relation: str, seed: int, access: Access) -> Mapping[str, Any]:
            rows = [asdict(fact) for fact in facts(section, relation, seed)]
            return {"source": name, "version": version, "facts": content_key({"facts": rows})}

        def fetch(section: Any, relation: str, seed: int, access: Access) -> FetchedFacts:
            return FetchedFacts(facts(section, relation, seed))

        return cls(name, options, key, fetch, at_hand=True)


@dataclass(frozen=True)
class QuestionSource:
    """A source of questions; `name` and `options` mean the same as in `FactSource`.

    Attributes:
        key: (options, partition, access) -> all inputs of the fetched questions as JSON values.
        fetch: (options, partition, access) -> the questions of a partition; InputError without questions. Both `key`
            and `fetch` are None if several steps of the study build the questions.
        models: (options, the study's first model) -> the models that help to build the questions, by their use,
            such as embedder.
    """

    name: str
    options: type[QuestionsOptions]
    key: Callable[[Any, Partition, Access], Mapping[str, Any]] | None = None
    fetch: Callable[[Any, Partition, Access], FetchedQuestions] | None = None
    models: Callable[[Any, str], Mapping[ModelUse, str]] = lambda options, first_model: {}

    @property
    def needs_several_steps(self) -> bool:
        """True if several steps of the study build the questions; False if one step fetches each partition."""
        return self.fetch is None


@contextmanager
def with_advice(advice: str) -> Iterator[None]:
    """Add advice to a service's error in the block, unless the request budget is spent or the run has ended."""
    try:
        yield
    except (ServiceBudget, ServiceClosed):
        raise
    except ServiceError as error:
        raise type(error)(f"{error}; {advice}" if advice else str(error)) from None
