"""A relation with its queries, contexts and questions, random small models, and a workspace for its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from data import catalog
from data.records import Context, Query, of_row
from data.records.tables import CONTEXTS, FACTS, INVENTED, QUERIES
from data.sources import sample
from data.sources.fetch import write_facts, write_names
from data.storage.workspace import Workspace
from tasks.contexts.build import build_prompts
from tasks.measures import MEASURES, chunks
from tasks.measures.measure import Inputs
from tasks.measures.passes import passes, with_needs
from tasks.measures.run import Progress, Spent, measure_relation
from tasks.models import load_language_model
from tests.tasks.measures.artifacts import StoredArtifact
from tests.tasks.models.tiny import save_entailment_model, save_language_model

Row = dict[str, Any]


@dataclass
class Study:
    """A relation under a model: what is stored of it, and which models were loaded.

    Attributes:
        folder: of its workspace.
        inputs: its prompts; scores, parameters and outputs are those of each pass.
        model: the name of its language model.
        parameters: of its measures, where they are not the defaults.
        loaded: how often a language model was loaded.
    """

    folder: Path
    inputs: Inputs
    model: str
    parameters: dict[str, dict[str, Any]]
    loaded: int = field(default=0)

    def artifact(self, name: str) -> StoredArtifact:
        """Where the scores of a measure lie."""
        workspace = Workspace(self.folder)
        made_from = {"measure": name, "parameters": self.parameters.get(name, {})}
        return StoredArtifact(
            workspace, workspace.scores(self.inputs.relation, "tiny", MEASURES[name].table, made_from)
        )

    def score(self, *names: str, force: bool = False, progress: Progress = lambda done, total: None) -> Spent:
        """Computes what is missing of these measures and of those that they need; gives what the last pass took."""
        spent = Spent()
        missing = [name for name in with_needs(names) if force or not self.artifact(name).is_done()]
        for one in passes(missing):
            spent = measure_relation(
                one.leading,
                replace(
                    self.inputs,
                    scores={name: self.artifact(name).read() for name in one.needs},
                    parameters=self._parameters(),
                ),
                {name: self.artifact(name) for name in one.measures},
                self._load,
                progress,
                force=force,
            )
        return spent

    def rows(self, name: str) -> list[Row]:
        """The stored rows of a measure, which is scored first where it is not."""
        self.score(name)
        return self.artifact(name).read().to_pylist()

    def by_question(self, name: str) -> dict[tuple[str, str], Row]:
        """The stored rows of a measure by question and condition."""
        return {(row["question_id"], row["condition"]): row for row in self.rows(name)}

    def _parameters(self) -> Mapping[str, Any]:
        return {
            name: measure.parameters.model_validate(self.parameters.get(name, {})) for name, measure in MEASURES.items()
        }

    def _load(self) -> Any:
        self.loaded += 1
        return load_language_model(self.model, dtype="float32", device="cpu")


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of eight queries and of two questions, so that a small relation has several."""
    monkeypatch.setattr(chunks, "LEAST_QUERIES", 8)
    monkeypatch.setattr(chunks, "LEAST_PROMPTS", 1)
    monkeypatch.setattr(chunks, "QUESTIONS_A_CHUNK", {"cpu": 2})


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The folders of a language model and of an entailment model."""
    folder = tmp_path_factory.mktemp("models")
    return {
        "language": str(save_language_model(folder / "language")),
        "entailment": str(save_entailment_model(folder / "entailment")),
    }


@pytest.fixture(scope="session")
def prompts(tmp_path_factory: pytest.TempPathFactory) -> Inputs:
    """The prompts of a relation."""
    workspace = Workspace(tmp_path_factory.mktemp("prompts"))
    facts, names = workspace.facts("capital", FACTS, {}), workspace.facts("country", INVENTED, {})
    queries, contexts = workspace.prompts("capital", QUERIES, {}), workspace.prompts("capital", CONTEXTS, {})
    write_facts("capital", sample.facts("capital"), facts)
    write_names("country", catalog.invented_entities("country"), names, made_by="catalog", looked_for_in=())
    build_prompts(
        facts, names, queries, contexts, relation="capital", real=2, invented=1, choice="random", seed=0,
        per_kind={"base": 1, "assertive": 1, "negation": 1},
    )  # fmt: skip
    return Inputs(
        "capital",
        7,
        "digest",
        [of_row(Query, row) for row in queries.read().to_pylist()],
        [of_row(Context, row) for row in contexts.read().to_pylist()],
        sample.questions("static")[:3],
        device="cpu",
    )


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


def texts(items: Sequence[Query] | Sequence[Context]) -> list[str]:
    """The texts of queries or contexts."""
    return [item.text for item in items]
