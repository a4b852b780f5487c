"""Imitations of chat servers. Their models follow the passages of an audit; their responses differ in form.

with serving(play=HiddenThoughts().answer) as server:
    server.address, server.received
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.data.sources.servers.faults import ServedRequest, ServedResponse, json_response

QUESTIONS = """\
id,question,answer,context,kind,context_answer
lib,When does the library close?,6 p.m.,The library closes at 6 p.m.,supporting,
lib,When does the library close?,6 p.m.,"Since May, the library closes at 8 p.m.",conflicting,8 p.m.
pay,What is the maximum payload of the Fennock 2?,8 kg,The Fennock 2 lifts up to 8 kg.,supporting,
pay,What is the maximum payload of the Fennock 2?,8 kg,Owners report that it lifts up to 5 kg.,conflicting,5 kg
"""
"""A file of questions; the models follow its passages."""
_VALUE = re.compile(r"closes at (\d+ [ap]\.m\.)|lifts up to (\d+ kg)")
Body = Mapping[str, Any]


class ChatServer:
    """A server of OpenAI's chat API. Its model replies with a passage's value, or a story that the seed selects."""

    model_names: tuple[str, ...] = ("fake-1",)

    def answer(self, request: ServedRequest) -> ServedResponse:
        """Return the response to a request."""
        if request.method == "GET":
            models = [{"id": name, "owned_by": "someone"} for name in self.model_names]
            return json_response({"data": models}) if request.path.endswith("/models") else _NO_ROUTE
        return self.reply(json.loads(request.body)) if request.path.endswith("/chat/completions") else _NO_ROUTE

    def reply(self, body: Body) -> ServedResponse:
        """Return the response to a chat request."""
        return self.completion(body, self.text(body))

    def text(self, body: Body) -> str:
        """Return the text of the model's reply."""
        prompt = self.prompt(body)
        if value := _VALUE.search(prompt):
            return value[1] or value[2]
        if self.is_question(body):
            return "5 p.m." if "library" in prompt else "12 kg"
        seed = str(body.get("seed", 0)) if body.get("temperature", 1) else "greedy"
        return f"Once {hashlib.sha256(seed.encode()).hexdigest()[:8]} a goat ate a map."

    @staticmethod
    def prompt(body: Body) -> str:
        return "\n".join(turn["content"] for turn in body["messages"])

    def is_question(self, body: Body) -> bool:
        """Return True for a question of the file; the probe never sends a question."""
        return "library" in self.prompt(body) or "payload" in self.prompt(body)

    @staticmethod
    def completion(
        body: Body, text: str | None, finish: str | None = "stop", tokens: int = 8, **message: Any
    ) -> ServedResponse:
        choices = [
            {"index": index, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
            for index in range(body.get("n", 1))
        ]
        usage = {"prompt_tokens": 20, "completion_tokens": tokens}
        return json_response({"object": "chat.completion", "model": body["model"], "choices": choices, "usage": usage})


_NO_ROUTE = json_response({"error": {"message": "no such route"}}, status=404)


class Ollama(ChatServer):
    """A model that always thinks: its thoughts, in `reasoning`, use up the first 200 tokens."""

    model_names = ("qwen3:4b",)
    field = "reasoning"

    def reply(self, body: Body) -> ServedResponse:
        thoughts = {self.field: "Okay, the user wants something. Let me think."} if self.field else {}
        limit = body.get("max_tokens") or body.get("max_completion_tokens")
        if not self.thinks(body):
            return super().reply(body)
        if limit < 200:
            return self.completion(body, "", "length", limit, **thoughts)
        return self.completion(body, self.text(body), tokens=208, **thoughts)

    def thinks(self, body: Body) -> bool:
        return True


class OllamaSwitch(Ollama):
    """A model that does not think if `reasoning_effort` is none."""

    def thinks(self, body: Body) -> bool:
        return body.get("reasoning_effort") != "none"


class ReasoningParser(Ollama):
    """vLLM or SGLang: thoughts are in `reasoning_content`, and a keyword of the chat template turns them off."""

    field = "reasoning_content"

    def thinks(self, body: Body) -> bool:
        return body.get("chat_template_kwargs", {}).get("enable_thinking") is not False


class HiddenThoughts(Ollama):
    """A hosted model: thoughts are counted, but not sent; unknown keys are refused."""

    field = ""

    def reply(self, body: Body) -> ServedResponse:
        for name in ("chat_template_kwargs", "reasoning_effort", "think"):
            if name in body:
                return json_response({"error": {"message": f"Unrecognized request argument: {name}"}}, status=400)
        return super().reply(body)


class EndlessThoughts(Ollama):
    """A model whose thoughts never end."""

    def reply(self, body: Body) -> ServedResponse:
        return self.completion(body, "", "length", body["max_tokens"], reasoning="Hm. Hm. Hm.")


class GeminiErrors(ChatServer):
    """A server that sends errors as a list of objects."""

    model_names = ("models/gemini-flash",)
    refused_parameters = ("seed", "frequency_penalty", "presence_penalty", "logprobs")

    def reply(self, body: Body) -> ServedResponse:
        names = [name for name in self.refused_parameters if name in body]
        return self.error(names) if names else super().reply(body)

    def error(self, names: list[str]) -> ServedResponse:
        text = "\n".join(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.' for name in names)
        return json_response([{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}], status=400)


class TextErrors(GeminiErrors):
    """A server that sends errors as a string."""

    def error(self, names: list[str]) -> ServedResponse:
        return json_response(f"unsupported: {names[0]}", status=400)


class PydanticErrors(GeminiErrors):
    """A server that sends pydantic's text as an error; the text repeats the request."""

    def error(self, names: list[str]) -> ServedResponse:
        text = (
            f"1 validation error for ChatRequest\n{names[0]}\n  Extra inputs are not permitted "
            "[type=extra_forbidden, input_value={'temperature': 0, 'top_p': 1.0}, input_type=dict]"
        )
        return json_response({"detail": text}, status=422)


class HtmlErrors(GeminiErrors):
    """A server that sends errors as an HTML page."""

    def error(self, names: list[str]) -> ServedResponse:
        page = f"<html><head><title>400</title></head><body><p>The key <b>{names[0]}</b> is unknown.</p></body></html>"
        return ServedResponse(page, status=400)


class Unlisted(ChatServer):
    """A list of models with a wildcard and a name without its suffix, like the lists of LiteLLM and OpenRouter."""

    model_names = ("openai/*", "qwen/qwen-2.5-7b-instruct")


class Empty(ChatServer):
    """A server that sends null in place of the reply to a question."""

    def reply(self, body: Body) -> ServedResponse:
        return self.completion(body, None, tokens=0) if self.is_question(body) else super().reply(body)


class ToolCalls(ChatServer):
    """A server that replies to every question with the call of a tool."""

    def reply(self, body: Body) -> ServedResponse:
        call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        if self.is_question(body):
            return self.completion(body, None, "tool_calls", tool_calls=[call])
        return super().reply(body)


class NullMessage(ChatServer):
    """A server with a content filter, which replaces the message of one question by null."""

    def reply(self, body: Body) -> ServedResponse:
        if "library" not in self.prompt(body):
            return super().reply(body)
        choices = [
            {"index": index, "message": None, "finish_reason": "content_filter"} for index in range(body.get("n", 1))
        ]
        return json_response({"model": body["model"], "choices": choices})


class NoFinish(ChatServer):
    """A server whose replies have no finish_reason."""

    def reply(self, body: Body) -> ServedResponse:
        return self.completion(body, self.text(body), None)


class NullLogProbs(ChatServer):
    """A server that sends null log-probabilities for every question."""

    def reply(self, body: Body) -> ServedResponse:
        content = json.loads(super().reply(body).body)
        for choice in content["choices"]:
            value = None if self.is_question(body) else -0.5
            tokens = re.findall(r"\s?\S+", choice["message"]["content"])
            choice["logprobs"] = {"content": [{"token": token, "logprob": value} for token in tokens]}
        return json_response(content)


class Deterministic(ChatServer):
    """An application that ignores temperature and seed."""

    def text(self, body: Body) -> str:
        return super().text({**body, "temperature": 0})


class Azure(ChatServer):
    """A deployment of Azure: it has no list of models, and its key is in the header api-key."""

    def answer(self, request: ServedRequest) -> ServedResponse:
        if request.headers.get("api-key") != "made-up-azure-key" or "authorization" in request.headers:
            return json_response({"error": {"code": "401", "message": "Access denied"}}, status=401)
        return _NO_ROUTE if request.method == "GET" else super().answer(request)
