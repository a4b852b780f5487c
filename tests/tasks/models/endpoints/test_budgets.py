"""Limits of requests: a run sends at most max_requests, and the next run continues its work."""

from pathlib import Path
from typing import Any

from swaymeter.data.errors import ServiceBudget
from swaymeter.data.sources.http.session import close_sessions
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Endpoint
from swaymeter.tasks.models.endpoints.messages import CodePointTokenizer
from swaymeter.tasks.models.endpoints.model import ServedModel
from swaymeter.tasks.models.endpoints.probe import probe
from tests.tasks.models.endpoints.letter_server import letter_server

QUESTIONS = [f"Where is town {number}?" for number in range(8)]


def served_model(server: Any, folder: Path, **options: Any) -> ServedModel:
    client = Client(Endpoint("made-up", server.address, in_flight=1, **options), folder)
    return ServedModel(client.endpoint, "1", *probe(client, None), CodePointTokenizer())


def answers(model: ServedModel, questions: list[str]) -> list[str]:
    prompts = [
        model.tokenizer.apply_chat_template(
            [{"role": "user", "content": question}], chat_template=model.tokenizer.get_chat_template()
        )
        for question in questions
    ]
    sampled = model.sample_answers(prompts, [(question,) for question in questions], samples=1, max_new_tokens=8)
    return [answer.text for reply in sampled for answer in (*reply.samples, reply.greedy)]


def test_runs_continue_after_max_requests(tmp_path: Path) -> None:
    with letter_server(dialect="openai") as server:
        probe_requests = served_model(server, tmp_path / "unlimited").server.client.requests
        limit = int(probe_requests * 1.3)  # enough for the probe, and too few for all replies
        expected = answers(served_model(server, tmp_path / "unlimited"), QUESTIONS)
        errors, replies, before = list[str](), list[str](), len(server.received)
        while not replies and len(errors) < 20:
            close_sessions()  # a run closes its sessions at its end
            try:
                replies = answers(served_model(server, tmp_path / "limited", max_requests=limit), QUESTIONS)
            except ServiceBudget as error:
                errors.append(str(error))
    assert replies == expected
    assert errors
    assert all("max_requests" in error for error in errors)
    sent = [request.body for request in server.received[before:] if request.method == "POST"]
    about_questions = [body for body in sent if b"town" in body]
    repeated = len(QUESTIONS)  # each greedy reply is requested again, with another seed
    assert len(about_questions) == len(set(about_questions)) == len(expected) + repeated, "a request was sent twice"
