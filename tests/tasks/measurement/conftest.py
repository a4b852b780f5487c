"""A relation with its prompts in a workspace, and a random model that answers them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from data.measures import MEASURES
from data.sources import sample
from data.sources.fetch import fetch_facts
from data.tables import CONTEXTS, FACTS, QUERIES, QUESTIONS
from data.workspace import Stored, Workspace
from tasks.contexts.build import build_prompts, build_questions
from tasks.measurement.work import Work
from tests.tasks.models.tiny import save_entailment_model, save_language_model

PARAMETERS = {"samples": 4, "max_new_tokens": 5, "temperature": 1.0, "top_p": 0.9, "top_k": 0, "threshold": 0.8}


@dataclass(frozen=True)
class Prepared:
    """A workspace with prompts, and the works that can be done in it by family."""

    workspace: Workspace
    works: dict[str, Work]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "language": str(save_language_model(folder / "language")),
        "entailment": str(save_entailment_model(folder / "entailment")),
    }


@pytest.fixture
def prepare(models: dict[str, str]) -> Callable[[Path], Prepared]:
    def made(folder: Path) -> Prepared:
        return _prepared(Workspace(folder), models)

    return made


@pytest.fixture
def prepared(tmp_path: Path, prepare: Callable[[Path], Prepared]) -> Prepared:
    return prepare(tmp_path / "study")


def _prepared(workspace: Workspace, models: dict[str, str]) -> Prepared:
    facts = workspace.facts("capital", FACTS, {})
    queries = workspace.prompts("capital", QUERIES, {})
    contexts = workspace.prompts("capital", CONTEXTS, {})
    questions = workspace.prompts("capital", QUESTIONS, {})
    fetch_facts("capital", facts)
    build_prompts(
        facts, queries, contexts, relation="capital", real=2, invented=1, seed=0,
        per_kind={"base": 1, "assertive": 1, "negation": 1},
    )  # fmt: skip
    build_questions(sample.questions("static")[:3], questions)
    answers = {"parameters": {**PARAMETERS, "entailment": models["entailment"]}}
    correctness = {"parameters": {"rouge_threshold": 0.3}}

    def of(family: str, inputs: dict[str, Stored], made_from: dict[str, object]) -> Work:
        wanted = {
            name: workspace.scores("capital", "tiny", one.table, {"measure": name, **made_from})
            for name, one in MEASURES.items()
            if one.family == family
        }
        return Work("capital", models["language"], "float32", "cpu", family, 7, inputs, wanted)

    works = {
        "persuasion": of("persuasion", {"queries": queries, "contexts": contexts}, {}),
        "answers": of("answers", {"questions": questions}, answers),
    }
    inputs = {"questions": questions, "answers": works["answers"].wanted["answers"]}
    works["correctness"] = of("correctness", inputs, correctness)
    return Prepared(workspace, works)
