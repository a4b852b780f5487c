"""Responses of providers, in the forms of their documentation: replies, refusals and refused parameters."""

import json
from pathlib import Path
from typing import Any

import pytest

from swaymeter.data import catalog
from swaymeter.data.errors import ServiceError
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.endpoint import Api, Decoding, Endpoint, Prompt, Reply
from swaymeter.tasks.models.endpoints.model import load_served
from swaymeter.tasks.models.endpoints.probe import probe
from swaymeter.tasks.models.endpoints.servers import SERVERS, RefusedParameter
from swaymeter.tasks.models.prompts.answer_prompts import answer_prompt, thinking_words, thinks_always
from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response, serving
from tests.tasks.models.endpoints.letter_server import LetterServer, letter_server

TURNS = Prompt(turns=[{"role": "user", "content": "Which town is it?"}])
TOKENS = Prompt(tokens=(5, 6, 7))


def chat(message: Any, finish: str | None = "stop", *, logprobs: Any = None, **others: Any) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish, "logprobs": logprobs}
    usage = {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 14}
    return {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage, **others}


def reply_from(content: Any, folder: Path, api: Api = "openai", status: int = 200, prompt: Prompt = TURNS) -> Reply:
    with serving(json_response(content, status=status)) as server:
        served = SERVERS[api](Client(Endpoint("made-up", server.address), folder))
        (reply,) = served.replies(prompt, Decoding(16))
    return reply


LOG_PROBS = {
    "content": [
        {"token": "Os", "logprob": -0.25, "bytes": [79, 115], "top_logprobs": []},
        {"token": "lo", "logprob": -0.5, "bytes": [108, 111], "top_logprobs": []},
    ]
}
OSLO = Reply("Oslo", prompt_tokens=12, completion_tokens=2)
RESPONSES = {
    "openai": (
        chat(
            {"content": "Oslo", "refusal": None, "annotations": []},
            logprobs={**LOG_PROBS, "refusal": None},
            model="big-1-2026-08-06",
            system_fingerprint="fp_1",
        ),
        Reply(
            "Oslo",
            token_log_probs=(-0.25, -0.5),
            token_texts=("Os", "lo"),
            prompt_tokens=12,
            completion_tokens=2,
            model_and_configuration=("big-1-2026-08-06", "fp_1"),
        ),
    ),
    "openai, a refusal": (
        chat({"content": None, "refusal": "I cannot say."}),
        Reply("I cannot say.", prompt_tokens=12, completion_tokens=2),
    ),
    "azure, answer filtered": (
        chat({"content": "Os"}, "content_filter", prompt_filter_results=[{"prompt_index": 0}]),
        Reply("Os", "content_filter", prompt_tokens=12, completion_tokens=2),
    ),
    "anthropic": (chat({"content": "Oslo"}, "stop", system_fingerprint=None), OSLO),
    "anthropic, a refusal": (
        chat({"content": ""}, "refusal"),
        Reply("", "content_filter", prompt_tokens=12, completion_tokens=2),
    ),
    "deepseek, thoughts": (
        chat({"content": "Oslo", "reasoning_content": "Norway. So Oslo."}),
        Reply("Oslo", thoughts="Norway. So Oslo.", prompt_tokens=12, completion_tokens=2),
    ),
    "gemini, cut": (chat({"content": None}, "length"), Reply("", "length", prompt_tokens=12, completion_tokens=2)),
    "gemini, no finish": (chat({"content": "Oslo"}, None), Reply("Oslo", prompt_tokens=12, completion_tokens=2)),
    "openrouter, thoughts": (
        chat({"content": "Oslo", "reasoning": "Hm."}, native_finish_reason="STOP", provider="made-up"),
        Reply("Oslo", thoughts="Hm.", prompt_tokens=12, completion_tokens=2),
    ),
    "ollama": (
        chat({"content": "Oslo"}, logprobs=LOG_PROBS, model="small:latest", system_fingerprint="fp_ollama"),
        Reply(
            "Oslo",
            token_log_probs=(-0.25, -0.5),
            token_texts=("Os", "lo"),
            prompt_tokens=12,
            completion_tokens=2,
            model_and_configuration=("small:latest", "fp_ollama"),
        ),
    ),
    "tgi": (
        chat({"content": "Oslo"}, "eos_token", logprobs=LOG_PROBS),
        Reply("Oslo", token_log_probs=(-0.25, -0.5), token_texts=("Os", "lo"), prompt_tokens=12, completion_tokens=2),
    ),
    "transformers serve": ({"choices": [{"message": {"content": "Oslo"}, "finish_reason": "stop"}]}, Reply("Oslo")),
    "mistral, parts": (
        chat(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
                    {"type": "text", "text": "Oslo"},
                ]
            }
        ),
        Reply("Oslo", thoughts="Hm.", prompt_tokens=12, completion_tokens=2),
    ),
    "vllm, log-probabilities of thoughts": (
        chat({"content": "lo", "reasoning_content": "Os"}, logprobs=LOG_PROBS),
        Reply("lo", thoughts="Os", token_log_probs=(-0.5,), token_texts=("lo",), prompt_tokens=12, completion_tokens=2),
    ),
}


@pytest.mark.parametrize("name", RESPONSES)
def test_documented_response_becomes_a_reply(name: str, tmp_path: Path) -> None:
    content, expected = RESPONSES[name]
    assert reply_from(content, tmp_path) == expected


def test_filtered_prompt_is_a_cached_reply(tmp_path: Path) -> None:
    """Azure answers 400 for a prompt that its content filter withholds."""
    error = {"message": "The response was filtered", "param": "prompt", "code": "content_filter", "status": 400}
    with serving(json_response({"error": error}, status=400)) as server:
        served = SERVERS["openai"](Client(Endpoint("made-up", server.address), tmp_path))
        for _ in range(2):
            assert served.replies(TURNS, Decoding(16)) == [Reply("", "content_filter")]
        assert len(server.received) == 1


@pytest.mark.parametrize(
    ("content", "status", "parameter"),
    [
        (
            {"error": {"message": "Unsupported parameter", "param": "max_tokens", "code": "unsupported_parameter"}},
            400,
            "max_tokens",
        ),
        (
            {"error": {"message": "'temperature' does not support 0 with this model", "param": "temperature"}},
            400,
            "temperature",
        ),
        (
            {"object": "error", "message": {"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"]}]}},
            422,
            "seed",
        ),
        ({"detail": [{"loc": ["body", "logprobs"], "msg": "extra fields not permitted"}]}, 422, "logprobs"),
        ({"error": {"message": "Model not found: made-up", "code": 404}}, 400, ""),
        (
            {"choices": [{"error": {"code": 400, "message": "Provider returned error"}}]},
            200,
            "",
        ),
    ],
)
def test_refused_parameter_is_named(content: Any, status: int, parameter: str, tmp_path: Path) -> None:
    with pytest.raises(ServiceError) as error:
        reply_from(content, tmp_path, status=status)
    assert getattr(error.value, "name", "") == parameter
    assert isinstance(error.value, RefusedParameter) == bool(parameter)


def test_refusal_in_plain_text_is_quoted(tmp_path: Path) -> None:
    with serving(ServedResponse(b"upstream: no such route", status=400)) as server:
        served = SERVERS["openai"](Client(Endpoint("made-up", server.address), tmp_path))
        with pytest.raises(ServiceError, match=r"400 Bad Request.*no such route"):
            served.replies(TURNS, Decoding(16))


@pytest.mark.parametrize(
    ("refused", "sent"),
    [
        (("max_tokens", "logprobs", "temperature", "presence_penalty"), {"max_completion_tokens"}),
        (("seed", "frequency_penalty", "logprobs"), {"random_seed", "max_tokens", "temperature"}),
        (("seed", "random_seed", "n"), {"max_tokens", "temperature"}),
    ],
)
def test_requests_leave_out_refused_parameters(refused: tuple[str, ...], sent: set[str], tmp_path: Path) -> None:
    """The server refuses one parameter at a time."""
    responses = LetterServer(frozenset({"one answer per request"}), "openai")

    def play(request: ServedRequest) -> ServedResponse:
        body = request.body.decode()
        if request.method == "POST" and (parameter := next((name for name in refused if f'"{name}"' in body), None)):
            return json_response({"error": {"message": "Unsupported parameter", "param": parameter}}, status=400)
        # LetterServer knows neither these two names nor defaults.
        usual_body = body.replace("max_completion_tokens", "max_tokens").replace("random_seed", "seed")
        defaults = {"seed": 1, "temperature": 1.0, "n": 1}
        whole_body = {**defaults, **({} if request.method == "GET" else json.loads(usual_body))}
        return responses.answer(
            ServedRequest(request.method, request.path, {}, {}, json.dumps(whole_body).encode(), request.at)
        )

    with serving(play=play) as server:
        served, result = probe(Client(Endpoint("made-up", server.address), tmp_path), None)
        before = len(server.received)
        served.replies(TURNS, Decoding(16))
        body = json.loads(server.received[before].body.decode())
    assert result.settings.refused == sorted(refused)
    assert all(name in result.failed["parameters"] for name in refused if name not in ("logprobs", "random_seed"))
    assert ("token_log_probs" in result.missing) == ("logprobs" in refused)
    assert sent <= body.keys()
    assert not body.keys() & set(refused)


@pytest.mark.parametrize(
    ("fault", "dialect", "words", "always_thinks"),
    [
        ("thinks by default", "vllm", "enable_thinking=false", False),
        ("thinks by default", "openai", "enable_thinking=false", False),
        ("thinks", "vllm", "the chat template has no switch", True),
        ("one answer per request", "vllm", None, False),
    ],
)
def test_thinking_is_turned_off_if_possible(
    fault: str, dialect: str, words: str | None, always_thinks: bool, tmp_path: Path
) -> None:
    """A chat template may have a switch of thinking. Without a switch, the model may think."""
    prompts = catalog.prompts()
    with letter_server(fault, dialect=dialect) as server:
        model = load_served(Endpoint("made-up", server.address), tmp_path)
        assert model.lacks("token_log_probs") is None
        assert thinking_words(model, prompts, None) == words
        assert thinks_always(model, prompts) == always_thinks
        prompt = answer_prompt(model, "Which town is it?", "It is Oslo.", prompts=prompts).tokens
        (answers,) = model.sample_answers([prompt], [("q", "none")], samples=2, form="chat")
        body = json.loads(server.received[-1].body)
    assert bool(answers.greedy.thoughts) == always_thinks
    assert body.get("chat_template_kwargs") == ({"enable_thinking": False} if words and not always_thinks else None)


def test_hidden_thoughts_are_counted(tmp_path: Path) -> None:
    content = chat({"content": ""}, "length")
    content["usage"]["completion_tokens_details"] = {"reasoning_tokens": 16}
    assert reply_from(content, tmp_path).thoughts.startswith("16 tokens of thoughts")
