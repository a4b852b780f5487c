"""A relation with its prompts in a workspace, and a random model that answers them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from data.sources.fetch import write_facts, write_names
from tasks.contexts.build import build_prompts, build_questions

from data import catalog
from data.measures import FAMILIES, MEASURES
from data.records.tables import CONTEXTS, FACTS, INVENTED, QUERIES, QUESTIONS
from data.registry import INPUTS
from data.sources import sample
from data.storage.workspace import Stored, Workspace
from tasks.measurement import answers, chunks
from tasks.measurement.measure import do
from tasks.measurement.work import Work
from tasks.models import LanguageModel, load_language_model
from tests.tasks.models.tiny import save_entailment_model, save_language_model

SAMPLING = {"samples": 4, "max_new_tokens": 5, "temperature": 1.0, "top_p": 0.9, "top_k": 0}
PARAMETERS = {**SAMPLING, "threshold": 0.8, "entailment_with_question": False, "half_samples": 12}
OTHER_PARAMETERS: dict[str, dict[str, Any]] = {
    "greedy_answers": {"max_new_tokens": 4},
    "answer_set_persuasion": {"terminators": ("\n", ".")},
    "fisher_susceptibility": {"top_k": 3, "draws": 32},
    "precision": {"queries": 2, "reference": "float32"},
    "accuracy": {"rouge_threshold": 0.3},
    "persuaded": {"rouge_threshold": 0.3},
}


@dataclass(frozen=True)
class Prepared:
    """A workspace with prompts, and the works that can be done in it by family."""

    workspace: Workspace
    works: dict[str, Work]


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of eight queries and of two questions, so that a small relation has several."""
    monkeypatch.setattr(chunks, "LEAST_QUERIES", 8)
    monkeypatch.setattr(chunks, "LEAST_PROMPTS", 1)
    monkeypatch.setattr(answers, "QUESTIONS_A_CHUNK", {"cpu": 2})


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("models")
    return {
        "language": str(save_language_model(folder / "language")),
        "entailment": str(save_entailment_model(folder / "entailment")),
    }


@pytest.fixture
def model(models: dict[str, str]) -> LanguageModel:
    """The model that the works ask, most of them."""
    return load_language_model(models["language"], dtype="float32", device="cpu")


@pytest.fixture
def measured(prepared: Prepared) -> Prepared:
    """All of it done."""
    for work in prepared.works.values():
        do(work, prepared.workspace)
    return prepared


@pytest.fixture
def prepare(models: dict[str, str]) -> Callable[[Path], Prepared]:
    def made(folder: Path) -> Prepared:
        return _prepared(Workspace(folder), models)

    return made


@pytest.fixture
def prepared(tmp_path: Path, prepare: Callable[[Path], Prepared]) -> Prepared:
    return prepare(tmp_path / "study")


def rows(stored: Stored) -> list[dict[str, Any]]:
    """What a file holds."""
    found: list[dict[str, Any]] = stored.read().to_pylist()
    return found


def _prepared(workspace: Workspace, models: dict[str, str]) -> Prepared:
    facts = workspace.facts("capital", FACTS, {})
    queries = workspace.prompts("capital", QUERIES, {})
    contexts = workspace.prompts("capital", CONTEXTS, {})
    questions = workspace.prompts("capital", QUESTIONS, {})
    names = workspace.facts("country", INVENTED, {})
    write_facts("capital", sample.facts("capital"), facts)
    write_names("country", catalog.invented_entities("country"), names, made_by="catalog", looked_for_in=())
    build_prompts(
        facts, names, queries, contexts, relation="capital", real=2, invented=1, choice="random", seed=0,
        per_kind={"base": 1, "assertive": 1, "negation": 1},
    )  # fmt: skip
    build_questions(sample.questions("static")[:3], questions)
    parameters = OTHER_PARAMETERS | {"answers": {**PARAMETERS, "entailment": models["entailment"]}}
    prompts = {"queries": queries, "contexts": contexts, "questions": questions}

    def scores(name: str) -> Stored:
        made_from = {"measure": name, "parameters": parameters.get(name, {})}
        return workspace.scores("capital", "tiny", MEASURES[name].table, made_from)

    def work(family: str) -> Work:
        members = {name: one for name, one in MEASURES.items() if one.family == family}
        inputs = next(iter(members.values())).inputs
        return Work(
            relation="capital",
            model=models["language"],
            dtype="bfloat16" if family == "precision" else "float32",
            device="cpu",
            family=family,
            seed=7,
            inputs={name: prompts[name] for name in INPUTS[inputs]},
            wanted={name: scores(name) for name in members},
            needs={
                need: scores(need) for one in members.values() for need in one.needs if MEASURES[need].family != family
            },
        )

    return Prepared(workspace, {family: work(family) for family in FAMILIES})
