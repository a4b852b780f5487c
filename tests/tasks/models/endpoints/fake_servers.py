"""Kinds of chat servers. Their models follow the passages of an audit; their responses differ in form.

with serving(play=SERVERS["Ollama"].answer) as server:
    server.address, server.received
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response
from tests.tasks.models.endpoints.letter_server import Body, completion

QUESTIONS = Path(__file__).with_name("questions.csv").read_text()
"""A file of questions; the models follow its passages."""
REFUSED_PARAMETERS = ("seed", "frequency_penalty", "presence_penalty", "logprobs")
"""Parameters that several kinds of servers refuse."""
_VALUE = re.compile(r"closes at (\d+ [ap]\.m\.)|lifts up to (\d+ kg)")
Choice = dict[str, Any]


def _is_question(prompt: str) -> bool:
    """Return True for a question of the file; the probe never sends a question."""
    return "library" in prompt or "payload" in prompt


def _text(prompt: str, body: Body) -> str:
    """Return a passage's value, a wrong answer, or a story that the seed selects."""
    if value := _VALUE.search(prompt):
        return value[1] or value[2]
    if _is_question(prompt):
        return "5 p.m." if "library" in prompt else "12 kg"
    seed = str(body.get("seed", 0)) if body.get("temperature", 1) else "greedy"
    return f"Once {hashlib.sha256(seed.encode()).hexdigest()[:8]} a goat ate a map."


@dataclass(frozen=True)
class ChatServer:
    """A server of OpenAI's chat API.

    Attributes:
        names: The names in the list of models.
        text: Returns the text of the reply to a prompt.
        refused: Parameters that the server refuses.
        error: Returns the response to a request with these refused parameters.
        change: Changes a choice of the reply to a prompt.
        thinks: Returns True if the model thinks before the reply to a request.
        thought_tokens: Tokens of the thoughts. A reply with a smaller limit ends within its thoughts.
        thoughts_field: The field of a message that has the thoughts; empty for hidden thoughts.
    """

    names: tuple[str, ...] = ("fake-1",)
    text: Callable[[str, Body], str] = _text
    refused: Sequence[str] = ()
    error: Callable[[list[str]], ServedResponse] = lambda names: json_response(
        {"error": {"message": f"Unrecognized request argument: {names[0]}"}}, status=400
    )
    change: Callable[[Choice, str], Choice] = lambda choice, prompt: choice
    thinks: Callable[[Body], bool] = lambda body: False
    thought_tokens: float = 200
    thoughts_field: str = ""

    def answer(self, request: ServedRequest) -> ServedResponse:
        """Return the response to a request."""
        if request.method == "GET" and request.path.endswith("/models"):
            return json_response({"data": [{"id": name, "owned_by": "someone"} for name in self.names]})
        if not request.path.endswith("/chat/completions"):
            return json_response({"error": {"message": "no such route"}}, status=404)
        body = json.loads(request.body)
        refused = [name for name in self.refused if name in body]
        return self.error(refused) if refused else self._reply(body)

    def _reply(self, body: Body) -> ServedResponse:
        prompt = "\n".join(turn["content"] for turn in body["messages"])
        message, finish, tokens = {"role": "assistant", "content": self.text(prompt, body)}, "stop", 8
        if self.thinks(body):
            limit = body.get("max_tokens") or body["max_completion_tokens"]
            tokens += 200
            if self.thoughts_field:
                message[self.thoughts_field] = "Okay, the user wants something. Let me think."
            if limit < self.thought_tokens:
                message["content"], finish, tokens = "", "length", limit
        choice = self.change({"message": message, "finish_reason": finish}, prompt)
        return completion(body, [choice] * body.get("n", 1), prompt_tokens=20, completion_tokens=tokens)


def _for_questions(changes: Choice) -> Callable[[Choice, str], Choice]:
    return lambda choice, prompt: {**choice, **changes} if _is_question(prompt) else choice


def _with_log_probs(choice: Choice, prompt: str) -> Choice:
    """Return the choice with log-probabilities, which are null for a question."""
    value = None if _is_question(prompt) else -0.5
    tokens = re.findall(r"\s?\S+", choice["message"]["content"])
    return {**choice, "logprobs": {"content": [{"token": token, "logprob": value} for token in tokens]}}


def _gemini_error(names: list[str]) -> ServedResponse:
    text = "\n".join(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.' for name in names)
    return json_response([{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}], status=400)


def _pydantic_error(names: list[str]) -> ServedResponse:
    """Return pydantic's text, which repeats the request."""
    text = (
        f"1 validation error for ChatRequest\n{names[0]}\n  Extra inputs are not permitted "
        "[type=extra_forbidden, input_value={'temperature': 0, 'top_p': 1.0}, input_type=dict]"
    )
    return json_response({"detail": text}, status=422)


def _html_error(names: list[str]) -> ServedResponse:
    page = f"<html><head><title>400</title></head><body><p>The key <b>{names[0]}</b> is unknown.</p></body></html>"
    return ServedResponse(page, status=400)


_TOOL_CALL = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
SERVERS = {
    "without thoughts": ChatServer(),
    "Ollama": ChatServer(("qwen3:4b",), thinks=lambda body: True, thoughts_field="reasoning"),
    "Ollama with a switch": ChatServer(
        thinks=lambda body: body.get("reasoning_effort") != "none", thoughts_field="reasoning"
    ),
    "vLLM or SGLang with a reasoning parser": ChatServer(
        thinks=lambda body: body.get("chat_template_kwargs", {}).get("enable_thinking") is not False,
        thoughts_field="reasoning_content",
    ),
    # a hosted model: thoughts are counted, but not sent
    "hidden thoughts": ChatServer(
        refused=("chat_template_kwargs", "reasoning_effort", "think"), thinks=lambda body: True
    ),
    "endless thoughts": ChatServer(thinks=lambda body: True, thought_tokens=math.inf, thoughts_field="reasoning"),
    "Gemini": ChatServer(("models/gemini-flash",), refused=REFUSED_PARAMETERS, error=_gemini_error),
    "errors as strings": ChatServer(
        refused=REFUSED_PARAMETERS, error=lambda names: json_response(f"unsupported: {names[0]}", status=400)
    ),
    "errors of pydantic": ChatServer(refused=REFUSED_PARAMETERS, error=_pydantic_error),
    "errors as pages": ChatServer(refused=REFUSED_PARAMETERS, error=_html_error),
    # a wildcard, and a name without its suffix, like in the lists of LiteLLM and OpenRouter
    "short list of models": ChatServer(("openai/*", "qwen/qwen-2.5-7b-instruct")),
    "null replies": ChatServer(change=_for_questions({"message": {"content": None}})),
    "calls of tools": ChatServer(
        change=_for_questions({"message": {"content": None, "tool_calls": [_TOOL_CALL]}, "finish_reason": "tool_calls"})
    ),
    "content filter": ChatServer(
        change=lambda choice, prompt: (
            {**choice, "message": None, "finish_reason": "content_filter"} if "library" in prompt else choice
        )
    ),
    "no finish_reason": ChatServer(change=lambda choice, prompt: {**choice, "finish_reason": None}),
    "null log-probabilities": ChatServer(change=_with_log_probs),
    "always greedy": ChatServer(text=lambda prompt, body: _text(prompt, {**body, "temperature": 0})),
}
