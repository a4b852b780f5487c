"""A study of two model servers and a local model: no request is repeated, and no file has the key."""

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

from tests.data.sources.servers.faults import FaultServer, ServedRequest, ServedResponse, json_response, serving
from tests.end_to_end.tiny_study import Run, TinyStudy
from tests.tasks.models.endpoints.fake_servers import QUESTIONS, SERVERS
from tests.tasks.models.endpoints.letter_server import LetterServer, letter_server
from tests.tasks.models.tiny import save_language_model

KEY = "sk-made/up+0123456789"


@dataclass
class Scene:
    """A study of two model servers after its first run.

    Attributes:
        study: the study.
        run: the first run.
        servers: the servers; responses of the first server repeat its key.
        dead: indices of servers that refuse all requests.
    """

    study: TinyStudy
    run: Run
    servers: list[FaultServer]
    dead: set[int] = field(default_factory=set)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory, api: str) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("endpoints")
    dead = set[int]()
    letters = LetterServer(frozenset(), "openai")

    def first(request: ServedRequest) -> ServedResponse | None:
        assert request.headers["authorization"] == f"Bearer {KEY}"
        if 0 in dead:
            return ServedResponse(status=403)
        if request.method == "GET":
            return json_response(
                {"data": [{"id": "made-up", "owned_by": KEY, "root": f"at {KEY}"}]}, headers={"X-Key": KEY}
            )
        content = json.loads(letters.answer(request).body)
        for choice in content["choices"]:
            part, name = (choice["message"], "content") if "message" in choice else (choice, "text")
            part[name] += f" {KEY}"
        escaped = json.dumps(content).replace(KEY, KEY.replace("/", "\\/").replace("s", "\\u0073"))
        return ServedResponse(escaped, headers={"X-Key": KEY}, delay_s=0.02)

    def second(request: ServedRequest) -> ServedResponse | None:
        assert "authorization" not in request.headers
        return ServedResponse(status=403) if 1 in dead else None  # a dropped connection would be tried again

    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("MADE_UP_KEY", KEY)
        servers = [
            stack.enter_context(letter_server(dialect="openai", override=override)) for override in (first, second)
        ]
        local = save_language_model(folder / "tiny-model")
        models: list[dict[str, Any]] = [
            {"name": name, "endpoint": server.address, "served_as": "made-up"}
            for name, server in zip(("one", "two"), servers, strict=True)
        ]
        models[0]["key_from"] = "MADE_UP_KEY"
        content = {
            "name": "served",
            "seed": 1,
            "questions": {"partitions": ["static"], "per_partition": 1},
            "models": [*models, {"name": str(local), "dtype": "float32", "device": "cpu"}],
            "measures": {"answers": {"samples": 2, "max_new_tokens": 4}, "accuracy": {}},
        }
        study = TinyStudy.of(folder / "served.yaml", folder / "workspace", api, content)
        run = study.run("run")
        assert run.code == 0, run.output
        yield Scene(study, run, servers, dead)


def request_count(scene: Scene) -> int:
    return sum(len(server.received) for server in scene.servers)


def test_finished_study_sends_no_request(scene: Scene) -> None:
    before = request_count(scene)
    scene.dead |= {0, 1}
    try:
        for command in (("run",), ("run", "--offline"), ("status",)):
            run = scene.study.run(*command)
            assert run.code == 0, run.output
    finally:
        scene.dead.clear()
    assert request_count(scene) == before


def test_dead_server_stops_no_other_model(scene: Scene, tmp_path: Path) -> None:
    study = scene.study.copy(tmp_path / "workspace")
    shutil.rmtree(study.workspace / "scores")
    scene.dead.add(1)
    before = len(scene.servers[0].received)
    try:
        offline = study.run("run", "--stage", "score", "--offline")  # from cached responses
        assert offline.code == 0, offline.output
        assert study.scores() == scene.study.scores()
        assert len(scene.servers[0].received) == before
        shutil.rmtree(study.workspace / "scores")
        shutil.rmtree(study.workspace / "downloads" / "endpoints")
        failed = study.run("run", "--stage", "score")
        assert failed.code == 1, failed.output
        assert "model two (http://127.0.0.1" in failed.output
        scored = {name for name in study.scores() if "/answers" in name}
        assert len(scored) == 2, "the failure stopped the steps of other models"
        offline = study.run("run", "--stage", "score", "--offline")
        assert offline.code == 2, offline.output  # refused before a step runs
        assert "run again with a network" in offline.output
    finally:
        scene.dead.clear()
    again = study.run("run", "--stage", "score")
    assert again.code == 0, again.output
    assert study.scores() == scene.study.scores()


def test_no_file_or_output_has_the_key(scene: Scene) -> None:
    texts = [scene.run.output.encode()]
    folders = (scene.study.workspace, scene.study.prefect_home, scene.study.file.parent)
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    assert any("report" in file.parts for file in files)
    assert any(file.suffix == ".db" for file in files), "the files lack Prefect's database"
    texts += [file.read_bytes() for file in files]
    escaped = [KEY, json.dumps(KEY)[1:-1], KEY.replace("/", "\\/"), KEY.replace("s", "\\u0073").replace("/", "\\/")]
    named_texts = zip(["output", *files], texts, strict=True)
    assert not [file for file, text in named_texts if any(key.encode() in text for key in escaped)]
    assert b"[key]" in b"".join(texts), "the server did not repeat the key"


def test_audit_compares_contexts_of_a_thinking_model(tmp_path: Path, api: str) -> None:
    questions = tmp_path / "questions.csv"
    questions.write_text(QUESTIONS)
    audit = TinyStudy(questions, tmp_path / "workspace", tmp_path / "prefect", uuid.uuid4().hex, api)
    with serving(play=SERVERS["Ollama"].answer) as server:
        run = audit.run("audit", "--model", f"qwen3:4b@{server.address.removesuffix('/ask')}/v1")
    assert run.code == 0, run.output
    rows = r"with a right passage +2 of 2 .*follow\.supporting", r"with a wrong passage +0 of 2 +2 of 2 .*follow\.conf"
    for row in rows:
        assert re.search(row, run.output), run.output
    assert "declined" not in run.output
