"""A relation with its queries, contexts and questions, random small models, and a workspace for its scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
    """The measures of these names and, transitively, those that they need."""
    return {*names, *(other for name in names for other in needed(*MEASURES[name].needs))}


@dataclass
class Study:
    """A relation under a model: its stored scores, and how often a model was loaded.

    inputs: its prompts; parameters: of its measures, where they are not the defaults.
    """

    folder: Path
    inputs: Inputs
    model: str
    parameters: dict[str, dict[str, Any]]
    loaded: int = field(default=0)

    def artifact(self, name: str) -> TableArtifact:
        """Where the scores of a measure lie."""
        made_from = {"measure": name, "parameters": self.parameters.get(name, {})}
        return TableArtifact(self.folder, name, MEASURES[name].table, made_from)

    def score(self, *names: str, progress: ReportProgress = lambda done, total: None) -> Cost:
        """Computes what is missing of these measures and of those that they need; gives what was spent."""
        parameters = {
            name: MEASURES[name].parameters.model_validate(self.parameters.get(name, {})) for name in needed(*names)
        }
        return measure_relation(
            replace(self.inputs, parameters=parameters),
            {name: self.artifact(name) for name in needed(*names)},
            self._load,
            progress,
        )

    def rows(self, name: str) -> list[Row]:
        """The stored rows of a measure, which is scored first where it is not."""
        self.score(name)
        return self.artifact(name).read().to_pylist()

    def store(self, name: str, rows: Sequence[Row]) -> None:
        """Stores rows of a measure as if they had been scored, with fillers in the columns that they lack."""
        artifact, blank = self.artifact(name), {"VARCHAR": "-", "BIGINT": 0, "DOUBLE": 0.0, "BOOLEAN": True}
        filled = {column.name: blank.get(column.type, []) for column in artifact.table.columns}
        filled |= {"relation": "capital", "engine": "slots", "stand_in": None}
        if name == "answers":
            filled["state"] = "complete"
        named = [{**filled, **({"context_id": row["condition"]} if "condition" in row else {}), **row} for row in rows]
        artifact.write(artifact.table.of(named), {})

    def by_question(self, name: str) -> dict[tuple[str, str], Row]:
        """The stored rows of a measure by question and condition."""
        return {(row["question_id"], row["condition"]): row for row in self.rows(name)}

    def _load(self) -> Any:
        self.loaded += 1
        return load_language_model(self.model, dtype="float32", device="cpu")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of eight queries and of two questions, so that a small relation has several."""
    monkeypatch.setattr(measure, "LEAST_QUERIES", 8)
    monkeypatch.setattr(measure, "LEAST_PROMPTS", 1)
    monkeypatch.setattr(measure, "QUESTIONS_A_CHUNK", {"cpu": 2})


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The folders of a language model and of an entailment model."""
    folder = tmp_path_factory.mktemp("models")
    return {
        "language": str(save_language_model(folder / "language")),
        "entailment": str(save_entailment_model(folder / "entailment")),
    }


@pytest.fixture(scope="session")
def prompts() -> Inputs:
    """The prompts of a relation: of two real entities and an invented one, with three contexts each."""
    relation, known = RelationName("capital"), list(sample.facts("capital"))
    names = catalog.invented_entities("country")
    entities = choose_entities(relation, known, names, real=2, invented=1, seed=0, choice="random")
    per_kind: dict[ContextKind, int] = {"base": 1, "assertive": 1, "negation": 1}
    forms = catalog.relation(relation)
    contexts = write_contexts(forms, entities, objects(known), per_kind=per_kind, seed=0)
    questions = sample.questions("static")[:3]
    queries = write_queries(forms, entities)
    return Inputs("capital", 7, "digest", queries, contexts, questions, variant="m", device="cpu")


@pytest.fixture
def study(tmp_path: Path, prompts: Inputs, models: dict[str, str]) -> Study:
    """A study of which nothing is scored yet."""
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
    """The language model of the study."""
    return load_language_model(study.model, dtype="float32", device="cpu")
