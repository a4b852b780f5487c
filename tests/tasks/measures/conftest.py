"""A relation with its queries, contexts and questions, random small models, and a workspace for its scores."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.records import ContextKind, RelationName
from swaymeter.data.sources import sample
from swaymeter.data.storage.artifact import TableArtifact
from swaymeter.tasks.contexts.sentences import choose_entities, objects, write_contexts, write_queries
from swaymeter.tasks.measures import MEASURES, measure
from swaymeter.tasks.measures.measure import Inputs
from swaymeter.tasks.measures.stored_chunks import Cost, ReportProgress, measure_relation
from swaymeter.tasks.models import load_language_model
from tests.tasks.models.tiny import save_entailment_model, save_language_model

Row = dict[str, Any]


def needed(*names: str) -> set[str]:
    """Return the names of these measures and of all measures that they need."""
    return {*names, *(needed_name for name in names for needed_name in needed(*MEASURES[name].needs))}


@dataclass
class Study:
    """A relation and its stored scores under a model.

    Attributes:
        folder: the folder of the scores.
        inputs: the prompts of the relation.
        model: the folder of the model.
        parameters: parameters of measures, if they are not the defaults.
        loaded: the number of times that a model was loaded.
    """

    folder: Path
    inputs: Inputs
    model: str
    parameters: dict[str, dict[str, Any]]
    loaded: int = 0

    def artifact(self, name: str) -> TableArtifact:
        """Return the artifact of the scores of a measure."""
        key_inputs = {"measure": name, "parameters": self.parameters.get(name, {})}
        return TableArtifact(self.folder, name, MEASURES[name].table, key_inputs)

    def score(self, *names: str, progress: ReportProgress = lambda done, total: None) -> Cost:
        """Compute the missing scores of these measures and of the measures that they need. Return the cost."""
        artifacts = {name: self.artifact(name) for name in needed(*names)}
        parameters = {name: MEASURES[name].parameters(**self.parameters.get(name, {})) for name in artifacts}
        return measure_relation(replace(self.inputs, parameters=parameters), artifacts, self._load, progress)

    def rows(self, name: str) -> list[Row]:
        """Return the rows of a measure, and score it first if its rows are missing."""
        self.score(name)
        return self.artifact(name).read().to_pylist()

    def store(self, name: str, rows: Sequence[Row]) -> None:
        """Store rows of a measure. Missing columns get filler values."""
        artifact, blank = self.artifact(name), {"VARCHAR": "-", "BIGINT": 0, "DOUBLE": 0.0, "BOOLEAN": True}
        filled = {column.name: blank.get(column.type, []) for column in artifact.table.columns}
        filled |= {"relation": "capital", "engine": "slots", "stand_in": None}
        if name == "answers":
            filled["state"] = "complete"
        complete = [
            {**filled, **({"context_id": row["condition"]} if "condition" in row else {}), **row} for row in rows
        ]
        artifact.write(artifact.table.of(complete), {})

    def by_question(self, name: str) -> dict[tuple[str, str], Row]:
        """Return the rows of a measure by question and condition."""
        return {(row["question_id"], row["condition"]): row for row in self.rows(name)}

    def _load(self) -> Any:
        self.loaded += 1
        return load_language_model(self.model, dtype="float32", device="cpu")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set chunks of eight queries or two questions, so that a small relation has several chunks."""
    monkeypatch.setattr(measure, "LEAST_QUERIES", 8)
    monkeypatch.setattr(measure, "LEAST_PROMPTS", 1)
    monkeypatch.setattr(measure, "QUESTIONS_A_CHUNK", {"cpu": 2})


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the folders of a language model and of an entailment model."""
    folder = tmp_path_factory.mktemp("models")
    return {
        "language": str(save_language_model(folder / "language")),
        "entailment": str(save_entailment_model(folder / "entailment")),
    }


@pytest.fixture(scope="session")
def prompts() -> Inputs:
    """Return the prompts of a relation with three entities, one of them invented. Each entity has three contexts."""
    relation, facts = RelationName("capital"), list(sample.facts("capital"))
    names = catalog.invented_entities("country")
    entities = choose_entities(relation, facts, names, real=2, invented=1, seed=0, choice="random")
    per_kind: dict[ContextKind, int] = {"base": 1, "assertive": 1, "negation": 1}
    templates = catalog.relation(relation)
    contexts = write_contexts(templates, entities, objects(facts), per_kind=per_kind, seed=0)
    questions = sample.questions("static")[:3]
    queries = write_queries(templates, entities)
    return Inputs("capital", 7, "digest", queries, contexts, questions, variant="m", device="cpu")


@pytest.fixture
def study(tmp_path: Path, prompts: Inputs, models: dict[str, str]) -> Study:
    """Return a study without scores."""
    return Study(
        tmp_path / "study",
        prompts,
        models["language"],
        {
            "greedy_answers": {"max_new_tokens": 4},
            "fisher_susceptibility": {"top_k": 3, "draws": 32},
            "precision": {"queries": 2, "reference": "bfloat16"},
            "answers": {"samples": 4, "max_new_tokens": 5, "temperature": 1.0, "top_p": 0.9},
            "clusters": {"entailment": models["entailment"]},
            "semantic_entropy": {"half_samples": 12},
            "coherent_persuasion": {"half_samples": 12},
        },
    )


@pytest.fixture
def language_model(study: Study) -> Any:
    return load_language_model(study.model, dtype="float32", device="cpu")
