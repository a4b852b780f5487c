"""What a measure declares, what its `compute` receives and gives, and what is computed, and stored, together.

A query stands behind every context of its relation, or behind a sample of its own: some contexts that are relevant, as
they mention the query's entity, and others that are not, drawn without replacement by the study's seed and the query's
id, in the order of the relation's contexts.

Source of the samples: Liu et al. 2024, Efficiently Computing Susceptibility to Context: 256 contexts, 8 of them
relevant.
"""

import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import AfterValidator

from swaymeter.data import catalog
from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.errors import InputError, UsageError
from swaymeter.data.named import Registry
from swaymeter.data.options import Options
from swaymeter.data.randomness import generator
from swaymeter.data.records import Context, Query, Question, is_relevant
from swaymeter.data.records.row import table_of
from swaymeter.data.records.score import Score
from swaymeter.data.records.table import Table
from swaymeter.tasks.models.capabilities import Capability

if TYPE_CHECKING:
    import pyarrow as pa

    from swaymeter.tasks.models.endpoints.endpoint import Endpoint
    from swaymeter.tasks.models.generation.decoding import Decoding


@dataclass(frozen=True)
class PerQuery:
    """How many contexts a query is asked with, and how many of them are relevant."""

    contexts: int
    relevant: int


def own_sample(query: Query, contexts: Sequence[Context], per_query: PerQuery, seed: int) -> list[Context]:
    """The contexts that a query is asked with; InputError where its relation has too few of a kind."""
    of_kind: dict[bool, list[int]] = {True: [], False: []}
    for place, context in enumerate(contexts):
        of_kind[is_relevant(context, query)].append(place)
    check_enough(query.relation, query.entity, len(of_kind[True]), len(of_kind[False]), per_query)
    draw = generator(seed, "contexts of a query", query.query_id)
    counts = {True: per_query.relevant, False: per_query.contexts - per_query.relevant}
    places = [
        of_kind[kind][drawn]
        for kind, count in counts.items()
        for drawn in draw.choice(len(of_kind[kind]), size=count, replace=False)
    ]
    return [contexts[place] for place in sorted(places)]


def check_enough(relation: str, entity: str, relevant: int, others: int, per_query: PerQuery) -> None:
    """Raises InputError where a relation has too few contexts that are relevant to an entity's queries, or others."""
    for kind, count, known in (
        ("relevant", per_query.relevant, relevant),
        ("other", per_query.contexts - per_query.relevant, others),
    ):
        if known < count:
            raise InputError(
                f"contexts.per_query: relation {relation} has {known} {kind} contexts for queries about {entity}, "
                f"{count} are asked for; ask for fewer, or have more written about each entity"
            )


About = Literal["contexts", "queries", "questions"]
"""The prompts of a relation: contexts before its queries, every query alone, or questions with their contexts."""

INPUTS: Mapping[About, tuple[str, ...]] = {
    "contexts": ("queries", "contexts"),
    "queries": ("queries",),
    "questions": ("questions",),
}
"""The tables of prompts that a measure about them reads."""

Chunk = Sequence[Any]
"""Queries or questions that are computed, and stored, together."""

Row = Mapping[str, Any]
"""A row of scores. It lacks the relation, and of the provenance columns of `Score` those that the model says: all but
the engine. A row that is derived from stored ones has all of them, inherited from these."""

Computed = Generator[Mapping[str, Sequence[Row]], None, None]
"""The rows of each chunk, in order, by measure."""


class Parameters(Options):
    """The parameters of a measure in a study file; an unknown key is refused."""


def at_least_or_none(least: int, without: str) -> AfterValidator:
    """Refuses a number of draws from which no spread can be estimated; without: what 0 draws are for."""

    def enough(draws: int) -> int:
        if 0 < draws < least:
            raise ValueError(f"{draws} are too few to estimate their spread; use at least {least}, or 0 {without}")
        return draws

    return AfterValidator(enough)


def _no_server(endpoint: "Endpoint") -> Any:
    raise UsageError(f"model {endpoint.name}: a model at a server is asked within a study; run one, or name a folder")


@dataclass(frozen=True)
class Inputs:
    """What a pass over one relation with one model reads: the study's seed, and the prompts that the pass is about.

    dataset_version: the digest of the prompts; scores: the stored rows of the measures that are needed, by name;
    outputs: the measures that the pass has to yield; parameters: of these and of those that they need, by name; device:
    where models are loaded, as a study names it; batch_size: prompts that are answered at once, None for as many as are
    worth it; rejected: the questions that the stored rows are not of, by their ids, and why; answer_prompts: how
    questions are put; per_query: what each query's own sample of the contexts has, None where every context stands
    before every query; variant, called: the key of what is asked, and what scores call it, "" for the model's name;
    decoding: of answers, None for the model's own distribution;
    load_served: gives the model at an endpoint, where a measure asks another one than the study's.
    """

    relation: str
    seed: int
    dataset_version: str
    queries: Sequence[Query] = ()
    contexts: Sequence[Context] = ()
    questions: Sequence[Question] = ()
    scores: Mapping[str, "pa.Table"] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    outputs: frozenset[str] = frozenset()
    device: str = "auto"
    batch_size: int | None = None
    rejected: Mapping[str, str] = field(default_factory=dict)
    answer_prompts: AnswerPrompts = field(default_factory=catalog.prompts)
    per_query: PerQuery | None = None
    variant: str = ""
    called: str = ""
    decoding: "Decoding | None" = None
    load_served: "Callable[[Endpoint], Any]" = _no_server
    verdicts: Path | None = None
    """The folder of stored verdicts of judges; None to store none."""

    @property
    def start_token(self) -> bool:
        """Whether contexts and queries have the tokenizer's start token, where it has one."""
        return self.answer_prompts.start_token == "tokenizer"

    @property
    def contexts_a_query(self) -> int:
        """How many contexts a query is asked with."""
        return self.per_query.contexts if self.per_query else len(self.contexts)

    def asked(self, queries: Sequence[Query]) -> Iterator[tuple[Sequence[Query], Sequence[Context]]]:
        """The queries, those that are asked with the same contexts together, and these contexts; in their order."""
        if self.per_query is None:
            yield queries, self.contexts
            return
        for query in queries:
            yield [query], own_sample(query, self.contexts, self.per_query, self.seed)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure that a study can name, by the name of its table.

    row: its row type, a dataclass below `Score` that is decorated with @table; version: raised when the same inputs
    give other numbers; meaning: what it measures, in one clause; about: the prompts that it is about; unit: of its
    scores, "" for counts and truth values; capability: what it needs of a model, None for a measure that is derived
    from stored scores; requires: what else a model must give for it, such as log-probabilities of the answers' tokens;
    needs: the measures whose stored rows it is computed from; pass_of: the measure whose pass
    yields this one, too, where both are missing; parameters: the model of its parameters; every_context: whether it
    needs every context of a relation before every query, and no samples of them; needs_answers: whether it is of
    what is true of an entity, or stated: queries of groups have no such answer; leaves_out: whether it reads a context
    of several passages also without each of them.

    Functions:
        compute: (inputs, model, chunk) -> the rows of the chunk. The model is None for a derived measure.
        compute_chunks: in place of `compute`: (inputs, model, chunks) -> the rows of each chunk in order, also those of
            other measures of the same pass.
        depends_on: (parameters) -> what else its numbers depend on, by name: revisions of other models, wordings.
        applies: (parameters, dtype) -> whether it says anything about a model in that dtype; always by default.
        other_model: (inputs, model) -> another language model that it asks, whose forward passes count, too.
        unfit: (inputs, model, question) -> why the model cannot be asked a question, None where it can.
        chunks: (inputs, model) -> what is computed and stored together; by default see `chunks_of`.
        prompts: (parameters, queries, contexts) -> how many prompts a model reads for so many of them; by default all
            of those that it is about. --dry-run gives all queries of a relation, a run those of a chunk.
    """

    row: type[Score]
    version: int
    meaning: str
    about: About
    unit: str = ""
    compute: Callable[[Inputs, Any, Chunk], Iterable[Row]] | None = None
    compute_chunks: Callable[[Inputs, Any, Sequence[Chunk]], Computed] | None = None
    capability: Capability | None = None
    requires: Capability | None = None
    needs: tuple[str, ...] = ()
    pass_of: str | None = None
    parameters: type[Parameters] = Parameters
    depends_on: Callable[[Any], Mapping[str, str]] = lambda parameters: {}
    applies: Callable[[Any, str], bool] = lambda parameters, dtype: True
    other_model: Callable[[Inputs, Any], Any] = lambda inputs, model: None
    every_context: bool = False
    needs_answers: bool = False
    leaves_out: bool = False
    unfit: Callable[[Inputs, Any, Question], str | None] = lambda inputs, model, question: None
    chunks: Callable[[Inputs, Any], Sequence[Chunk]] | None = None
    prompts: Callable[[Any, int, int], int] | None = None

    def __post_init__(self) -> None:
        if (self.compute is None) == (self.compute_chunks is None):
            raise TypeError(f"measure {self.name}: declare compute or compute_chunks, one of the two")
        if self.capability is None and not self.needs:
            raise TypeError(f"measure {self.name}: declare the capability of a model, or the measures that it needs")
        units = {column.unit for column in self.table.columns}
        if self.unit and self.unit not in units:
            raise TypeError(f"measure {self.name}: no column has the unit {self.unit!r}, only {sorted(units - {''})}")

    @property
    def table(self) -> Table:
        """The table of its rows."""
        return table_of(self.row)

    @property
    def name(self) -> str:
        """The name of its table, and its key in study files."""
        return self.table.name

    def rows_of_chunks(self, inputs: Inputs, model: Any, chunks: Sequence[Chunk]) -> Computed:
        """The rows of each chunk, in order."""
        if self.compute_chunks is not None:
            yield from self.compute_chunks(inputs, model, chunks)
        elif self.compute is not None:
            for chunk in chunks:
                yield {self.name: list(self.compute(inputs, model, chunk))}

    def count_prompts(
        self, parameters: Any, *, queries: int = 0, contexts: int = 0, cases: int = 0, left_out: int = 0
    ) -> int:
        """How many prompts a model reads or answers for so many of each; 0 for a derived measure.

        cases: questions alone, and each with each of its contexts; left_out: the passages of contexts of several, each
        of which is left out once.
        """
        if self.prompts is not None:
            return self.prompts(parameters, queries, contexts)
        if self.capability is None:
            return 0
        of_questions = cases + left_out * self.leaves_out
        return {"contexts": queries * contexts, "queries": queries, "questions": of_questions}[self.about]


class Measures(Registry[Measure]):
    """The measures by name, each after those that it needs."""

    def __init__(self, measures: Iterable[Measure]) -> None:
        super().__init__("measure", measures)

    def add(self, item: Measure) -> None:
        """Adds a measure at the end; ValueError where its name is taken, or one that it needs is not listed yet."""
        if absent := [need for need in item.needs if need not in self]:
            raise ValueError(f"measure {item.name} needs {absent}, which are not listed; add these first")
        super().add(item)


LEAST_QUERIES = 32
LEAST_PROMPTS = 8192
"""What a chunk of queries holds at least, if there is as much: enough to keep a machine busy, little enough to lose."""

QUESTIONS_A_CHUNK = {"cpu": 32, "cuda": 128}
"""Enough to keep a model busy; the distributions along their answers take some hundred megabytes, or thousands."""

Item = TypeVar("Item")


def chunks_of(measure: Measure, inputs: Inputs, model: Any) -> Sequence[Chunk]:
    """What a measure computes and stores together; one chunk for a measure that is derived from stored scores."""
    if measure.chunks is not None:
        return measure.chunks(inputs, model)
    if measure.capability is None:
        return [inputs.questions if measure.about == "questions" else by_form(inputs.queries)]
    if measure.about == "questions":
        return cut_questions(inputs, model)
    return cut_by_form(inputs.queries, inputs.contexts_a_query if measure.about == "contexts" else 1)


def cut_questions(inputs: Inputs, model: Any) -> Sequence[Chunk]:
    """The questions in chunks, larger ones on a GPU; model: None where no language model is needed."""
    return cut(inputs.questions, QUESTIONS_A_CHUNK[model.device.partition(":")[0] if model else "cpu"])


def cut_by_form(queries: Sequence[Query], each: int) -> list[Sequence[Query]]:
    """The queries in chunks, those of a form together; each: what one query takes, in prompts or what costs as much."""
    return cut(by_form(queries), max(LEAST_QUERIES, math.ceil(LEAST_PROMPTS / max(each, 1))))


def by_form(queries: Sequence[Query]) -> list[Query]:
    """The queries of a form together: they have a common prefix, which an engine then reads once, and like lengths."""
    return sorted(queries, key=lambda query: (query.query_type, query.form))


def cut(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """The items in chunks of `size`, the last one perhaps smaller."""
    return [items[start : start + size] for start in range(0, len(items), size)]
