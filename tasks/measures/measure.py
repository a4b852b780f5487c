"""The declaration of a measure, the inputs and outputs of its `compute`, and the chunks that are stored together.

A query is put after every context of its relation, or after the contexts of its own sample. The sample has relevant
contexts, which mention the query's entity, and other contexts. The study's seed and the query's id draw the sample
without replacement. Sampled contexts keep the order of the relation's contexts.

Source: Liu et al. 2024, Efficiently Computing Susceptibility to Context: samples of 256 contexts, 8 of them relevant.
"""

import math
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

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
    """The size of a query's own sample of contexts.

    Attributes:
        contexts: number of contexts.
        relevant: number of contexts among them that mention the query's entity.
    """

    contexts: int
    relevant: int


def own_sample(query: Query, contexts: Sequence[Context], per_query: PerQuery, seed: int) -> list[Context]:
    """Draw the contexts of a query; InputError if its relation has too few relevant or other contexts."""
    by_relevance: dict[bool, list[int]] = {True: [], False: []}
    for index, context in enumerate(contexts):
        by_relevance[is_relevant(context, query)].append(index)
    check_enough(query.relation, query.entity, len(by_relevance[True]), len(by_relevance[False]), per_query)
    draw = generator(seed, "contexts of a query", query.query_id)
    counts = {True: per_query.relevant, False: per_query.contexts - per_query.relevant}
    indices = [
        by_relevance[kind][position]
        for kind, count in counts.items()
        for position in draw.choice(len(by_relevance[kind]), size=count, replace=False)
    ]
    return [contexts[index] for index in sorted(indices)]


def check_enough(relation: str, entity: str, relevant: int, others: int, per_query: PerQuery) -> None:
    """Raise InputError if too few contexts of a relation mention an entity, or too few do not mention it."""
    for verb, count, available in (
        ("mention", per_query.relevant, relevant),
        ("do not mention", per_query.contexts - per_query.relevant, others),
    ):
        if available < count:
            raise InputError(
                f"contexts.per_query: relation {relation} needs {count} contexts that {verb} {entity}, but has only "
                f"{available} of these; lower the number in `per_query`, or raise the numbers of contexts per entity "
                "under `contexts`"
            )


About = Literal["contexts", "queries", "questions"]
"""The prompts of a measure: contexts before queries, queries alone, or questions with their contexts."""

INPUTS: Mapping[About, tuple[str, ...]] = {
    "contexts": ("queries", "contexts"),
    "queries": ("queries",),
    "questions": ("questions",),
}
"""The tables of prompts that a measure reads."""

Chunk = Sequence[Any]
"""Queries or questions that are computed and stored together."""

Row = Mapping[str, Any]
"""A row of scores.

The measure sets the column `engine`; `stored_chunks` adds the other columns of `Score`, such as the relation and the
model. A row that is derived from stored rows already has all of these columns.
"""

ComputedRows = Generator[Mapping[str, Sequence[Row]], None, None]
"""A generator that yields a mapping for each chunk, in order: name of a measure -> its rows of the chunk."""


class Parameters(Options):
    """The parameters of a measure in a study file; unknown keys are refused."""

    not_in_key: ClassVar[frozenset[str]] = frozenset()
    """Names of parameters without influence on the scores."""

    @property
    def key_inputs(self) -> dict[str, Any]:
        """The parameters as a part of the key of scores."""
        return self.model_dump(mode="json", exclude={*self.not_in_key})


def zero_or_at_least(least: int, zero_effect: str) -> AfterValidator:
    """Return a validator that refuses fewer draws than a standard error needs, and accepts 0.

    Args:
        least: the least number of draws for a standard error.
        zero_effect: the effect of 0 draws in the message, such as "for no standard errors".
    """

    def check(draws: int) -> int:
        if 0 < draws < least:
            raise ValueError(f"{draws} is too small for a standard error; use at least {least}, or 0 {zero_effect}")
        return draws

    return AfterValidator(check)


def _no_server(endpoint: "Endpoint") -> Any:
    raise UsageError(
        f"model {endpoint.name}: a model at a server is used only within a study; run a study, or name a model's folder"
    )


@dataclass(frozen=True)
class Inputs:
    """The inputs of a pass over one relation with one model.

    Attributes:
        relation: the relation.
        seed: the seed of the study.
        dataset_version: the digest of the prompts.
        queries, contexts, questions: the prompts of the pass.
        scores: the stored rows of the measures that the pass reads, by name of the measure.
        parameters: parameters of the measures of the pass and of the measures that these need, by name.
        outputs: the measures that the pass must yield.
        device: the device of models, as a study names it, such as auto or cuda.
        batch_size: prompts of a batch; None for the default of the device.
        rejected: rejection reasons of the questions that the pass leaves out, by id.
        answer_prompts: the instructions for short answers, and the start token.
        per_query: the size of each query's own sample of contexts; None for every context before every query.
        variant: the key of the variant.
        label: the name of the variant in scores; "" for the name of the model.
        decoding: the contrastive decoding; None for the model's own distribution.
        load_served: loads a model at an endpoint, for measures that use a further model, such as a judge.
        verdicts: the folder of stored verdicts of judges; None to store no verdicts.
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
    label: str = ""
    decoding: "Decoding | None" = None
    load_served: "Callable[[Endpoint], Any]" = _no_server
    verdicts: Path | None = None

    @property
    def start_token(self) -> bool:
        """True if contexts and queries have the start token of the tokenizer."""
        return self.answer_prompts.start_token == "tokenizer"

    @property
    def contexts_a_query(self) -> int:
        """Number of contexts before a query."""
        return self.per_query.contexts if self.per_query else len(self.contexts)

    def by_contexts(self, queries: Sequence[Query]) -> Iterator[tuple[Sequence[Query], Sequence[Context]]]:
        """Yield groups of queries with the contexts before them; queries of a group have the same contexts."""
        if self.per_query is None:
            yield queries, self.contexts
            return
        for query in queries:
            yield [query], own_sample(query, self.contexts, self.per_query, self.seed)


@dataclass(frozen=True, kw_only=True)
class Measure:
    """A measure that a study can name; its name is that of its table.

    Attributes:
        row: the row type, a subclass of `Score` with the decorator @table.
        version: a number that is raised if the code gives other scores for the same inputs.
        meaning: the meaning in one clause.
        about: what the prompts ask: queries alone, queries after contexts, or questions.
        unit: the unit of its scores; "" for counts and truth values.
        compute: (inputs, model, chunk) -> the rows of the chunk. The model is None without a `capability`.
        compute_chunks: in place of `compute`: (inputs, model, chunks) -> the rows of each chunk in order, also those of
            other measures of the same pass.
        capability: the capability that it needs of a model; None for a derived measure, which reads stored scores only.
        requires: a further capability, such as log-probabilities of the replies' tokens.
        needs: the measures whose stored rows it reads.
        computed_with: the measure whose pass also yields the scores of this measure, if the scores of both are missing.
        parameters: the class that validates its parameters in a study file.
        depends_on: (parameters) -> further inputs of its scores by name, such as the revision of another model.
        applies: (parameters, dtype) -> True if it is of use for a model in this dtype.
        other_model: (inputs, model) -> another language model that it uses, whose forward passes are counted, too.
        every_context: True if it needs every context of a relation before every query, not a sample of the contexts.
        needs_answers: True if it needs the true answer of an entity; queries of groups have none.
        omits_each_passage: True if it also reads each context with one of its passages left out, once for each passage.
        rejection: (inputs, model, question) -> the rejection reason of a question; None if the model can read it.
        chunks: (inputs, model) -> the chunks; by default `chunks_of`.
        prompts: (parameters, queries, contexts) -> number of prompts for these numbers of queries and contexts; by
            default, all prompts that `about` names.
    """

    row: type[Score]
    version: int
    meaning: str
    about: About
    unit: str = ""
    compute: Callable[[Inputs, Any, Chunk], Iterable[Row]] | None = None
    compute_chunks: Callable[[Inputs, Any, Sequence[Chunk]], ComputedRows] | None = None
    capability: Capability | None = None
    requires: Capability | None = None
    needs: tuple[str, ...] = ()
    computed_with: str | None = None
    parameters: type[Parameters] = Parameters
    depends_on: Callable[[Any], Mapping[str, str]] = lambda parameters: {}
    applies: Callable[[Any, str], bool] = lambda parameters, dtype: True
    other_model: Callable[[Inputs, Any], Any] = lambda inputs, model: None
    every_context: bool = False
    needs_answers: bool = False
    omits_each_passage: bool = False
    rejection: Callable[[Inputs, Any, Question], str | None] = lambda inputs, model, question: None
    chunks: Callable[[Inputs, Any], Sequence[Chunk]] | None = None
    prompts: Callable[[Any, int, int], int] | None = None

    def __post_init__(self) -> None:
        if (self.compute is None) == (self.compute_chunks is None):
            raise TypeError(f"measure {self.name}: declare either compute or compute_chunks")
        if self.capability is None and not self.needs:
            raise TypeError(f"measure {self.name}: declare `capability`, or name other measures in `needs`")
        units = {column.unit for column in self.table.columns}
        if self.unit and self.unit not in units:
            raise TypeError(f"measure {self.name}: no column has the unit {self.unit!r}; use the unit of a column")

    @property
    def table(self) -> Table:
        """The table of its rows."""
        return table_of(self.row)

    @property
    def name(self) -> str:
        """The name of its table, and its key in study files."""
        return self.table.name

    def rows_of_chunks(self, inputs: Inputs, model: Any, chunks: Sequence[Chunk]) -> ComputedRows:
        """Yield the rows of each chunk, in order."""
        if self.compute_chunks is not None:
            yield from self.compute_chunks(inputs, model, chunks)
        elif self.compute is not None:
            for chunk in chunks:
                yield {self.name: list(self.compute(inputs, model, chunk))}

    def count_prompts(
        self, parameters: Any, *, queries: int = 0, contexts: int = 0, cases: int = 0, left_out: int = 0
    ) -> int:
        """Return the number of prompts that a model reads or answers; 0 for a derived measure.

        Args:
            parameters: parameters of the measure.
            queries: number of queries.
            contexts: number of contexts before a query.
            cases: number of prompts that have a question alone or with one of its contexts.
            left_out: number of prompts in which an evidence set lacks one passage.
        """
        if self.prompts is not None:
            return self.prompts(parameters, queries, contexts)
        if self.capability is None:
            return 0
        question_prompts = cases + left_out * self.omits_each_passage
        return {"contexts": queries * contexts, "queries": queries, "questions": question_prompts}[self.about]


@dataclass(frozen=True)
class Pass:
    """Measures that are computed together.

    Attributes:
        leading: the measure whose functions compute the pass.
        measures: names of the measures, the leading measure first.
        needs: the measures whose stored scores the pass reads.
    """

    leading: Measure
    measures: tuple[str, ...]
    needs: tuple[str, ...]


class Measures(Registry[Measure]):
    """The registry of measures; a measure comes after the measures that it needs."""

    def __init__(self, measures: Iterable[Measure]) -> None:
        super().__init__("measure", measures)

    def add(self, item: Measure) -> None:
        """Append a measure; ValueError if its name exists, or a measure that it needs is not registered."""
        if absent := [need for need in item.needs if need not in self]:
            raise ValueError(f"measure {item.name} needs unregistered measures; first add {', '.join(absent)}")
        super().add(item)

    def passes(self, missing: Collection[str]) -> list[Pass]:
        """Return the passes that yield the missing measures; a pass comes after the passes whose scores it reads."""
        listed = [measure for measure in self.values() if measure.name in missing]
        result = []
        for measure in listed:
            if measure.computed_with in missing:  # the pass of `computed_with` yields this measure's scores, too
                continue
            members = [measure, *(other for other in listed if other.computed_with == measure.name)]
            names = tuple(member.name for member in members)
            needs = dict.fromkeys(need for member in members for need in member.needs if need not in names)
            result.append(Pass(measure, names, tuple(needs)))
        return result

    def declaration(self, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the inputs of a measure's scores besides prompts, model and seed: a part of the key of scores.

        The result does not depend on the pass in which a measure is computed.

        Args:
            name: the measure.
            parameters: parameters of the measure and of the measures that it needs, by name.
        """
        measure = self[name]
        return {
            "measure": name,
            "version": measure.version,
            "parameters": parameters[name].key_inputs,
            "depends_on": dict(measure.depends_on(parameters[name])),
            "needs": [self.declaration(need, parameters) for need in measure.needs],
        }


LEAST_QUERIES = 32
"""Lower bound of the queries in a chunk."""
LEAST_PROMPTS = 8192
"""Lower bound of the prompts in a chunk, which keeps a machine busy."""

QUESTIONS_A_CHUNK = {"cpu": 32, "cuda": 128}
"""Number of questions in a chunk, by device. Fewer questions would not keep the device busy. With more questions, the
distributions of their replies' tokens would fill the memory."""

Item = TypeVar("Item")


def chunks_of(measure: Measure, inputs: Inputs, model: Any) -> Sequence[Chunk]:
    """Return the chunks of a measure; a derived measure has a single chunk by default."""
    if measure.chunks is not None:
        return measure.chunks(inputs, model)
    if measure.capability is None:
        return [inputs.questions if measure.about == "questions" else by_form(inputs.queries)]
    if measure.about == "questions":
        return cut_questions(inputs, model)
    return cut_by_form(inputs.queries, inputs.contexts_a_query if measure.about == "contexts" else 1)


def cut_questions(inputs: Inputs, model: Any) -> Sequence[Chunk]:
    """Return the questions in chunks, larger ones on a GPU; without a model (None), in chunks for a CPU."""
    return cut(inputs.questions, QUESTIONS_A_CHUNK[model.device.partition(":")[0] if model else "cpu"])


def cut_by_form(queries: Sequence[Query], prompts_a_query: int) -> list[Sequence[Query]]:
    """Return the queries in chunks, sorted by form."""
    return cut(by_form(queries), max(LEAST_QUERIES, math.ceil(LEAST_PROMPTS / max(prompts_a_query, 1))))


def by_form(queries: Sequence[Query]) -> list[Query]:
    """Sort queries by form: queries of a form share a prefix, which an engine reads once, and have similar lengths."""
    return sorted(queries, key=lambda query: (query.query_type, query.form))


def cut(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Return the items in chunks of `size`."""
    return [items[start : start + size] for start in range(0, len(items), size)]
