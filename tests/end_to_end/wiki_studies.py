"""Studies of an invented world behind real HTTP servers: their requests, responses and tables."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from tests.data.sources.servers.faults import ServedRequest, ServedResponse
from tests.data.sources.servers.wiki_world import FACTS, Fact, service_of
from tests.end_to_end.constant_model import save_constant_model
from tests.end_to_end.tiny_study import TinyStudy
from tests.tasks.models.tiny import save_entailment_model, save_language_model

_REQUEST_COLUMNS = ("address", "retrieved_at")
Row = dict[str, Any]


NewStudy = Callable[..., TinyStudy]
"""A function that returns a study of a world with an empty workspace; its argument has addresses of services by name.

With `contact=False`, the study has no contact.
"""


def save_models_and_facts(folder: Path) -> None:
    """Save a random model, a random entailment model, a model that writes questions, and the list of facts."""
    save_language_model(folder / "model")
    save_entailment_model(folder / "judge")
    save_constant_model(folder / "writer")
    lines = map(",".join, [("subject_id", "property_id", "object_id"), *FACTS])
    (folder / "facts.csv").write_text("\n".join(lines) + "\n")


def study_content(folder: Path, addresses: Mapping[str, str], *, contact: bool = True) -> dict[str, Any]:
    """Return the content of a study file with the models and facts of the folder."""
    services: dict[str, Any] = {
        name: {"address": address, "requests_per_minute": 60_000} for name, address in addresses.items()
    }
    return {
        "name": "wiki",
        "seed": 3,
        "services": services | ({"contact": "tests@example.org"} if contact else {}),
        "questions": {
            "source": "wikidata",
            "per_partition": None,
            "triples": {"source": "file", "file": str(folder / "facts.csv"), "per_property": None},
            "disputes": {"max_pages": None, "writer": str(folder / "writer")},
        },
        "models": [{"name": str(folder / "model"), "dtype": "float32", "device": "cpu"}],
        "measures": {
            "answers": {"samples": 2, "max_new_tokens": 4},
            "clusters": {"entailment": str(folder / "judge")},
            "accuracy": {},
        },
    }


@dataclass
class ResponseGate:
    """A gate that sends or holds back the responses of a world; `unanswered` has requests without a response."""

    unanswered: list[ServedRequest] = field(default_factory=list)
    _kinds: tuple[str, ...] = ()
    _left: int = 0
    _event: threading.Event = field(default_factory=threading.Event)

    def close(self, number: int, kind: str, *later_kinds: str) -> None:
        """Hold back the response to the `number`th next request of a kind, and some later responses.

        Args:
            number: the number of the request, from 1.
            kind: the kind of the request.
            later_kinds: the kinds of later requests; without these, `kind` again.
        """
        self._left, self._event, self._kinds = number, threading.Event(), (kind, *later_kinds)

    def open(self) -> None:
        """Send the responses that were held back, and every later response."""
        self._kinds = ()
        self._event.set()

    def __call__(self, request: ServedRequest, response: ServedResponse) -> ServedResponse:
        """Return the response, which waits for `open` if it is held back."""
        kind = request_kind(request)
        if not self._kinds or (self._left and kind != self._kinds[0]):
            return response
        if self._left:
            self._left -= 1
            is_held = not self._left
        else:
            is_held = kind in (self._kinds[1:] or [kind])
        if is_held:
            self.unanswered.append(request)
        return replace(response, hold=self._event) if is_held else response

    def answered(self, requests: Sequence[ServedRequest]) -> tuple[ServedRequest, ...]:
        """Return the requests whose responses were not held back."""
        unanswered = set(map(id, self.unanswered))
        return tuple(request for request in requests if id(request) not in unanswered)


def count_requests(requests: Iterable[ServedRequest]) -> Counter[str]:
    """Count equal requests; addresses of servers do not matter."""
    return Counter(f"{request.method} {request.path} {sorted(request.form.items())}" for request in requests)


def request_kind(request: ServedRequest) -> str:
    """Return the kind of a request: items, history, contents, page, list, views or similar."""
    props = request.form.get("prop", "").split("|")
    if request.form.get("action") == "wbgetentities":
        return "items"
    if "extracts" in props:
        return "page"
    if "links" in props:
        return "list"
    if "revisions" in props:
        return "contents" if "revids" in request.form else "history"
    return {"pageviews": "views", "wembedder": "similar"}[service_of(request) or ""]


def fetched_rows(study: TinyStudy) -> dict[tuple[str, ...], list[Row]]:
    """Return the rows of each fetched file by its table, step and subject, without columns of the request."""
    fetched = {}
    for path in sorted(study.workspace.glob("facts/*.parquet")):
        table = pq.read_table(path, partitioning=None)
        about = json.loads(table.schema.metadata[b"swaymeter"])
        made_from = about["made_from"]
        key = (about["table"], *made_from["step"], *made_from["subject"])
        assert key not in fetched, f"{path} has the same table, step and subject as another file"
        fetched[key] = [
            {name: value for name, value in row.items() if name not in _REQUEST_COLUMNS} for row in table.to_pylist()
        ]
    return fetched


def rows(study: TinyStudy, table: str) -> list[Row]:
    """Return all rows of a table of the study's database."""
    with duckdb.connect(study.workspace / "study.duckdb", read_only=True) as database:
        return database.table(table).to_arrow_table().to_pylist()


def triple(row: Row) -> Fact:
    """Return the ids of the fact that a row is about."""
    return row["subject_id"], row["property_id"], row["object_id"]


def fact_questions(study: TinyStudy) -> dict[Fact, Row]:
    """Return the static and temporal questions in the study's database, by fact."""
    return {triple(row): row for row in rows(study, "questions") if row["partition"] != "disputable"}


def disputable_questions(study: TinyStudy) -> dict[str, Row]:
    """Return the disputable questions in the study's database, by page."""
    return {row["page"]: row for row in rows(study, "questions") if row["partition"] == "disputable"}
