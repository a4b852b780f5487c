"""A study of two servers and a model of this machine: asked once, and without a key in anything that it writes."""

import json
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.data.sources.servers.faults import FaultServer, Say, ServedRequest, says, serving
from tests.end_to_end.tiny_study import Run, TinyStudy
from tests.tasks.models.endpoints import fake_servers
from tests.tasks.models.endpoints.made_up import MadeUp, made_up
from tests.tasks.models.tiny import save_language_model

KEY = "sk-made/up+0123456789"


@dataclass
class Scene:
    """A study, what its first run said, and its two servers; the first one repeats its key wherever it can."""

    study: TinyStudy
    run: Run
    servers: list[FaultServer]
    dead: set[int] = field(default_factory=set)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, api: str) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("endpoints")
    dead = set[int]()
    answers = MadeUp(frozenset(), "openai")

    def first(asked: ServedRequest) -> Say | None:
        assert asked.headers["authorization"] == f"Bearer {KEY}"
        if 0 in dead:
            return Say(status=403)
        if asked.method == "GET":
            return says({"data": [{"id": "made-up", "owned_by": KEY, "root": f"at {KEY}"}]}, headers={"X-Key": KEY})
        content = json.loads(answers.answer(asked).body)
        for choice in content["choices"]:
            written, text = (choice["message"], "content") if "message" in choice else (choice, "text")
            written[text] += f" {KEY}"
        escaped = json.dumps(content).replace(KEY, KEY.replace("/", "\\/").replace("s", "\\u0073"))
        return Say(escaped, headers={"X-Key": KEY}, delay_s=0.02)

    def second(asked: ServedRequest) -> Say | None:
        assert "authorization" not in asked.headers
        return Say(status=403) if 1 in dead else None  # not dropped: that is tried again

    with ExitStack() as opened:
        patch = opened.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("MADE_UP_KEY", KEY)
        servers = [opened.enter_context(made_up(dialect="openai", before=before)) for before in (first, second)]
        here = save_language_model(folder / "tiny-model")
        models: list[dict[str, Any]] = [
            {"name": name, "endpoint": server.address, "served_as": "made-up"}
            for name, server in zip(("one", "two"), servers, strict=True)
        ]
        models[0]["key_from"] = "MADE_UP_KEY"
        content = {
            "name": "served",
            "seed": 1,
            "questions": {"partitions": ["static"], "per_partition": 1},
            "models": [*models, {"name": str(here), "dtype": "float32", "device": "cpu"}],
            "measures": {"answers": {"samples": 2, "max_new_tokens": 4}, "accuracy": {}},
        }
        study = TinyStudy.of(folder / "served.yaml", folder / "workspace", api, content)
        run = study.run("run")
        assert run.code == 0, run.said
        yield Scene(study, run, servers, dead)


def request_count(scene: Scene) -> int:
    return sum(len(server.received) for server in scene.servers)


def test_done(scene: Scene) -> None:
    before = request_count(scene)
    scene.dead |= {0, 1}
    try:
        for command in (("run",), ("run", "--offline"), ("status",)):
            done = scene.study.run(*command)
            assert done.code == 0, done.said
    finally:
        scene.dead.clear()
    assert request_count(scene) == before


def test_a_server_dies(scene: Scene, tmp_path: Path) -> None:
    study = scene.study.elsewhere(tmp_path / "workspace")
    shutil.rmtree(study.workspace / "scores")
    scene.dead.add(1)
    before = len(scene.servers[0].received)
    try:
        offline = study.run("run", "--stage", "score", "--offline")
        assert offline.code == 0, offline.said
        assert study.scores() == scene.study.scores()
        assert len(scene.servers[0].received) == before
        shutil.rmtree(study.workspace / "scores")
        shutil.rmtree(study.workspace / "downloads" / "endpoints")
        died = study.run("run", "--stage", "score")
        assert died.code == 1, died.said
        assert "model two (http://127.0.0.1" in died.said
        found = {name for name in study.scores() if "/answers" in name}
        assert len(found) == 2, "the other models' steps did not go on"
        offline = study.run("run", "--stage", "score", "--offline")
        assert offline.code == 2, offline.said  # before anything runs
        assert "run again with a network" in offline.said
    finally:
        scene.dead.clear()
    again = study.run("run", "--stage", "score")
    assert again.code == 0, again.said
    assert study.scores() == scene.study.scores()


def test_no_key_anywhere(scene: Scene) -> None:
    texts = [scene.run.said.encode()]
    folders = (scene.study.workspace, scene.study.prefect_home, scene.study.file.parent)
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert any("report" in file.parts for file in files)
    assert any(file.suffix == ".db" for file in files), "Prefect's database was not looked at"
    texts += [file.read_bytes() for file in files]
    escaped = [KEY, json.dumps(KEY)[1:-1], KEY.replace("/", "\\/"), KEY.replace("s", "\\u0073").replace("/", "\\/")]
    named = zip(["said", *files], texts, strict=True)
    assert not [file for file, text in named if any(of.encode() in text for of in escaped)]
    assert b"[key]" in b"".join(texts), "the server did not repeat it"


def test_audit_of_a_thinking_model(tmp_path: Path, api: str) -> None:
    questions = tmp_path / "questions.csv"
    questions.write_text(fake_servers.QUESTIONS)
    audit = TinyStudy(questions, tmp_path / "workspace", tmp_path / "prefect", uuid.uuid4().hex, api)
    with serving(play=fake_servers.Ollama().answer) as server:
        run = audit.run("audit", "--model", f"qwen3:4b@{server.address.removesuffix('/ask')}/v1")
    assert run.code == 0, run.said
    rows = r"with a right passage +2 of 2 .*follow\.supporting", r"with a wrong passage +0 of 2 +2 of 2 .*follow\.conf"
    for row in rows:
        assert re.search(row, run.said), run.said
    assert "declined" not in run.said
