"""Plan of a study on this machine, resolved once: models, passes, parameters and relations."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from swaymeter.data.catalog import AnswerPrompts, Relation
from swaymeter.data.errors import InputError, SwaymeterError, UsageError
from swaymeter.data.records.judgements import Judgement
from swaymeter.data.records.replies import Replies, replies_digest
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.own.facts import ContextRow, rows_by_relation
from swaymeter.data.sources.own.source import OwnQuestions, read_questions
from swaymeter.data.sources.source import Group
from swaymeter.data.storage.workspace import Workspace
from swaymeter.flows.config.places import folder_of
from swaymeter.flows.config.sections import ModelPart
from swaymeter.flows.config.study import StudyFile
from swaymeter.flows.graph.graph import PlannedStep, RunSettings, Step, StepId, StepState, with_setup
from swaymeter.tasks.measures import MEASURES
from swaymeter.tasks.measures.measure import Pass
from swaymeter.tasks.models import tokenizer
from swaymeter.tasks.models.applications import function_revision
from swaymeter.tasks.models.endpoints.endpoint import SERVED
from swaymeter.tasks.models.files.identity import ModelIdentity
from swaymeter.tasks.models.loading import identify_language_model
from swaymeter.tasks.models.tokenizer import UnloadedModel


class PromptCounts(NamedTuple):
    """Planned numbers of entities, query forms and contexts of a relation."""

    entities: int = 0
    query_forms: int = 0
    contexts: int = 0


NO_PROMPTS = PromptCounts()


@dataclass(frozen=True)
class PlannedRelation:
    """Inputs of the prompts of a relation.

    Attributes:
        entry: Query forms and context templates; None for a group.
        group: The group; None for a relation of facts.
        user_contexts: Contexts of the user's file, which replace generated contexts.
        counts: Planned numbers of entities, query forms and contexts.
        refusal: Error because of which the relation has no prompts; None without an error.
    """

    entry: Relation | None = None
    group: Group | None = None
    user_contexts: tuple[ContextRow, ...] = ()
    counts: PromptCounts = NO_PROMPTS
    refusal: SwaymeterError | None = None


@dataclass(frozen=True)
class PlannedVariant:
    """A model with its dtype, prompt and decoding: the unit of comparison.

    Attributes:
        model: Section of the model in the study file.
        position: Position of this section under `models`.
        prompts: Texts that the variant's prompts have around questions and contexts.
        dtype: Computing dtype; the dtype in the study if this machine cannot resolve it.
        passes: Passes of the variant. Only the first variant of a model has passes over queries and contexts.
        identity: Identity of the model's weights.
        refusal: Error that prevents the use of the model; None without an error.
        prompt: Name of its prompt in `prompts` of the study file; may be empty.
        decoding: Name of its decoding in `decodings` of the study file; may be empty.
        contrastive_decoding: The decoding with its parameters; None for the model's own distribution.
        replies: Recorded replies; None for a model without recorded replies.
    """

    model: ModelPart
    position: int
    prompts: AnswerPrompts
    dtype: str
    passes: tuple[Pass, ...]
    identity: ModelIdentity | None = None
    refusal: SwaymeterError | None = None
    prompt: str = ""
    decoding: str = ""
    contrastive_decoding: Any = None
    replies: Replies | None = None

    @property
    def setup(self) -> str:
        """Names of prompt and decoding, such as "strict · cad"; empty without these names."""
        return " · ".join(filter(None, (self.prompt, self.decoding)))

    @property
    def name(self) -> str:
        """Unique name in all tables: the model's name, with the setup unless it is empty."""
        return with_setup(self.model.name, self.setup)

    @property
    def label(self) -> str | None:
        """Text that pages show in place of the name; None if the study sets no label."""
        return with_setup(self.model.label, self.setup) if self.model.label else None

    @property
    def key(self) -> str:
        """Name and dtype, such as "gpt2/float32": the identity of the variant in the table `variants` and in scores."""
        return f"{self.name}/{self.dtype}"

    @property
    def display_name(self) -> str:
        """Label or name, with the dtype that the study file states, such as "auto"."""
        return f"{self.label or self.name}/{self.model.dtype}"

    def is_of(self, step: StepId) -> bool:
        """Return True if a step belongs to the variant."""
        return (self.model.name, self.model.dtype, self.setup) == (step.model, step.dtype, step.setup)

    @cached_property
    def unloaded_model(self) -> UnloadedModel | None:
        """The model without its weights; None if its tokenizer is not on this machine."""
        try:
            identity = None if self.model.returns_only_text else self.identity
            if identity and identity.origin == "endpoint":
                identity = identify_language_model(self.model.tokenizer) if self.model.tokenizer else None
            return tokenizer.unloaded_model(identity) if identity else None
        except SwaymeterError:
            return None


@dataclass(frozen=True)
class Plan:
    """A study on this machine, in a workspace.

    Attributes:
        study: The study file.
        workspace: Workspace of the study.
        access: Access to services, offline; the keys of steps need the addresses of services.
        parameters: Parameters of each measure, by name.
        passes: Passes of the study's measures.
        declarations: By measure, its version, parameters and models, or the error in reading these.
        variants: Each model with each prompt and decoding.
        relations: Relations of the facts, by name.
        judgements: Judgements of people.
    """

    study: StudyFile
    workspace: Workspace
    access: Access
    parameters: Mapping[str, Any]
    passes: tuple[Pass, ...]
    declarations: Mapping[str, Mapping[str, Any] | SwaymeterError]
    variants: tuple[PlannedVariant, ...]
    relations: Mapping[str, PlannedRelation]
    judgements: tuple[Judgement, ...] = ()

    def variant(self, step: StepId) -> PlannedVariant:
        return next(variant for variant in self.variants if variant.is_of(step))

    def display_name(self, step: StepId) -> str:
        """Return the label or name of the variant of a step; empty for a step without a model."""
        return self.variant(step).display_name if step.model else ""

    def measure_states(self, node: PlannedStep) -> Iterator[tuple[str, StepState, str]]:
        """Yield each measure of a scoring step with its own state and reason, which may differ within the pass."""
        passes = (scoring_pass.measures for scoring_pass in self.passes if scoring_pass.leading.name == node.id.product)
        # Before the questions are fetched, a placeholder step stands for all measures. The placeholder belongs to no
        # pass, so its product is yielded as the name of the measure.
        for name in next(passes, (node.id.product,)):
            check = node.checks.get(name)
            if check is not None and check.state == "done":
                yield name, "done", ""
            else:
                yield name, node.state, node.reason

    @cached_property
    def further_seeds(self) -> Mapping[int, "Plan"]:
        """Plan of each seed except the study's first."""
        return {seed: plan_of(self.study.for_seed(seed), self.workspace) for seed in self.study.further_seeds}


def plan_of(study: StudyFile, workspace: Workspace) -> Plan:
    """Resolve a study; a missing model or file fails only the steps that use it."""
    parameters = {name: MEASURES[name].parameters(**study.parameters(name)) for name in study.requested()}
    passes = tuple(MEASURES.passes(study.requested()))
    facts = study.facts
    return Plan(
        study=study,
        workspace=workspace,
        access=study.access(workspace.downloads, offline=True),
        parameters=parameters,
        passes=passes,
        declarations={name: _or_error(MEASURES.declaration, name, parameters) for name in parameters},
        variants=tuple(_variants(study, passes, parameters)),
        relations={relation: _relation(study, relation) for relation in facts.relations} if facts else {},
        judgements=judgements_of(study),
    )


def access_for(study: StudyFile, step: Step, settings: RunSettings) -> Access:
    """Return the access of a step to services."""
    return study.access(
        Workspace(settings.workspace).downloads,
        offline=settings.offline,
        forced=step.forced,
        refreshed=step.refreshed,
    )


def judgements_of(study: StudyFile) -> tuple[Judgement, ...]:
    """Return the judgements of people; UsageError if a file cannot be read."""
    if not study.judgements:
        return ()
    from swaymeter.data.sources.judgements import read_judgements  # imports pandas

    try:
        judgements = read_judgements(map(Path, study.judgements))
    except InputError as error:
        raise UsageError(f"judgements: {error}") from None
    verdict = next((judgement for judgement in judgements if judgement.field == "verdict"), None)
    if verdict and "whose_answer" not in study.requested():
        raise UsageError(
            f"judgements: {verdict.location} is a verdict, which needs the measure `whose_answer`; add "
            "`whose_answer` to `measures`"
        )
    return judgements


def workspace_of(study: StudyFile, folder: str | None = None) -> Workspace:
    """Return the workspace of a study: `folder`, or the folder in the study's file, or the default folder."""
    path = folder or study.workspace
    try:
        workspace = Workspace(folder_of(path, study.name), study.name)
    except RuntimeError:  # `~name/...` of a user that does not exist
        problem = f"the workspace {path} is below the home directory of an unknown user"
        raise UsageError(f"{problem}; name another workspace") from None
    workspace.check_layout()
    return workspace


def _variants(study: StudyFile, passes: tuple[Pass, ...], parameters: Mapping[str, Any]) -> Iterator[PlannedVariant]:
    for position, model in enumerate(study.models):
        first, decodings = _variant(study, position, passes, parameters), _decodings(study, model)
        # Swaymeter writes no prompt around the questions of a model that returns only text.
        prompts = ("",) if model.returns_only_text else tuple(study.prompts or ("",))
        first_decoding = next(iter(decodings))
        for index, (prompt, decoding) in enumerate(product(prompts, decodings)):
            further_passes = _further_passes(first.passes, has_new_decoding=decoding != first_decoding)
            yield replace(
                first,
                prompt=prompt,
                prompts=study.answer_prompts(model, prompt),
                decoding=decoding,
                contrastive_decoding=decodings[decoding],
                passes=further_passes if index else first.passes,
            )


def _decodings(study: StudyFile, model: ModelPart) -> Mapping[str, Any]:
    """Return the decodings of a model by name, greedy first; the name is "" for a study without decodings."""
    if study.decodings is None or model.returns_only_text:
        return {"": None}
    if model.endpoint is not None:
        return {"greedy": None}
    names = sorted(study.decodings, key=lambda name: name != "greedy")  # False, for greedy, comes before True
    return {name: _decoding(name, study.decodings[name]) for name in names}


def _decoding(name: str, parameters: Mapping[str, float]) -> Any:
    if name == "greedy" and not parameters:
        return None
    from swaymeter.tasks.models.generation.decoding import decoding_of  # imports torch, which takes seconds

    try:
        return decoding_of(name, **parameters)
    except UsageError as error:
        raise UsageError(f"decodings.{name}: {error}") from None


def _further_passes(passes: tuple[Pass, ...], *, has_new_decoding: bool) -> tuple[Pass, ...]:
    """Return the passes of a second or later variant of a model, without the scores that an earlier variant has.

    Measures of queries and contexts do not depend on prompt and decoding. A new decoding changes only the replies and
    the measures of replies; an earlier variant with the same prompt has the other scores.
    """
    about_questions = tuple(scoring_pass for scoring_pass in passes if scoring_pass.leading.about == "questions")
    if not has_new_decoding:
        return about_questions
    # A measure without a capability is derived from stored scores, such as those of replies.
    return tuple(
        scoring_pass for scoring_pass in about_questions if scoring_pass.leading.capability in (None, "samples")
    )


def _variant(
    study: StudyFile, position: int, passes: tuple[Pass, ...], parameters: Mapping[str, Any]
) -> PlannedVariant:
    model = study.models[position]
    prompts = study.answer_prompts(model)
    replies = _or_error(_replies, study, model)
    identity = replies if isinstance(replies, SwaymeterError) else _or_error(_identity, model, replies)
    dtype = _or_error(_resolved_dtype, model)
    refusal = next((value for value in (identity, dtype) if isinstance(value, SwaymeterError)), None)
    if isinstance(dtype, SwaymeterError):
        return PlannedVariant(model, position, prompts, model.dtype, passes, refusal=refusal)
    return PlannedVariant(
        model,
        position,
        prompts,
        str(dtype),
        tuple(scoring_pass for scoring_pass in passes if _applies(scoring_pass, parameters, str(dtype))),
        None if isinstance(identity, SwaymeterError) else identity,
        refusal,
        replies=None if isinstance(replies, SwaymeterError) else replies,
    )


def _replies(study: StudyFile, model: ModelPart) -> Replies | None:
    if model.replies is None:
        return None
    assert isinstance(study.questions, OwnQuestions)
    return read_questions(study.questions).replies[model.replies]


def _identity(model: ModelPart, replies: Replies | None) -> ModelIdentity:
    """Return the identity of a model's weights, such as the commit of a hub model.

    A served model's revision has no address, because the same weights at another address give the same scores.
    """
    if replies is not None:
        return ModelIdentity(model.name, replies_digest(replies), "recorded", str(model.replies))
    if model.function:
        return ModelIdentity(model.name, function_revision(model.function), "application", model.function)
    if model.endpoint is None:
        return identify_language_model(model.source)
    served_name = f" as {model.served_as}" if model.served_as else ""
    tokenizer_revision = identify_language_model(model.tokenizer).revision[:12] if model.tokenizer else ""
    prompt_writer = f" written by {tokenizer_revision}" if model.tokenizer else ""  # the tokenizer writes the prompts
    revision = f"{model.revision or SERVED}{served_name}{prompt_writer}"
    return ModelIdentity(model.name, revision, "endpoint", model.endpoint)


def _resolved_dtype(model: ModelPart) -> str:
    """Return the dtype that is stored with scores; "recorded", "application" or "served" for a model without dtype."""
    if model.returns_only_text:
        return "recorded" if model.replies else "application"
    if model.endpoint is not None:
        return SERVED
    if model.dtype != "auto":
        return model.dtype
    from swaymeter.tasks.models.pretrained import resolve_dtype  # imports torch, which takes seconds

    return resolve_dtype(model.dtype, model.device)


def _applies(scoring_pass: Pass, parameters: Mapping[str, Any], dtype: str) -> bool:
    measure = scoring_pass.leading
    return measure.applies(parameters[measure.name], dtype)


def _relation(study: StudyFile, name: str) -> PlannedRelation:
    facts, contexts = study.facts, study.contexts
    assert facts is not None
    user_contexts: tuple[ContextRow, ...] = ()
    refusal: SwaymeterError | None = None
    try:
        if contexts.file is not None:
            rows = rows_by_relation(Path(contexts.file), "contexts.file", ContextRow, facts.own_relations)
            user_contexts = rows.get(name, ())
        if group := facts.group(name, study.seed):
            counts = PromptCounts(len(group.entities), len(group.open) + len(group.closed), group.context_count)
            return PlannedRelation(group=group, counts=counts)
    except SwaymeterError as error:
        refusal = error
    if "contexts" in facts.refuses:  # the source has groups, and `facts.group` raised the refusal
        return PlannedRelation(refusal=refusal)
    entities = facts.real_entities + facts.invented_entities
    entry = contexts.with_study_templates(facts.relation(name))
    counts = PromptCounts(entities, len(entry.open) + len(entry.closed), entities * sum(contexts.per_kind().values()))
    return PlannedRelation(entry, None, user_contexts, counts, refusal)


def _or_error(compute: Any, *arguments: Any) -> Any:
    """Return the result of a function, or the SwaymeterError that it raises."""
    try:
        return compute(*arguments)
    except SwaymeterError as error:
        return error
