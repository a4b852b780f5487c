"""Snapshots of runs, and types for the changes between two snapshots.

A snapshot is read from a database, or from the items that a completed run stores. The replies of two snapshots are
joined by the ids of their question and context; another text of the question or context counts as a change.
The differences of headline numbers use only replies to the same texts.

`swaymeter.tasks.statistics.changes` compares two snapshots. `swaymeter.reports.changes` prints and draws the changes.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from swaymeter.data.dataset.dataset import Dataset
from swaymeter.data.digests import identity
from swaymeter.data.errors import DamagedFile, first_line
from swaymeter.data.records import Fact, Question, as_row, from_row
from swaymeter.data.records.history import ItemKind
from swaymeter.data.records.row import table_of
from swaymeter.data.records.statistics import ALL
from swaymeter.data.storage.history_files import ItemId
from swaymeter.data.storage.notes import json_object

if TYPE_CHECKING:
    import pandas as pd

    from swaymeter.data.warehouse.warehouse import Warehouse

Row = dict[str, Any]
Value = str | int | float | tuple[str, ...] | None
Frame: TypeAlias = "pd.DataFrame"
Frames = Mapping[str, Frame]
REPLIES, QUERIES = "answers_of_questions", "susceptibility_of_queries"
"""Names of two SQL files (data/warehouse/sql).

A row of REPLIES is a question, closed-book or with a context, with its greedy reply and the scores of its replies. A
row of QUERIES is a query with its susceptibility.
"""
BETWEEN = "\x1f"
"""Separator between the ids of a question and its context; ids may have spaces, but no control character."""
REPLY_COLUMNS: Mapping[str, str] = {
    "partition": "str",
    "subject_key": "str",
    "question": "str",
    "condition": "str",
    "texts": "str",
    "states_answer": "boolean",
    "verdict": "str",
    "outcome": "str",
    "answer": "str",
    "answers": "Int64",
    "binary_utilisation": "float64",
    "continuous_utilisation": "float64",
    "coherent_persuasion": "float64",
    "coherent_persuasion_unchanged": "float64",
}
"""Columns of a reply that a snapshot stores, with their pandas types.

`texts` is a digest of the texts of question and context; `answers` is the number of sampled replies.
"""
QUERY_COLUMNS: Mapping[str, str] = {"entity": "str", "query_type": "str", "susceptibility": "float64"}
COLUMNS: Mapping[ItemKind, Mapping[str, str]] = {"reply": REPLY_COLUMNS, "query": QUERY_COLUMNS}
IDS: Mapping[ItemKind, tuple[str, ...]] = {"reply": ("question_id", "context"), "query": ("query_id",)}
"""Columns that identify an item of a model, by kind; the column `context` has the id of the context in the database."""
SQL_NAMES: Mapping[ItemKind, str] = {"reply": REPLIES, "query": QUERIES}
"""Names of the SQL files whose rows are the items, by kind of item."""
ROW_TYPES: Mapping[ItemKind, type] = {"fact": Fact, "question": Question}
"""Row types of items from a source, by kind."""
DIGITS = 5
"""Decimals of the numbers in a snapshot; with more decimals, the snapshots of a year would be too large."""
STUDY_SETTING = re.compile(r"(seed$|models$|prompt|decoding |model called )")
"""Names of the settings that every database has; only a completed run stores the other settings, such as versions."""
UP, DOWN = "larger", "smaller"
"""Directions of a significant change of a headline number."""
ModelKey = tuple[str, str]
"""A model's label or name, and its dtype."""
Pair = tuple[ModelKey, ModelKey]
"""Two compared models: a model of the earlier run, and a model of the later run."""


@dataclass(frozen=True)
class Snapshot:
    """A study at one time.

    Attributes:
        dataset: Facts and questions.
        settings: Prompts, decodings, seed, parameters of measures and versions, as JSON by name.
        frames: Rows of REPLIES and QUERIES, by these names, with model, dtype and the columns of `IDS` and `COLUMNS`.
            Replies also have the column context_id: a digest of the columns `context` and `texts`, not the id in the
            database.
    """

    dataset: Dataset
    settings: Mapping[str, str] = field(default_factory=dict)
    frames: Frames = field(default_factory=lambda: _frames({}))

    @classmethod
    def from_items(cls, items: Mapping[ItemId, str]) -> "Snapshot":
        """Return the snapshot of stored items, each a JSON text.

        Raises:
            DamagedFile: An item is no JSON object.
        """
        try:
            records: dict[ItemKind, tuple[Any, ...]] = {
                kind: tuple(
                    _record(row_type, json_object(state))
                    for (item_kind, *_), state in items.items()
                    if item_kind == kind
                )
                for kind, row_type in ROW_TYPES.items()
            }
            settings = {name: state for (kind, _, _, name), state in items.items() if kind == "setting"}
            return cls(Dataset(Path(), records["fact"], (), records["question"]), settings, _frames(items))
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFile(
                f"the table `history` has an item that cannot be read ({first_line(error)}); run the study again"
            ) from None

    @classmethod
    def from_database(cls, warehouse: "Warehouse", name: str, versions: Mapping[str, str] | None = None) -> "Snapshot":
        """Read a database as a snapshot.

        Args:
            warehouse: The open database.
            name: Name of the database for messages.
            versions: Versions and parameters of measures, as JSON by name; None reads them from the last completed run.
        """
        rows = warehouse.frame("asked_with")  # a row for each model with its prompt and decoding
        variants: list[Any] = rows.astype(object).where(rows.notna(), None).to_dict("records")
        if versions is None:
            items = warehouse.frame("states_of_last_run")
            settings_of_run = items[items["kind"] == "setting"]
            states = zip(settings_of_run["item"], settings_of_run["state"], strict=True)
            versions = {setting: state for setting, state in states if not STUDY_SETTING.match(setting)}
        try:
            records: dict[ItemKind, tuple[Any, ...]] = {
                kind: tuple(from_row(row_type, row) for row in warehouse.table(table_of(row_type)).to_pylist())
                for kind, row_type in ROW_TYPES.items()
            }
        except (AttributeError, TypeError, ValueError) as error:
            raise DamagedFile(
                f"{name} has a fact or question that cannot be read ({first_line(error)}); run the study of this "
                "database again"
            ) from None
        frames = {sql_name: _with_labels(warehouse.frame(sql_name), variants) for sql_name in (REPLIES, QUERIES)}
        keys = ["relation", "question_id", "context_id"]
        texts = warehouse.frame("question_contexts")[[*keys, "text"]]
        replies = frames[REPLIES].merge(texts, on=keys, how="left")
        context_texts = replies["text"].astype(object).where(replies["text"].notna(), "")
        digests = map(identity, replies["question"], context_texts)
        frames[REPLIES] = replies.rename(columns={"context_id": "context"}).assign(texts=[*digests])
        settings = {**_settings(variants, name), **versions}
        return cls(
            Dataset(Path(name), records["fact"], (), records["question"]),
            settings,
            {SQL_NAMES[kind]: _typed(kind, frames[SQL_NAMES[kind]]) for kind in COLUMNS},
        )

    def items(self) -> dict[ItemId, str]:
        """Return the items of the snapshot: a JSON text by id."""
        states: dict[ItemId, str] = {("setting", "", "", name): value for name, value in self.settings.items()}
        sources: dict[ItemKind, Sequence[Any]] = {"fact": self.dataset.facts, "question": self.dataset.questions}
        for kind, rows in sources.items():
            columns = [c.name for c in table_of(ROW_TYPES[kind]).columns if c.in_digest or c.name == "partition"]
            for record in rows:
                values = as_row(record)
                state = as_state({name: values[name] for name in columns})
                states[kind, "", "", identity(state)] = state
        for kind, types in COLUMNS.items():
            frame = self.frames[SQL_NAMES[kind]][["model", "dtype", *IDS[kind], *types]].astype(object)
            for row in frame.where(frame.notna(), None).to_dict("records"):
                item_id: ItemId = (kind, row["model"], row["dtype"], BETWEEN.join(row[name] for name in IDS[kind]))
                states[item_id] = as_state({name: row[name] for name in types})
        return states

    @property
    def models(self) -> list[ModelKey]:
        """Models of the snapshot, sorted."""
        columns = [self.frames[name][["model", "dtype"]] for name in (REPLIES, QUERIES)]
        rows = (row for frame in columns for row in frame.itertuples(index=False, name=None))
        return sorted({(str(model), str(dtype)) for model, dtype in rows})

    def select(self, model: ModelKey) -> dict[str, Frame]:
        """Return the frames of one model."""
        name, dtype = model
        return {
            frame_name: frame[(frame["model"] == name) & (frame["dtype"] == dtype)]
            for frame_name, frame in self.frames.items()
        }


class SettingChange(NamedTuple):
    """A setting that differs between two runs, with its values as JSON; None for a run that lacks the setting."""

    name: str
    before: str | None
    after: str | None


class FlippedReply(NamedTuple):
    """A greedy reply whose verdict changed, although the texts of its question and context did not.

    Attributes:
        condition: Kind of the context, such as conflicting.
        before: Model of the earlier reply.
        after: Model of the later reply.
    """

    question_id: str
    question: str
    condition: str
    before: ModelKey
    after: ModelKey
    reply_before: str
    reply: str
    verdict_before: str
    verdict: str


@dataclass(frozen=True)
class FieldChange:
    """A field of a fact or question whose value changed."""

    field: str
    old: Value
    new: Value


@dataclass(frozen=True)
class ChangedRow:
    """A fact or question that both snapshots have, with its changed fields."""

    old: Any
    new: Any
    changes: tuple[FieldChange, ...]


@dataclass(frozen=True)
class RelationChanges:
    """The changes of the facts or questions of a relation, sorted by the names of their subjects.

    Attributes:
        added: Facts or questions that only the later snapshot has.
        gone: Facts or questions that only the earlier snapshot has.
        changed: Facts or questions with changed values.
        same: Number of unchanged facts or questions.
    """

    relation: str
    added: tuple[Any, ...]
    gone: tuple[Any, ...]
    changed: tuple[ChangedRow, ...]
    same: int

    @property
    def differs(self) -> bool:
        """True if anything changed."""
        return bool(self.added or self.gone or self.changed)


@dataclass(frozen=True)
class DatasetChanges:
    """The changes of facts and questions by relation.

    Attributes:
        old: The earlier dataset, or the first of two compared datasets.
        new: The later dataset, or the second of two compared datasets.
        relations: Changes of facts.
        not_compared: Fields of facts that only one of the two datasets has.
        questions: Changes of questions.
        questions_not_compared: Fields of questions that only one of the two datasets has.
    """

    old: Dataset
    new: Dataset
    relations: tuple[RelationChanges, ...]
    not_compared: tuple[str, ...]
    questions: tuple[RelationChanges, ...]
    questions_not_compared: tuple[str, ...]

    @property
    def differs(self) -> bool:
        """True if any fact or question changed."""
        return any(relation.differs for relation in (*self.relations, *self.questions))


@dataclass(frozen=True)
class Comparison:
    """The changes between two snapshots.

    Attributes:
        before: The earlier run of a study, or the first of two compared studies.
        after: The later run, or the second study.
        pairs: Models that are compared with each other.
        settings: Settings that differ.
        dataset_changes: Changes of facts and questions.
        flips: Greedy replies whose verdict changed.
        other_replies: Number of replies with a change other than a new verdict, by change, such as "asked no more".
        numbers: Paired differences of headline numbers, rows of `ModelDifference` with the column `group`. A difference
            of two studies is before minus after. A difference of two runs of one study is after minus before.
    """

    before: Snapshot
    after: Snapshot
    pairs: Sequence[Pair]
    settings: Sequence[SettingChange]
    dataset_changes: DatasetChanges
    flips: Sequence[FlippedReply]
    other_replies: Counter[str]
    numbers: Sequence[Row]

    @property
    def snapshots(self) -> tuple[Snapshot, Snapshot]:
        """Both snapshots."""
        return self.before, self.after

    @property
    def moved(self) -> list[Row]:
        """Headline numbers that became significantly larger or smaller."""
        return [row for row in self.numbers if row["direction"] in (UP, DOWN)]

    @property
    def differs(self) -> bool:
        """True if anything changed."""
        return bool(self.settings or self.dataset_changes.differs or self.flips or self.other_replies or self.moved)


class RunChanges(NamedTuple):
    """The changes of a completed run of a study.

    Attributes:
        run: Number of the run.
        before: Time of the completed run before this run.
        comparison: The changes since that run.
    """

    run: int
    before: str
    comparison: Comparison


def as_state(values: Mapping[str, Any]) -> str:
    """Return values as the JSON text of an item: numbers are rounded, and missing values are left out."""
    rounded = {name: round(value, DIGITS) if isinstance(value, float) else value for name, value in values.items()}
    return json.dumps({name: value for name, value in rounded.items() if value is not None}, ensure_ascii=False)


def group_of(row: Mapping[str, Any]) -> str:
    """Return the condition of the replies of a row of `ModelDifference`, or the type of its queries."""
    return str(row["query_type"] if row["condition"] == ALL else row["condition"])


def models_of(item_ids: Iterable[ItemId]) -> set[ModelKey]:
    """Return the models of the replies and queries among these items."""
    return {(model, dtype) for kind, model, dtype, _ in item_ids if kind in COLUMNS}


def _with_labels(frame: Frame, variants: Sequence[Row]) -> Frame:
    """Return the frame with the labels of models in place of names; a model without a label keeps its name."""
    names = frame["model"].astype(object)
    for variant in variants:
        if variant["label"]:
            is_variant = (frame["model"] == variant["model"]) & (frame["dtype"] == variant["dtype"])
            names = names.mask(is_variant, variant["label"])
    return frame.assign(model=names)


def _settings(variants: Sequence[Row], database: str) -> dict[str, str]:
    """Return the seed, models, prompts and decodings of a study as JSON, from rows of the query `asked_with`."""
    texts = dict[str, str]()
    for row in variants:
        name = f"prompt {row['prompt_name']}" if row["prompt_name"] else "prompt"
        try:
            prompt = json_object(row["prompt"] or "{}")
        except ValueError as error:
            raise DamagedFile(
                f"{database} has a prompt that is not a JSON object ({first_line(error)}); run the study of this "
                "database again"
            ) from None
        texts |= {f"{name}.{key}": json.dumps(value, ensure_ascii=False) for key, value in prompt.items()}
        if row["decoding"]:
            texts[f"decoding {row['decoding']}"] = row["decoding_parameters"] or "none"
        if row["label"]:
            texts[f"model called {row['label']} ({row['dtype']})"] = row["model"]
    texts["seed"] = ", ".join(sorted({str(row["seed"]) for row in variants}))
    texts["models"] = ", ".join(sorted({f"{row['label'] or row['model']} ({row['dtype']})" for row in variants}))
    return {name: json.dumps(value, ensure_ascii=False) for name, value in texts.items()}


def _record(row_type: type, values: Mapping[str, Any]) -> Any:
    """Return the fact or question of an item; columns without a stored value are empty."""
    columns = table_of(row_type).columns
    empty: dict[str, Any] = {}
    for column in columns:
        if column.nullable:
            empty[column.name] = None
        else:
            empty[column.name] = [] if column.type.endswith("[]") else ""
    return from_row(row_type, {**empty, **values})


def _frames(items: Mapping[ItemId, str]) -> dict[str, Frame]:
    import pandas as pd  # a local import, because `status` imports this module and needs no frame

    frames = {}
    for kind, columns in COLUMNS.items():
        ids = ("model", "dtype", *IDS[kind])
        rows = [
            dict(zip(ids, (model, dtype, *item.split(BETWEEN)), strict=True)) | json_object(state)
            for (item_kind, model, dtype, item), state in sorted(items.items())
            if item_kind == kind
        ]
        frames[SQL_NAMES[kind]] = _typed(kind, pd.DataFrame(rows, columns=[*ids, *columns]))
    return frames


def _typed(kind: ItemKind, frame: Frame) -> Frame:
    """Return the columns that a snapshot stores, in their types; replies also get a context_id."""
    types = dict.fromkeys(("model", "dtype", *IDS[kind]), "str") | dict(COLUMNS[kind])
    frame = frame[[*types]].astype(types)
    if kind == "reply":
        ids = [*map(identity, frame["context"], frame["texts"])]
        frame = frame.assign(context_id=ids).astype({"context_id": "str"})
    return frame
