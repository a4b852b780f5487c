"""Estimate of a run: unfinished steps, prompts, time by the measured rates of the workspace, and disk space.

Without a measured rate, the hours of a GPU follow from the model's size. Such an estimate distinguishes one hour from a
day, but not one hour from two hours.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from swaymeter.flows.graph.graph import Graph, PlannedStep
from swaymeter.flows.graph.selection import ALL_MEASURES, Selection
from swaymeter.flows.stages.plan import NO_PROMPTS, Plan, PlannedVariant
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import About
from swaymeter.tasks.models.endpoints.endpoint import REPEATED_PROMPTS
from swaymeter.tasks.models.size import parameters_of

OPERATIONS_PER_SECOND = 100e12
"""Speed of a data-centre GPU with short prompts in 16 bits, a tenth to a fourth of its nominal speed."""

GPU_TOKENS: dict[About, int] = {"contexts": 16, "queries": 16 * 3 * 64, "questions": 350}
"""Tokens that a model reads or writes for a prompt, by the kind of prompts of a measure.

A token costs two operations for each parameter of the model. contexts: 16 tokens of a query; the context before it is
read once for all queries. queries (Fisher susceptibility): 16 tokens in 64 forward and backward passes; such a pass
costs three forward passes. questions: 150 tokens of text, and ten replies of twenty tokens.
"""

TOKENS_OF_SAMPLED_CONTEXT = 40
"""Tokens of a context and its query. With `contexts.per_query`, every query has contexts of its own."""

LEAST_HOURS = 0.01
"""Lower bound of the estimated hours of a GPU."""

PROBE_REQUESTS = 20
"""Upper bound on the requests of a server's probe."""

SERVER_TOKENS: dict[About, int] = {"contexts": 40, "queries": 20, "questions": 150}
"""Approximate tokens of a prompt at a server, for the estimate of its cost."""

BYTES: dict[About, int] = {"contexts": 9, "queries": 100, "questions": 30_000}
"""Bytes of the score files for each prompt, as measured on bundled studies."""

BYTES_OF_THOUGHT = 6
"""Bytes of the score files for each token of thoughts: the token's id and text."""


@dataclass
class _Work:
    """Work with one model, or with all models.

    Attributes:
        prompts: Number of prompts.
        seconds: Seconds by the measured rates of the workspace.
        gpu_hours: Hours of a GPU, by the size of the model.
        is_sized: True if the size of every model is known.
        is_measured: True if there are measured rates for all prompts.
        thoughts: Upper bound on the tokens of thoughts.
        is_sure: False if `thoughts` is a guess, because the model's tokenizer is not on this machine.
        requests: Requests to a server.
        tokens_read: Tokens of the prompts at a server.
        tokens_written: Tokens of the replies from a server.
    """

    prompts: int = 0
    seconds: float = 0.0
    gpu_hours: float = 0.0
    is_sized: bool = True
    is_measured: bool = True
    thoughts: int = 0
    is_sure: bool = True
    requests: int = 0
    tokens_read: int = 0
    tokens_written: int = 0

    def add_requests(self, answers: Any, about: About, count: int) -> None:
        """Add the requests for prompts at a server: in the worst case, one request for each reply.

        `answers` has the parameters of the measure answers; None without this measure.
        """
        is_sampled = answers and about == "questions"
        requests = count * (answers.samples + 1 if is_sampled else 1)
        if not self.requests:  # a run begins with a probe of the server, and may request some greedy replies twice
            requests += PROBE_REQUESTS + (REPEATED_PROMPTS if is_sampled else 0)
        self.requests += requests
        self.tokens_read += requests * SERVER_TOKENS[about]
        self.tokens_written += requests * (answers.max_new_tokens if is_sampled else 1)

    @property
    def request_line(self) -> str:
        return (
            f"at most {self.requests:,} requests, about {self.tokens_read:,} tokens read and at most "
            f"{self.tokens_written:,} written"
        )

    @property
    def duration(self) -> str:
        if self.is_measured:
            return f"{self.seconds:.0f} s"
        unknown = "unknown, because such prompts were not measured in this workspace yet"
        if not self.is_sized:
            return unknown
        hours = f"{self.gpu_hours:,.3g}" if self.gpu_hours >= LEAST_HOURS else f"less than {LEAST_HOURS}"
        return f"{unknown}; by the size of the model: {hours} GPU hours"


def estimate(graph: Graph, plan: Plan, selection: Selection) -> Iterator[str]:
    """Yield lines on unfinished steps, their prompts by model, and the estimated time and disk space."""
    selected = selection.of(graph)
    unfinished = [node for node in graph if node.id in selected and node.state != "done"]
    if not unfinished:
        yield "everything is done: nothing would be computed"
        return
    yield from _unused_sentences(plan)
    rates = _seconds_per_prompt(graph)
    # works: the work with each model, and at the key "" with all models
    works, score_bytes, has_unknown_count = dict[str, _Work](), 0, False
    for node in unfinished:
        reason = f" ({node.reason})" if node.reason else ""
        yield f"{node.id}: {f'after {node.blocked_by}' if node.blocked_by else f'{node.state}{reason}'}"
        if not (count := _prompts(plan, node)):
            has_unknown_count = has_unknown_count or count is None
            continue
        about: About = "questions" if node.id.product == ALL_MEASURES else MEASURES[node.id.product].about
        tokens = TOKENS_OF_SAMPLED_CONTEXT if about == "contexts" and plan.study.contexts.sample else GPU_TOKENS[about]
        thoughts, is_sure = _thoughts(plan, node)
        counted_thoughts = thoughts if is_sure else 0
        size = parameters_of(node.id.model) if plan.variant(node.id).model.is_local else None
        score_bytes += count * BYTES[about] + BYTES_OF_THOUGHT * counted_thoughts
        for name in (plan.display_name(node.id), ""):
            work = works.setdefault(name, _Work())
            rate = rates.get((node.id.model, node.id.dtype, node.id.product))
            work.prompts += count
            work.seconds += count * (rate or 0.0)
            operations = 2 * (count * tokens + counted_thoughts) * (size or 0)  # a multiplication and an addition
            work.gpu_hours += operations / OPERATIONS_PER_SECOND / 3600
            work.thoughts, work.is_sure = work.thoughts + thoughts, work.is_sure and is_sure
            work.is_sized = work.is_sized and size is not None
            work.is_measured = work.is_measured and rate is not None
            if name and plan.variant(node.id).model.endpoint:
                work.add_requests(plan.parameters.get("answers"), about, count)
    if has_unknown_count:
        yield "the questions are not fetched yet, so their prompts cannot be counted"
    total = works.pop("", _Work())
    yield from (f"{name}: {work.request_line}" for name, work in works.items() if work.requests)
    for name, work in works.items():
        if work.thoughts and work.is_sure:
            yield f"{name}: at most {work.thoughts:,} tokens of thoughts"
        elif work.thoughts:
            yield (
                f"{name}: at most {work.thoughts:,} tokens of thoughts, not counted below; whether the model thinks is "
                "known once its tokenizer is on this machine"
            )
    if len(works) > 1:
        yield from (f"{name}: {work.prompts:,} prompts; {work.duration}" for name, work in works.items())
    yield f"{total.prompts} prompts; estimated time: {total.duration}; files of scores: {_disk(score_bytes)}"


def _unused_sentences(plan: Plan) -> Iterator[str]:
    own_relations = plan.study.facts.own_relations if plan.study.facts else {}
    if own_relations and plan.study.contexts.templates == "published-form":
        yield (
            f"contexts.templates is published-form: the base and assertive sentences of {', '.join(own_relations)} in "
            "relations_file are not used; write templates: varied to use them"
        )


def _thoughts(plan: Plan, node: PlannedStep) -> tuple[int, bool]:
    """Return the upper bound on the tokens of thoughts in a step's replies, and False if the bound is a guess.

    Without a tokenizer on this machine, the guess is that the model writes thoughts.
    """
    answers = plan.parameters.get("answers")
    if answers is None or answers.thinking is None or not (prompts := _prompts(plan, node, "answers")):
        return 0, True
    tokens = int(prompts * (answers.samples + 1) * answers.thinking.max_new_tokens)
    has_thoughts = True if answers.thinking.models == "all" else _thinks_always(plan.variant(node.id))
    if has_thoughts is None:
        return tokens, False
    return (tokens if has_thoughts else 0), True


def _thinks_always(variant: PlannedVariant) -> bool | None:
    """Return True if a model's thoughts cannot be turned off; None if its tokenizer is not on this machine."""
    from swaymeter.tasks.models.prompts.template_options import opens_thoughts, options_of

    prompts, model = variant.prompts, variant.unloaded_model
    return opens_thoughts(model, prompts, options_of(model, prompts)) if model else None


def _disk(score_bytes: int) -> str:
    if score_bytes < 1_000_000_000:
        return f"{max(1, round(score_bytes / 1_000_000))} MB"
    return f"{score_bytes / 1_000_000_000:.1f} GB"


def _is_leading_measure_unfinished(plan: Plan, node: PlannedStep) -> bool:
    """Return True if the leading measure of a pass is not done; other measures of the pass need no further prompts."""
    if node.id.stage != "score" or node.id.product not in MEASURES:
        return False
    return any(name == node.id.product and state != "done" for name, state, _ in plan.measure_states(node))


def _prompts(plan: Plan, node: PlannedStep, only_measure: str = "") -> int | None:
    """Return the number of prompts of a step, or only its prompts of `only_measure`; None for an unknown number."""
    if node.id.stage == "score" and node.id.product == ALL_MEASURES:
        return _prompts_of_partition(plan, node.id.subject, only_measure)
    if not _is_leading_measure_unfinished(plan, node) or only_measure not in ("", node.id.product):
        return 0
    measure = MEASURES[node.id.product]
    return measure.count_prompts(plan.parameters[measure.name], **_prompt_counts(plan, node))


def _prompts_of_partition(plan: Plan, partition: str, only_measure: str) -> int | None:
    """Return the number of prompts of a partition without fetched questions; None if it has no upper bound."""
    questions = plan.study.questions
    assert questions is not None
    counts = [questions.published.get(partition), questions.per_partition]
    limits, cases = [count for count in counts if count is not None], questions.prompts_per_question
    if not limits or cases is None:
        return None
    leading_measures = [
        scoring_pass.leading for scoring_pass in plan.passes if scoring_pass.leading.about == "questions"
    ]
    return sum(
        measure.count_prompts(plan.parameters[measure.name], cases=cases * min(limits))
        for measure in leading_measures
        if only_measure in ("", measure.name)
    )


def _prompt_counts(plan: Plan, node: PlannedStep) -> dict[str, int]:
    """Return the arguments of `count_prompts`: numbers of built prompts or, before the build, of planned prompts."""
    built = {role: check.rows for other in node.inputs for role, check in other.checks.items() if check.state == "done"}
    questions = [node.checks["questions"] for node in node.inputs if "questions" in node.checks]
    question_counts = {
        name: sum(check.about.get(name, 0) for check in questions if check.about) for name in ("cases", "left_out")
    }
    relation, sample = plan.relations.get(node.id.subject), plan.study.contexts.sample
    planned = relation.counts if relation else NO_PROMPTS
    contexts = built.get("contexts", planned.contexts)
    return {
        "queries": built.get("queries", planned.query_forms * planned.entities),
        "contexts": sample.contexts if sample else contexts,
        **question_counts,
    }


def _seconds_per_prompt(graph: Graph) -> dict[tuple[str, str, str], float]:
    """Return the measured seconds of a prompt by model, dtype and leading measure."""
    costs: dict[tuple[str, str, str], tuple[float, int]] = {}
    for node in graph:
        check = next(iter(node.checks.values()), None)
        if node.id.stage == "score" and check is not None and check.about and check.about["prompts"]:
            kind = (node.id.model, node.id.dtype, node.id.product)
            seconds, prompts = costs.get(kind, (0.0, 0))
            costs[kind] = (seconds + check.about["seconds"], prompts + check.about["prompts"])
    return {kind: seconds / prompts for kind, (seconds, prompts) in costs.items()}
