"""The step that scores: a pass over a relation with a model."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from swaymeter.data.catalog import AnswerPrompts
from swaymeter.data.digests import content_key
from swaymeter.data.errors import ModelError
from swaymeter.data.records import Context, Query, Question
from swaymeter.data.records.replies import Replies
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.graph.step import Run, Step
from swaymeter.flows.study.sections import ModelPart
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import INPUTS, Inputs, PerQuery
from swaymeter.tasks.measures.run import Spent, declaration, measure_relation, rejected_of
from swaymeter.tasks.models.applications import RecordedReplies, load_application
from swaymeter.tasks.models.endpoints.endpoint import SERVED, Endpoint

PROMPTS: Mapping[str, type] = {"queries": Query, "contexts": Context, "questions": Question}


@dataclass(frozen=True)
class Score:
    """What a step asks of which model, and how questions are put to it.

    revision: of the model; parameters: of its measures and of those that they need, by name; declarations: of what it
    computes, as the run found them; variant, called: its key, and what scores call it; per_query: the sample of
    contexts that each query is asked with, None where every context stands before every query; decoding: of its
    answers, None for the model's own distribution.
    """

    measure_pass: str
    model: ModelPart
    revision: str
    seed: int
    parameters: Mapping[str, Any]
    declarations: Mapping[str, Mapping[str, Any]]
    answer_prompts: AnswerPrompts
    variant: str
    called: str
    per_query: PerQuery | None = None
    decoding: Any = None
    replies: Replies | None = None
    """Recorded replies, of a model that has them."""


def run_pass(step: Step, run: Run) -> Spent:
    """Compute the missing scores of a pass."""
    from swaymeter.tasks.models import load_language_model

    arguments: Score = step.arguments
    _check(arguments)
    leading, model = MEASURES[arguments.measure_pass], arguments.model
    tables = INPUTS[leading.about]
    prompts: dict[str, list[Any]] = {name: step.records(name, PROMPTS[name]) for name in tables}
    digests = {name: step.table(name).check().digest for name in tables}
    stored = {name: step.table(name) for name in step.inputs if name not in tables}

    def load_served_model(endpoint: Endpoint, revision: str = SERVED) -> Any:
        from swaymeter.tasks.models.endpoints.model import load_served

        cache = Workspace(run.workspace).endpoints
        return load_served(endpoint, cache, revision=revision, rerun=step.forced, offline=run.offline)

    inputs = Inputs(
        relation=step.id.subject,
        variant=arguments.variant,
        called=arguments.called,
        decoding=arguments.decoding,
        seed=arguments.seed,
        dataset_version=content_key(digests)[:12],
        queries=prompts.get("queries", ()),
        contexts=prompts.get("contexts", ()),
        per_query=arguments.per_query,
        questions=prompts.get("questions", ()),
        scores={name: scores.read() for name, scores in stored.items()},
        rejected={question: why for scores in stored.values() for question, why in rejected_of(scores).items()},
        parameters=arguments.parameters,
        device=model.device,
        batch_size=model.batch_size,
        answer_prompts=arguments.answer_prompts,
        load_served=load_served_model,
        verdicts=Workspace(run.workspace).downloads / "verdicts",
    )

    if leading.about == "contexts":
        for _ in inputs.asked(inputs.queries):  # a relation with too few contexts fails before a model is loaded
            pass

    def load() -> Any:
        if arguments.replies is not None:
            return RecordedReplies(model.name, arguments.revision, arguments.replies)
        if model.function:
            return load_application(
                model.name, model.function, arguments.revision, Workspace(run.workspace).downloads / "applications",
                rerun=step.forced, concurrency=model.concurrency, timeout_s=model.timeout_s,
                is_in_workspace=model.is_in_workspace,
            )  # fmt: skip
        if served := model.served:
            return load_served_model(served, arguments.revision)
        return load_language_model(model.source, dtype=model.dtype, device=model.device, revision=arguments.revision)

    workspace = Workspace(run.workspace)

    def progress(done: int, total: int) -> None:
        workspace.check_is_there()  # what is written where a shared folder is not mounted is lost
        run.progress(done, total)

    outputs = {name: step.table(name) for name in step.outputs}
    return measure_relation(inputs, outputs, load, progress)


def _check(arguments: Score) -> None:
    """Raises ModelError where what the numbers depend on is another here than where the run was planned."""
    for name, planned in arguments.declarations.items():
        if (here := declaration(name, arguments.parameters)) != planned:
            differs = {key for key in here if here[key] != planned.get(key)} - {"depends_on"}
            differs |= {key for key, _ in here["depends_on"].items() ^ planned["depends_on"].items()}
            raise ModelError(
                f"measure {name}: this worker differs from the run in {', '.join(sorted(differs))}; restart it, and "
                "give it the same code and the same files of models"
            )


TEXTS = {"queries": ("query_id", {"text": "query"}), "contexts": ("context_id", {"text": "context"})}
"""The id of each kind of prompt, and what its text is called among the scores."""


def compute_reliability(step: Step, run: Run) -> None:
    """Writes the variances over seeds and over query forms; arguments: measures, and seeds, the study's first."""
    from swaymeter.tasks.statistics.reliability import reliability  # here, as pandas takes long to import

    measures, seeds = step.arguments
    table = step.table("reliability")
    rows = []
    for measure in measures:
        stored = step.table(f"{measure} {seeds[0]}").read().select(["model", "dtype", "relation"]).slice(0, 1)
        samples = [_sample(step, measure, seed) for seed in seeds]
        rows += [{**stored.to_pylist()[0], **row} for row in reliability(measure, samples)]
    table.write(table.table.of(rows))


def _sample(step: Step, measure: str, seed: int) -> Any:
    """The scores of a seed with the texts of their queries and contexts."""
    scores = step.table(f"{measure} {seed}").read()
    columns = [name for name in ("query_id", "context_id", measure) if name in scores.column_names]
    frame = scores.select(columns).to_pandas()
    for role, (identity, text) in TEXTS.items():
        if identity in columns:
            kept = [identity, "text", *(("query_type", "form", "entity") if role == "queries" else ())]
            prompts = step.table(f"{role} {seed}").read().select(kept).to_pandas()
            # Texts as categories: merging repeats their numbers, and not the texts.
            prompts = prompts.astype({name: "category" for name in kept if name not in (identity, "form")})
            frame = frame.merge(prompts.rename(columns=text), on=identity, validate="many_to_one")
    return frame


def decide_answers(step: Step, run: Run) -> None:
    """Write the answers of a relation that a judge or people decide; arguments: people's verdicts."""
    from swaymeter.tasks.measures.decided_answers import decided

    answers, stated, judged = (
        [row for table in step.inputs_of(MEASURES[name].table) for row in table.read().select(columns).to_pylist()]
        for name, columns in _DECIDED.items()
    )
    rows = decided(step.records("questions", Question), answers, stated, judged, step.arguments)
    output = step.table("decided_answers")
    output.write(output.table.of([*rows]))


_ANSWER = ["model", "dtype", "relation", "question_id", "context_id", "sample"]
_DECIDED = {
    "answers": [*_ANSWER, "text"],
    "whose_answer": [*_ANSWER, "verdict", "decided_by", "reason", "outcome"],
    "judged_answers": [*_ANSWER, "judge", "verdict", "rule"],
}
"""Columns of the scores that decided answers follow from."""
