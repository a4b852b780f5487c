"""Chat servers as they are, a class each: all follow the passages of an audit, and differ in what they send.

with serving(play=HiddenThoughts().answer) as server:
    server.address, server.received
"""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from tests.data.sources.servers.faults import Say, ServedRequest, says

QUESTIONS = """\
id,question,answer,context,kind,context_answer
lib,When does the library close?,6 p.m.,The library closes at 6 p.m.,supporting,
lib,When does the library close?,6 p.m.,"Since May, the library closes at 8 p.m.",conflicting,8 p.m.
pay,What is the maximum payload of the Fennock 2?,8 kg,The Fennock 2 lifts up to 8 kg.,supporting,
pay,What is the maximum payload of the Fennock 2?,8 kg,Owners report that it lifts up to 5 kg.,conflicting,5 kg
"""
"""A file of questions whose passages the servers follow."""
_VALUE = re.compile(r"closes at (\d+ [ap]\.m\.)|lifts up to (\d+ kg)")
Body = Mapping[str, Any]


class ChatServer:
    """A server of OpenAI's chat API whose model gives a passage's value, and tells stories by the seed."""

    listed: tuple[str, ...] = ("fake-1",)

    def answer(self, asked: ServedRequest) -> Say:
        """The response to a request."""
        if asked.method == "GET":
            models = [{"id": name, "owned_by": "someone"} for name in self.listed]
            return says({"data": models}) if asked.path.endswith("/models") else _NO_ROUTE
        return self.reply(json.loads(asked.body)) if asked.path.endswith("/chat/completions") else _NO_ROUTE

    def reply(self, body: Body) -> Say:
        """The response to a chat request."""
        return self.completion(body, self.text(body))

    def text(self, body: Body) -> str:
        """The model's own text."""
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
        """True for a question of the file, which the probe never sends."""
        return "library" in self.prompt(body) or "payload" in self.prompt(body)

    @staticmethod
    def completion(body: Body, text: str | None, finish: str | None = "stop", tokens: int = 8, **message: Any) -> Say:
        choices = [
            {"index": index, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
            for index in range(body.get("n", 1))
        ]
        usage = {"prompt_tokens": 20, "completion_tokens": tokens}
        return says({"object": "chat.completion", "model": body["model"], "choices": choices, "usage": usage})


_NO_ROUTE = says({"error": {"message": "no such route"}}, status=404)


class Ollama(ChatServer):
    """A model whose thoughts, in `reasoning`, use up the first 200 tokens; nothing turns them off."""

    listed = ("qwen3:4b",)
    field = "reasoning"

    def reply(self, body: Body) -> Say:
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
    """Thoughts end where `reasoning_effort` is none."""

    def thinks(self, body: Body) -> bool:
        return body.get("reasoning_effort") != "none"


class ReasoningParser(Ollama):
    """vLLM and SGLang: thoughts in `reasoning_content`, and a switch of the chat template."""

    field = "reasoning_content"

    def thinks(self, body: Body) -> bool:
        return body.get("chat_template_kwargs", {}).get("enable_thinking") is not False


class HiddenThoughts(Ollama):
    """A hosted model: thoughts are counted and not sent; unknown keys are refused."""

    field = ""

    def reply(self, body: Body) -> Say:
        for name in ("chat_template_kwargs", "reasoning_effort", "think"):
            if name in body:
                return says({"error": {"message": f"Unrecognized request argument: {name}"}}, status=400)
        return super().reply(body)


class EndlessThoughts(Ollama):
    """Thoughts never end."""

    def reply(self, body: Body) -> Say:
        return self.completion(body, "", "length", body["max_tokens"], reasoning="Hm. Hm. Hm.")


class GeminiErrors(ChatServer):
    """Errors are a list of objects."""

    listed = ("models/gemini-flash",)
    refused = ("seed", "frequency_penalty", "presence_penalty", "logprobs")

    def reply(self, body: Body) -> Say:
        names = [name for name in self.refused if name in body]
        return self.error(names) if names else super().reply(body)

    def error(self, names: list[str]) -> Say:
        text = "\n".join(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.' for name in names)
        return says([{"error": {"code": 400, "message": text, "status": "INVALID_ARGUMENT"}}], status=400)


class TextErrors(GeminiErrors):
    """Errors are a string."""

    def error(self, names: list[str]) -> Say:
        return says(f"unsupported: {names[0]}", status=400)


class PydanticErrors(GeminiErrors):
    """Errors are pydantic's text, which repeats the request."""

    def error(self, names: list[str]) -> Say:
        text = (
            f"1 validation error for ChatRequest\n{names[0]}\n  Extra inputs are not permitted "
            "[type=extra_forbidden, input_value={'temperature': 0, 'top_p': 1.0}, input_type=dict]"
        )
        return says({"detail": text}, status=422)


class HtmlErrors(GeminiErrors):
    """Errors are a page of HTML."""

    def error(self, names: list[str]) -> Say:
        page = f"<html><head><title>400</title></head><body><p>The key <b>{names[0]}</b> is unknown.</p></body></html>"
        return Say(page, status=400)


class Unlisted(ChatServer):
    """A list with a wildcard and a name without its suffix, as LiteLLM and OpenRouter have it."""

    listed = ("openai/*", "qwen/qwen-2.5-7b-instruct")


class Empty(ChatServer):
    """Every question gets null in place of a text."""

    def reply(self, body: Body) -> Say:
        return self.completion(body, None, tokens=0) if self.is_question(body) else super().reply(body)


class ToolCalls(ChatServer):
    """Every question gets the call of a tool."""

    def reply(self, body: Body) -> Say:
        call = {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        if self.is_question(body):
            return self.completion(body, None, "tool_calls", tool_calls=[call])
        return super().reply(body)


class NullMessage(ChatServer):
    """A content filter puts null in place of the message of one question."""

    def reply(self, body: Body) -> Say:
        if "library" not in self.prompt(body):
            return super().reply(body)
        choices = [{"index": n, "message": None, "finish_reason": "content_filter"} for n in range(body.get("n", 1))]
        return says({"model": body["model"], "choices": choices})


class NoFinish(ChatServer):
    """Replies have no finish_reason."""

    def reply(self, body: Body) -> Say:
        return self.completion(body, self.text(body), None)


class NullLogProbs(ChatServer):
    """Log-probabilities are null for every question."""

    def reply(self, body: Body) -> Say:
        content = json.loads(super().reply(body).body)
        for choice in content["choices"]:
            value = None if self.is_question(body) else -0.5
            tokens = re.findall(r"\s?\S+", choice["message"]["content"])
            choice["logprobs"] = {"content": [{"token": token, "logprob": value} for token in tokens]}
        return says(content)


class Deterministic(ChatServer):
    """An application: temperature and seed are ignored."""

    def text(self, body: Body) -> str:
        return super().text({**body, "temperature": 0})


class Azure(ChatServer):
    """A deployment: no list of models, a query with every request, and a key in a header of its own."""

    def answer(self, asked: ServedRequest) -> Say:
        if asked.headers.get("api-key") != "made-up-azure-key" or "authorization" in asked.headers:
            return says({"error": {"code": "401", "message": "Access denied"}}, status=401)
        return _NO_ROUTE if asked.method == "GET" else super().answer(asked)
