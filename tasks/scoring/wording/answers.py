r"""The part of a reply that answers: a marked final answer, or a field of JSON.

    JSON        the field `answer` (or `final_answer`, `response`, `result`, `output`); without it, the only field
    LaTeX       the last \boxed{...}
    a heading   at the beginning of a line: the last "Final answer: ..." or "#### ..."; without it, the first
                "Answer: ..."

Without such a mark, the whole reply is the answer. Citations such as [2] are removed from every answer.
"""

import json
import re
from typing import Any

_MAX_DEPTH = 3
_CITATION = re.compile(r"(?<=[\w.!?,;:)\]*]) ?\[\d{1,2}\]")
_KEYS = ("answer", "final_answer", "finalanswer", "final answer", "response", "result", "output")
"""Names of the field with the answer; of several such fields, the name that stands first here counts."""
_FENCE = re.compile(r"```(?:json)?\s*(\{.*?\})\s*```", re.DOTALL)
_HEADING = re.compile(
    r"^[\W_]*(?:(?:so,? |therefore,? |thus,? )?(?:the |my )?(?:final|correct) answer(?: is)?|answer|antwort|réponse|"
    r"respuesta|risposta|resposta)[*_ ]*:[*_ ]*(?P<inline>.*)$|^#{4}\s*(?P<behind_hashes>\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_FINAL = re.compile(r"final|correct|#{4}", re.IGNORECASE)
_LATEX_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|textbf|textit|mbox)\s*\{([^{}]*)\}")


def final_answer(reply: str) -> str:
    """Return the part of a reply that answers; "" if the answer field of a JSON reply is null or empty."""
    text = _marked_answer(reply)
    return _CITATION.sub("", text) if "[" in text else text


def _marked_answer(reply: str) -> str:
    if "{" in reply:
        if (field := _json_field(reply)) is not None:
            return field
        if (boxed := _boxed(reply)) is not None:
            return boxed
    if ":" not in reply and "####" not in reply:
        return reply
    headings = list(_HEADING.finditer(reply))
    if not headings:
        return reply
    final = [heading for heading in headings if _FINAL.search(heading[0])]
    # The first of several headings "Answer:" counts, because a base model continues with further questions and answers.
    heading = final[-1] if final else headings[0]
    same_line = heading["inline"] if heading["inline"] is not None else heading["behind_hashes"]
    return same_line if same_line.strip(" *_") else reply[heading.end() :]


def _json_field(reply: str) -> str | None:
    """Return the answer of a JSON reply as text; None if the reply is no JSON with an answer."""
    between_braces = reply[reply.find("{") : reply.rfind("}") + 1]
    for candidate in (*reversed(_FENCE.findall(reply)), reply.strip(), between_braces):
        try:
            parsed = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if not isinstance(parsed, dict) or not parsed:
            continue
        fields = {str(key).casefold(): value for key, value in parsed.items()}
        only_key = next(iter(fields)) if len(fields) == 1 else None
        key = next((key for key in _KEYS if key in fields), only_key)
        return None if key is None else _as_text(fields[key])
    return None


def _as_text(value: Any, depth: int = 0) -> str:
    """Return a value of JSON as text, without values that are nested more than three times."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, dict)):
        parts = value if isinstance(value, list) else value.values()
        separator = ", " if isinstance(value, list) else ". "
        return separator.join(_as_text(part, depth + 1) for part in parts) if depth < _MAX_DEPTH else ""
    return "" if value is None else str(value)


def _boxed(reply: str) -> str | None:
    r"""Return the content of the last \boxed{...}, which may contain further braces; None without a box."""
    start = reply.rfind("\\boxed{")
    if start < 0:
        return None
    depth, begin = 0, start + len("\\boxed{")
    for index in range(begin - 1, len(reply)):
        depth += (reply[index] == "{") - (reply[index] == "}")
        if depth == 0:
            break
    else:
        index = len(reply)
    text = _LATEX_TEXT.sub(r" \1 ", reply[begin:index])
    return re.sub(r"\\[,;:! ]|~", " ", text).replace("\\%", "%").replace("\\$", "$").replace("^\\circ", "°")
