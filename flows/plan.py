"""What a study wants: which files, from what, and which of them are there.

A file's key is made of the digests of its inputs as they lie in the workspace, so what a study wants downstream is
known only once the step above is done.
"""

import functools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from data import catalog
from data.errors import ModelError, SwaymeterError, UnknownName, UsageError
from data.measures import MEASURES
from data.records import Partition, Question, Rejected, as_row
from data.records.tables import CONTEXTS, FACTS, INVENTED, QUERIES, QUESTIONS, REJECTED
from data.registry import INPUTS
from data.storage.keys import content_key, table_digest
from data.storage.workspace import Stored, Workspace
from flows.facts_keys import facts_made_from, names_made_from
from flows.items import Item, Selection
from flows.live_works import LiveWorks
from flows.question_choice import QuestionChoice, choose
from flows.question_files import QuestionFiles
from flows.study.study_file import ModelPart, Study, read_study
from tasks.measurement.work import Work
from tasks.models import identify_entailment, identify_language_model

BUILD_VERSION = 3


@dataclass(frozen=True)
class Plan:
    """A study in a workspace."""

    study: Study
    workspace: Workspace
    only: Selection = field(default_factory=Selection)

    @classmethod
    def of(cls, study: str, workspace: str | None = None, only: Selection | None = None) -> "Plan":
        """The plan of a study file; UsageError where the selection names what the study does not have."""
        read = read_study(study)
        root = workspace or read.workspace or f"workspaces/{read.name}"
        try:
            folder = Path(root).expanduser().absolute()
        except RuntimeError:
            raise UsageError(f"the workspace {root} names a home folder that there is not") from None
        plan = cls(read, Workspace(folder), only or Selection())
        if plan.only.relations:
            known = {*plan.whole.relations(), *plan.whole.question_relations(), *plan.whole.live_relations()}
            if plan.refused_partitions:  # which relations those questions are about is not known yet
                known |= {*catalog.relations(), "disputable"}
            for name in plan.only.relations:
                _known("relation", name, known)
        for name in plan.only.models:
            _known("model", name, [model.name for model in read.models])
        for name in plan.only.measures:
            _known("measure", name, read.wanted())
        return plan

    @property
    def whole(self) -> "Plan":
        """The same study without a selection."""
        return Plan(self.study, self.workspace)

    def relations(self) -> list[str]:
        """The relations whose queries and contexts the study's measures need."""
        facts = self.study.facts
        if facts is None or all(measure.inputs == "questions" for measure in self.study.wanted().values()):
            return []
        return [name for name in facts.relations if not self.only.relations or name in self.only.relations]

    def partitions(self) -> list[Partition]:
        """The partitions whose questions the study's measures need."""
        questions = self.study.questions
        if questions is None or not any(measure.inputs == "questions" for measure in self.study.wanted().values()):
            return []
        return [partition for partition in questions.partitions if self._is_selected(partition)]

    def _is_selected(self, partition: Partition) -> bool:
        """Whether a selected relation may have questions in a partition."""
        if not self.only.relations:
            return True
        if partition == "disputable":
            return "disputable" in self.only.relations
        others = {*self.only.relations} - {"disputable"}
        live = self.question_files.live
        known = {*LiveWorks(live).properties()} if live else set()
        return bool(others & known if known else others)

    @property
    def graphs(self) -> Path:
        """The folder of dumps that are loaded."""
        return self.workspace.root / "downloads" / "graphs"

    def facts(self, relation: str) -> Stored:
        """The file of what the source says of a relation."""
        return self.workspace.facts(relation, FACTS, facts_made_from(self.study, relation, self.graphs))

    def entity_classes(self) -> list[str]:
        """The classes that the study needs invented entities of."""
        if self.study.facts is None or not self.study.facts.invented_entities:
            return []
        return sorted({catalog.relation(relation).subject_class for relation in self.relations()})

    def names(self, entity_class: str) -> Stored:
        """The file of invented names of a class."""
        return self.workspace.facts(entity_class, INVENTED, names_made_from(self.study, entity_class, self.graphs))

    @functools.cached_property
    def question_files(self) -> QuestionFiles:
        """The files that the study's questions come from."""
        return QuestionFiles(self.study, self.workspace)

    @property
    def live_works(self) -> LiveWorks | None:
        """The work on live questions, as it is selected; None where the study asks none."""
        live = self.question_files.live if self.partitions() else None
        return LiveWorks(live, self.only.relations) if live else None

    def queries(self, relation: str) -> Stored:
        """The file of a relation's queries; DamagedFile where its facts are not there."""
        return self.workspace.prompts(relation, QUERIES, self._prompts_made_from(relation))

    def contexts(self, relation: str) -> Stored:
        """The file of a relation's contexts; DamagedFile where its facts are not there."""
        return self.workspace.prompts(relation, CONTEXTS, self._prompts_made_from(relation))

    def _prompts_made_from(self, relation: str) -> dict[str, Any]:
        assert self.study.facts is not None
        forms = catalog.relation(relation)
        invented = self.names(forms.subject_class).digest() if self.entity_classes() else "none"
        texts = [*forms.open, *forms.closed, {kind: list(texts) for kind, texts in forms.contexts.items()}]
        return {
            "step": "build", "version": BUILD_VERSION, "relation": relation, "seed": self.study.seed,
            "facts": self.facts(relation).digest(), "texts": texts,
            "invented": invented, "choice": self.study.facts.choice,
            "real_entities": self.study.facts.real_entities, "invented_entities": self.study.facts.invented_entities,
            "contexts": dict(self.study.contexts.per_kind()),
        }  # fmt: skip

    @functools.cached_property
    def _choice(self) -> QuestionChoice:
        return choose(self.question_files, self.partitions()) if self.partitions() else QuestionChoice()

    def live_relations(self) -> Sequence[str]:
        """The relations of live questions, as far as the list of their facts is there."""
        works = self.live_works
        return works.relations_named() if works else ()

    @property
    def chosen_questions(self) -> Mapping[str, Sequence[Question]]:
        """The questions that the study asks, by relation, of the partitions that can be read."""
        return self._choice.by_relation

    def left_out(self, partition: Partition) -> tuple[Stored, Sequence[Rejected]] | None:
        """The file of a partition's questions that are there and not asked, and its rows; None without any."""
        rows = self._choice.left_out.get(partition)
        if not rows:
            return None
        digest = table_digest(REJECTED.of([as_row(row) for row in rows]))
        made_from = {"step": "build", "version": BUILD_VERSION, "partition": partition, "rows": digest}
        return self.workspace.prompts(partition, REJECTED, made_from), rows

    @property
    def refused_partitions(self) -> Mapping[Partition, SwaymeterError]:
        """The partitions whose questions cannot be asked, and why: not fetched, damaged, or too few."""
        return self._choice.refused

    def question_relations(self) -> list[str]:
        """The relations of the questions that the study asks; none where they are not fetched yet."""
        return [name for name in self.chosen_questions if not self.only.relations or name in self.only.relations]

    def questions(self, relation: str) -> Stored:
        """The file of a relation's questions; DamagedFile where they are not fetched."""
        made_from = {
            "step": "build",
            "version": BUILD_VERSION,
            "relation": relation,
            "rows": table_digest(QUESTIONS.of([as_row(question) for question in self.chosen_questions[relation]])),
        }
        return self.workspace.prompts(relation, QUESTIONS, made_from)

    def items(self) -> Iterator[Item]:
        """The cells of the study that are selected: model x relation x family."""
        wanted = self.study.wanted()
        if self.only.measures:
            needed = {need for name in self.only.measures for need in MEASURES[name].needs}
            wanted = {name: found for name, found in wanted.items() if name in {*self.only.measures, *needed}}
        families: dict[str, list[str]] = {}
        for name, found in wanted.items():
            families.setdefault(found.family, []).append(name)
        for model in self.study.models:
            if self.only.models and model.name not in self.only.models:
                continue
            for family, measures in families.items():
                if family == "precision" and self._computes_in(model, self.study.parameters("precision")["reference"]):
                    continue  # there is nothing to hold against itself
                asked = MEASURES[measures[0]].inputs == "questions"
                for relation in self.question_relations() if asked else self.relations():
                    yield Item(model, relation, family, tuple(measures))

    def _computes_in(self, model: ModelPart, dtype: str) -> bool:
        try:
            return resolved_dtype(model) == dtype
        except ModelError:
            return False  # `work` says of each cell what is wrong with the model

    def work(self, item: Item) -> Work:
        """The item with its files; DamagedFile where its prompts are not there or cannot be read."""
        inputs = self._inputs(item)
        digests = {name: stored.digest() for name, stored in inputs.items()}
        return Work(
            relation=item.relation,
            model=item.model.name,
            dtype=item.model.dtype,
            device=item.model.device,
            family=item.family,
            seed=self.study.seed,
            batch_size=item.model.batch_size,
            inputs=inputs,
            wanted={name: self._scores(item, name, digests) for name in item.measures},
            needs={name: self._scores(item, name, digests) for name in item.needs},
        )

    def _inputs(self, item: Item) -> dict[str, Stored]:
        prompts = {"queries": self.queries, "contexts": self.contexts, "questions": self.questions}
        return {name: prompts[name](item.relation) for name in INPUTS[item.inputs]}

    def _scores(self, item: Item, name: str, digests: Mapping[str, str]) -> Stored:
        found = MEASURES[name]
        made_from = {
            "step": "score", **self._made_by(name), "relation": item.relation, "inputs": dict(digests),
            "needs": {need: self._made_by(need) for need in found.needs},
            "model": item.model.name, "revision": identify_language_model(item.model.name).revision,
            "dtype": resolved_dtype(item.model), "seed": self.study.seed,
            "prompt_form": (
                content_key(asdict(catalog.prompts())) if found.inputs == "questions" else "query as it stands"
            ),
        }  # fmt: skip
        return self.workspace.scores(item.relation, f"{item.model.name}", found.table, made_from)

    def _made_by(self, name: str) -> dict[str, Any]:
        parameters = self.study.parameters(name)
        made: dict[str, Any] = {"measure": name, "measure_version": MEASURES[name].version, "parameters": parameters}
        if "entailment" in parameters:
            made["entailment_revision"] = identify_entailment(parameters["entailment"])
        return made


def _known(kind: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise UnknownName(kind, name, known)


def resolved_dtype(model: ModelPart) -> str:
    """The number format that a model computes in; auto is resolved by the device."""
    if model.dtype != "auto":
        return model.dtype
    from tasks.models.loading import resolve_dtype

    return resolve_dtype(model.dtype, model.device)
