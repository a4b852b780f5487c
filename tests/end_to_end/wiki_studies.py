"""Studies of an invented world behind real HTTP servers: what they ask, what is held back from them, what they hold."""

import json
import shutil
import threading
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

from tests.data.sources.servers.faults import Say, ServedRequest
from tests.data.sources.servers.wiki_world import OUTCOME, Fact, as_csv, service_of
from tests.end_to_end.asking_model import save_asking_model
from tests.end_to_end.tiny_study import TinyStudy
from tests.tasks.models.tiny import save_entailment_model, save_language_model

_NOT_OF_THE_WORLD = ("address", "retrieved_at")
Row = dict[str, Any]


@dataclass(frozen=True)
class WikiStudies:
    """Makes studies of a world, each with a workspace of its own; models and lists are in one folder."""

    folder: Path
    api: str

    @classmethod
    def of(cls, folder: Path, api: str) -> "WikiStudies":
        """With a random model that is asked, another that judges, and one that writes questions."""
        save_language_model(folder / "model")
        save_entailment_model(folder / "judge")
        save_asking_model(folder / "writer")
        (folder / "facts.csv").write_text(as_csv(OUTCOME))
        return cls(folder, api)

    def study(self, addresses: Mapping[str, str], *, contact: bool = True, **questions: Any) -> TinyStudy:
        """A study of all that the world has, in an empty workspace. addresses: of the services, by name."""
        services: dict[str, Any] = {
            name: {"address": address, "requests_per_minute": 60_000} for name, address in addresses.items()
        }
        content = {
            "name": "wiki",
            "seed": 3,
            "services": services | ({"contact": "tests@example.org"} if contact else {}),
            "questions": {
                "source": "wikidata",
                "per_partition": None,
                "triples": {"source": "file", "file": str(self.folder / "facts.csv"), "per_property": None},
                "disputes": {"max_pages": None, "writer": str(self.folder / "writer")},
                **questions,
            },
            "models": [{"name": str(self.folder / "model"), "dtype": "float32", "device": "cpu"}],
            "measures": {
                "answers": {"samples": 2, "max_new_tokens": 4},
                "clusters": {"entailment": str(self.folder / "judge")},
                "accuracy": {},
            },
        }
        name = uuid.uuid4().hex
        return TinyStudy.of(self.folder / f"{name}.yaml", self.folder / f"workspace-{name}", self.api, content)

    def copy(self, study: TinyStudy, file: Path | None = None) -> TinyStudy:
        """A study with all that is done already, in a workspace of its own; file: another study that shares it."""
        mark = uuid.uuid4().hex
        workspace = self.folder / f"workspace-{mark}"
        shutil.copytree(study.workspace, workspace)
        return replace(study, file=file or study.file, workspace=workspace, mark=mark)


@dataclass
class Holding:
    """Answers a world as ever, until it is told to hold answers back, and till it goes on.

    `held` are the requests that nobody answered.
    """

    held: list[ServedRequest] = field(default_factory=list)
    _kinds: tuple[str, ...] = ()
    _left: int = 0
    _event: threading.Event = field(default_factory=threading.Event)

    def from_the(self, number: int, kind: str, *then: str) -> None:
        """Holds back the answer to the so-maniest request of a kind from now on, and to all that come after it.

        then: only to those of these kinds.
        """
        self._left, self._event, self._kinds = number, threading.Event(), (kind, *then)

    def go_on(self) -> None:
        """Holds nothing back any more; who waits is answered, if somebody is still there."""
        self._kinds = ()
        self._event.set()

    def __call__(self, asked: ServedRequest, said: Say) -> Say:
        """What is said at last."""
        kind = kind_of(asked)
        if not self._kinds or (self._left and kind != self._kinds[0]):
            return said
        if self._left:
            self._left -= 1
            is_held = not self._left
        else:
            is_held = kind in (self._kinds[1:] or [kind])
        if is_held:
            self.held.append(asked)
        return replace(said, hold=self._event) if is_held else said

    def answered(self, asked: Sequence[ServedRequest]) -> tuple[ServedRequest, ...]:
        """The requests that were not held back."""
        held = set(map(id, self.held))
        return tuple(one for one in asked if id(one) not in held)


def sent(asked: Iterable[ServedRequest]) -> Counter[str]:
    """What was asked, wherever the services are, and how often."""
    return Counter(f"{one.method} {one.path} {sorted(one.form.items())}" for one in asked)


def kind_of(asked: ServedRequest) -> str:
    """What a request is about: items, history, contents, page, list, views or similar."""
    props = asked.form.get("prop", "").split("|")
    if asked.form.get("action") == "wbgetentities":
        return "items"
    if "extracts" in props:
        return "page"
    if "links" in props:
        return "list"
    if "revisions" in props:
        return "contents" if "revids" in asked.form else "history"
    return {"pageviews": "views", "wembedder": "similar"}[service_of(asked) or ""]


def fetched(study: TinyStudy) -> dict[tuple[str, ...], list[Row]]:
    """The rows of every fetched file, by table and by what it is of, without when and where they were asked for."""
    found = {}
    for path in sorted(study.workspace.glob("facts/*.parquet")):
        table = pq.read_table(path, partitioning=None)
        about = json.loads(table.schema.metadata[b"swaymeter"])
        made_from = about["made_from"]
        key = (about["table"], *made_from["step"], *made_from["subject"])
        assert key not in found, f"{path} is of the same as another file"
        found[key] = [
            {name: value for name, value in row.items() if name not in _NOT_OF_THE_WORLD} for row in table.to_pylist()
        ]
    return found


def rows(study: TinyStudy, table: str) -> list[Row]:
    """All rows of a table of the study's database."""
    with duckdb.connect(study.workspace / "study.duckdb", read_only=True) as database:
        return database.table(table).to_arrow_table().to_pylist()


def triple(row: Row) -> Fact:
    """The fact that a row is about, by its ids."""
    return row["subject_id"], row["property_id"], row["object_id"]


def of_facts(study: TinyStudy) -> dict[Fact, Row]:
    """The static and temporal questions in the study's database."""
    return {triple(row): row for row in rows(study, "questions") if row["partition"] != "disputable"}


def of_disputes(study: TinyStudy) -> dict[str, Row]:
    """The disputable ones, by their pages."""
    return {row["page"]: row for row in rows(study, "questions") if row["partition"] == "disputable"}
