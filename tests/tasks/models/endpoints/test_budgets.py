"""A run spends no more at a server than the study lets it, and goes on from there."""

from pathlib import Path
from typing import Any

import pytest

from swaymeter.data.errors import ModelError, ServiceBudget
from swaymeter.data.sources.http.session import close_sessions
from swaymeter.tasks.models.endpoints.client import Client, used_tokens
from swaymeter.tasks.models.endpoints.endpoint import Endpoint
from swaymeter.tasks.models.endpoints.messages import Letters
from swaymeter.tasks.models.endpoints.model import ServedModel
from swaymeter.tasks.models.endpoints.probe import probe
from tests.tasks.models.endpoints.made_up import made_up

QUESTIONS = [f"Where is town {number}?" for number in range(8)]


def asked(server: Any, folder: Path, **options: Any) -> ServedModel:
    client = Client(Endpoint("made-up", server.address, in_flight=1, **options), folder)
    return ServedModel(client.endpoint, "1", *probe(client, None), Letters())


def answers(model: ServedModel, questions: list[str]) -> list[str]:
    prompts = [model.tokenizer.apply_chat_template(
        [{"role": "user", "content": question}], chat_template=model.tokenizer.get_chat_template()
    ) for question in questions]  # fmt: skip
    sampled = model.sample_answers(prompts, [(question,) for question in questions], samples=1, max_new_tokens=8)
    return [answer.text for each in sampled for answer in (*each.samples, each.greedy)]


@pytest.mark.parametrize("setting", ["max_requests", "max_tokens", "max_cost"])
def test_budget(setting: str, tmp_path: Path) -> None:
    price = (2.0, 6.0)
    with made_up(dialect="openai") as server:
        free = asked(server, tmp_path / "free").served.client
        probed = {
            "max_requests": free.requests, "max_tokens": free.tokens_read + free.tokens_written,
            "max_cost": (2 * free.tokens_read + 6 * free.tokens_written) / 1e6,
        }[setting]  # fmt: skip
        expected = answers(asked(server, tmp_path / "free", price=price), QUESTIONS)
        limits = {setting: type(probed)(probed * 1.3), "price": price}
        said, found, before = list[str](), list[str](), len(server.asked)
        while not found and len(said) < 20:
            close_sessions()  # as a run does at its end
            try:
                found = answers(asked(server, tmp_path / "limited", **limits), QUESTIONS)
            except ServiceBudget as error:
                said.append(str(error))
    assert found == expected
    assert said
    assert all(setting in error for error in said)
    sent = [request.body for request in server.asked[before:] if request.method == "POST"]
    of_questions = [body for body in sent if b"town" in body]
    greedy_again = len(QUESTIONS)
    assert len(of_questions) == len(set(of_questions)) == len(expected) + greedy_again, "an answer was paid twice"


def test_no_usage(tmp_path: Path) -> None:
    with made_up("no usage", dialect="openai") as server:
        asked(server, tmp_path, max_requests=100)
        close_sessions()
        with pytest.raises(ModelError, match=r"does not say how many tokens.*max_requests"):
            asked(server, tmp_path, max_tokens=1000)


def test_used_tokens() -> None:
    assert used_tokens({"usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}) == (7, 3)
    assert used_tokens({"tokens_evaluated": 7, "tokens_predicted": 0}) == (7, 0)
    assert used_tokens({"meta_info": {"prompt_tokens": 7, "completion_tokens": 3}}) == (7, 3)
    assert used_tokens({"usage": {"prompt_tokens": True, "completion_tokens": -1}}) == (None, None)
    assert used_tokens([]) == (None, None)
