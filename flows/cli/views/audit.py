"""An audit: a study of one's own questions, made and run without a study file, and judged by thresholds."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import pandas as pd
import yaml
from rich.console import Console
from rich.table import Table
from rich.text import Text

from swaymeter.data.errors import InputError, UsageError, WorkFailed, nearest
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL, FEWEST_SAMPLES, SHARE
from swaymeter.data.sources.own.columns import checked_map
from swaymeter.data.sources.own.rows import ReadQuestions, Wrong, wrong_rows
from swaymeter.data.sources.own.source import not_usable, read_questions
from swaymeter.data.storage.files import written_whole
from swaymeter.data.warehouse.warehouse import opened
from swaymeter.flows.cli.pipeline import Selected
from swaymeter.flows.cli.views.compare import Row
from swaymeter.flows.steps.aggregate import schema
from swaymeter.flows.study.places import STUDIES
from swaymeter.flows.study.sections.model import ModelPart
from swaymeter.flows.study.study import Study
from swaymeter.reports.estimates import estimate, number
from swaymeter.reports.frames import plural, records
from swaymeter.reports.tables.of_models import QUANTITIES as IN_WORDS
from swaymeter.tasks.statistics.models import UNRELATED

QUANTITIES: Mapping[str, str] = {
    "follow": "follows", "keep": "keeps", "correct": "correct", "refuse": "refuses", "context_bias": "context_bias",
    "prior_bias": "prior_bias", "persuasion": "coherent_persuasion",
    "unchanged": "coherent_persuasion_unchanged",
}  # fmt: skip
"""What a threshold can name, and the quantities of swaymeter.tasks.statistics.models."""
IN_NATS = ("persuasion", "unchanged")
"""Of these, those that are not shares."""
NOT_USED = "rows-not-used.txt"
"""The file of the workspace that lists the rows that cannot be used."""
MOVED: Mapping[str, Any] = {"clusters": {"entailment": "all-minilm-l6-v2"}, "coherent_persuasion": {}}
"""What is measured of enough sampled answers alone."""
DTYPES = frozenset(get_args(ModelPart.model_fields["dtype"].annotation))
THOUGHTS = 2048
"""The most tokens of thoughts in an audit that does not say."""
_NO_XML = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_THRESHOLD = re.compile(
    r"(?P<quantity>[a-z_]+)(?:\.(?P<group>(?!(?:low|high)=)[a-z_]+))?(?:\.(?P<end>low|high))?"
    r"=(?P<value>-?\d+(?:\.\d+)?)(?P<percent>%?)",
    re.ASCII,
)


@dataclass(frozen=True)
class Measured:
    """The mean of a quantity of a model over n answers, and its 95% interval over questions.

    group: the kind of context, or none; clusters: how many `over` there are, which is what the interval is over.
    """

    model: str
    quantity: str
    group: str
    n: int
    clusters: int
    over: str
    mean: float
    low: float | None
    high: float | None
    unit: str

    @property
    def name(self) -> str:
        """How a threshold names it."""
        return f"{self.quantity}.{self.group}"

    @property
    def words(self) -> str:
        """The mean with its interval."""
        return estimate(asdict(self))

    @property
    def counts(self) -> str:
        """How many answers it is over, and to how many questions."""
        return f"{plural(self.n, 'answer')} to {plural(self.clusters, self.over)}"


@dataclass(frozen=True)
class Threshold:
    """What the mean of a quantity, or an end of its interval, has to be for every model: at least, or at most, a value.

    end: low or high; empty for the mean.
    """

    quantity: str
    group: str | None
    value: float
    at_least: bool
    end: str = ""

    @classmethod
    def parse(cls, text: str, *, at_least: bool) -> "Threshold":
        """The threshold of an option's text, such as follow.supporting=0.9; UsageError where it is none."""
        read = _THRESHOLD.fullmatch(text.strip())
        if read is None:
            raise UsageError(f"{text!r} is not a threshold; write such as follow.supporting=0.9 or refuse.none=0.1")
        if read["quantity"] not in QUANTITIES:
            raise UsageError(
                f"{text!r}: no quantity is named {read['quantity']!r}; {nearest(read['quantity'], QUANTITIES)}"
            )
        value = float(read["value"]) / (100 if read["percent"] else 1)
        if read["quantity"] in IN_NATS and read["percent"]:
            raise UsageError(f"{text!r}: {read['quantity']} is in nats, and not a share; leave the % out")
        if read["quantity"] not in IN_NATS and not 0 <= value <= 1:
            raise UsageError(f"{text!r}: {read['quantity']} is a share, from 0 to 1; write such as 0.9 or 90%")
        return cls(read["quantity"], read["group"], value, at_least, read["end"] or "")

    def __str__(self) -> str:
        """How it is written."""
        name = ".".join(filter(None, (self.quantity, self.group, self.end)))
        return f"{name} {'>=' if self.at_least else '<='} {self.value:g}"

    def required(self, unit: str) -> str:
        """What it asks for, in the unit of what was measured."""
        limit = number(self.value, unit) + ("" if unit == SHARE else f" {unit}")
        return f"{f'the {self.end} end of its interval' if self.end else 'it'} has to be at {self._side} {limit}"

    @property
    def _side(self) -> str:
        return "least" if self.at_least else "most"

    def check(self, conditions: Set[str]) -> None:
        """UsageError where no question can have it; conditions: those of the file's contexts."""
        of_quantity: Set[str] = {
            "follow": conditions - {"irrelevant", "neutral"}, "keep": conditions & {*UNRELATED}, "correct": {"none"},
            "refuse": conditions | {"none"}, "context_bias": conditions & {"conflicting"},
            "prior_bias": conditions & {"supporting"},
        }.get(self.quantity, conditions)  # fmt: skip
        if not of_quantity or (self.group is not None and self.group not in of_quantity):
            names = ", ".join(f"{self.quantity}.{group}" for group in sorted(of_quantity)) or "nothing of that quantity"
            raise UsageError(f"{self}: the file has no contexts for that; it has {names}")

    def of(self, measured: Iterable[Measured]) -> list[Measured]:
        """What it is about; WorkFailed where nothing of the kind was measured of a model."""
        known = list(measured)
        about = [one for one in known if one.quantity == self.quantity and self.group in (None, one.group)]
        if not about or (lacking := sorted({one.model for one in known} - {one.model for one in about})):
            models = ", ".join(lacking) if about else "any model"
            raise WorkFailed(
                f"{self} could not be judged for {models}: no question counts for it, since it is of questions that a "
                "model answers right, or wrong, without a context"
            )
        if self.end and (few := next((one for one in about if one.low is None), None)):
            raise WorkFailed(
                f"{self} could not be judged for {few.model}: {few.counts} have no interval; it needs "
                f"{FEWEST_FOR_INTERVAL} {few.over}s"
            )
        return about

    def is_met(self, one: Measured) -> bool:
        """Whether the mean, or the end of the interval, is on the right side."""
        found = getattr(one, self.end or "mean")
        return bool(found >= self.value if self.at_least else found <= self.value)


def read_rows(study: Study, thresholds: Iterable[Threshold], folder: Path) -> ReadQuestions:
    """What an audit's file has; rows that cannot be used are listed in the folder's NOT_USED.

    UsageError where no row can be used, or a threshold is not possible.
    """
    options: Any = study.questions
    try:
        read = read_questions(options)
    except InputError as error:
        raise UsageError(str(error)) from None
    wrong = [f"{place}: {why}\n" for place, why in wrong_rows(read.rejected)]
    (folder / NOT_USED).unlink(missing_ok=True)
    if wrong:
        with written_whole(folder / NOT_USED) as temporary:
            temporary.write_text("".join(wrong), encoding="utf-8")
    if not read.questions:
        raise UsageError(f"{not_usable(options.path, read)}; all of them are in {folder / NOT_USED}")
    conditions = {kind for question in read.questions for kind in question.context_kinds}
    for threshold in thresholds:
        threshold.check(conditions)
        if threshold.quantity in ("persuasion", "unchanged") and "coherent_persuasion" not in study.measures:
            raise UsageError(f"{threshold}: it needs sampled answers; add --samples {FEWEST_SAMPLES} or more")
    return read


def about_rows(read: ReadQuestions, file: Path, folder: Path) -> list[str]:
    """What is wrong with rows that are not used, and where all of them are listed; nothing where all are used."""
    text = not_usable(file, read)
    return [f"not used: {text}", f"all rows that are not used: {folder / NOT_USED}"] if text else []


def columns_of(maps: Iterable[str]) -> dict[str, str]:
    """The file's own names of columns by ours, of the option --map; UsageError for what is not such a pair."""
    pairs = [text.partition("=")[::2] for text in maps]
    if wrong := [text for text, (ours, theirs) in zip(maps, pairs, strict=True) if not (ours and theirs)]:
        raise UsageError(f"--map {wrong[0]!r}: write our column and the file's, such as --map question=query")
    try:
        return checked_map((ours.strip(), theirs.strip()) for ours, theirs in pairs)
    except ValueError as error:
        raise UsageError(f"--map: {error}") from None


def questions_file(file: str) -> Path:
    """The file of questions that a command names, or the bundled one; UsageError where there is none."""
    path = Path(file).expanduser()
    if not path.exists() and (STUDIES / f"{file}.jsonl").exists():
        path = STUDIES / f"{file}.jsonl"
    if not path.is_file():
        bundled = ", ".join(sorted(found.stem for found in STUDIES.glob("*.jsonl")))
        raise UsageError(f"there is no file {file}; name a CSV, JSON or Parquet file (docs/own-data.md), or {bundled}")
    return path


def write_study(
    file: str,
    models: Sequence[str],
    folder: Path,
    *,
    samples: int,
    questions: int | None,
    max_new_tokens: int,
    columns: Mapping[str, str],
    thinking: str = "off",
    baseline: bool = False,
    entailment: str | None = None,
) -> Path:
    """Writes the study of an audit into its workspace, and gives its path.

    thinking: off, on, or the most tokens of thoughts; off: models think that have no switch for it. UsageError where
    the file is not there, or for another value.
    """
    if thinking not in ("off", "on") and not (thinking.isdecimal() and int(thinking)):
        raise UsageError(f"--thinking {thinking}: write off, on, or the most tokens of thoughts, such as 4096")
    path = questions_file(file)
    content = {
        "name": re.sub("[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:58] or "audit",
        "asks": "Does the model follow the passages that it is given?",
        "workspace": str(folder),
        "questions": {
            "source": "file", "file": str(path.absolute()), "columns": dict(columns), "per_partition": questions,
            "baseline": baseline,
        },
        "models": [_model(name) for name in models],
        "measures": {
            "answers": {
                "samples": samples, "max_new_tokens": max_new_tokens,
                "thinking": {
                    "max_new_tokens": int(thinking) if thinking.isdecimal() else THOUGHTS,
                    "models": "without_switch" if thinking == "off" else "all",
                },
            },
            **(MOVED if samples >= FEWEST_SAMPLES else {}),
            "whose_answer": {"entailment": entailment} if entailment else {},
        },
    }  # fmt: skip
    written = folder / "audit.yaml"
    with written_whole(written) as temporary:
        temporary.write_text(yaml.safe_dump(content, sort_keys=False, allow_unicode=True), encoding="utf-8")
    return written


def _model(name: str) -> dict[str, str]:
    """A model as an option names it, perhaps with a dtype behind a colon."""
    before, colon, dtype = name.rpartition(":")
    return {"name": before, "dtype": dtype} if colon and dtype in DTYPES else {"name": name}


def found_in(database: Path) -> tuple[list[Measured], list[Row], pd.DataFrame]:
    """What a database says of its models: each alone, how every two of them differ, whose answers were cut off."""
    with opened(database, schema()) as warehouse:
        rows = warehouse.frame("models_side_by_side")
        differences = warehouse.frame("model_differences")
        unfinished = warehouse.frame("unfinished_greedy_answers")
    known = differences[differences["quantity"].isin(QUANTITIES.values())].astype(object)
    return measured_of(rows), records(known.where(known.notna(), None)), unfinished


def measured_of(means: pd.DataFrame) -> list[Measured]:
    """What the named query models_side_by_side says of the quantities of an audit."""
    names = {value: key for key, value in QUANTITIES.items()}
    return [
        Measured(
            f"{row['model']} ({row['dtype']})", names[row["quantity"]], row["group"], int(row["n"]),
            int(row["clusters"]), row["interval_over"], float(row["mean"]), _finite(row["low"]), _finite(row["high"]),
            row["unit"],
        )
        for row in records(means)
        if row["quantity"] in names
    ]  # fmt: skip


def _finite(value: float) -> float | None:
    """A bound of an interval; None where there is none."""
    return float(value) if math.isfinite(value) else None


def judged(thresholds: Iterable[Threshold], measured: Sequence[Measured]) -> list[tuple[Threshold, Measured, bool]]:
    """Each threshold for each model, and whether it is met."""
    return [(one, found, one.is_met(found)) for one in thresholds for found in one.of(measured)]


def verdicts(outcome: Iterable[tuple[Threshold, Measured, bool]]) -> Iterator[str]:
    """A line for each threshold that is not met."""
    for threshold, found, is_met in outcome:
        if not is_met:
            is_so = f"{found.name} of {found.model} is {found.words} over {found.counts}"
            yield f"{is_so}, and {threshold.required(found.unit)}"


def show(console: Console, measured: Sequence[Measured]) -> None:
    """A table: what was measured, by model, and what the quantities mean."""
    models = list(dict.fromkeys(one.model for one in measured))
    table = Table("quantity", *models, "over")
    for quantity in QUANTITIES:
        for group in dict.fromkeys(one.group for one in measured if one.quantity == quantity):
            found = {one.model: one for one in measured if (one.quantity, one.group) == (quantity, group)}
            cells = [found[model].words if model in found else "" for model in models]
            counts = " / ".join(dict.fromkeys(one.counts for one in found.values()))
            table.add_row(*map(Text, (f"{quantity}.{group}", *cells, counts)))
    console.print(table)
    shown = dict.fromkeys(one.quantity for one in measured)
    said = "; ".join(f"{name}: {IN_WORDS[QUANTITIES[name]]}" for name in QUANTITIES if name in shown)
    over = " or ".join(sorted({f"{one.over}s" for one in measured}))
    console.print(f"Shares of greedy answers, with 95% intervals over {over}. {said}.", highlight=False)


def as_json(
    selected: Selected,
    measured: Sequence[Measured],
    differences: Sequence[Row],
    unfinished: pd.DataFrame,
    read: ReadQuestions,
    outcome: Sequence[tuple[Threshold, Measured, bool]],
) -> str:
    """All of it for a program."""
    checks = [
        {
            "threshold": str(threshold),
            "model": found.model,
            "unit": found.unit,
            "mean": found.mean,
            "low": found.low,
            "high": found.high,
            "met": is_met,
        }
        for threshold, found, is_met in outcome
    ]
    paths = {name: str(path) for name, path in selected.outputs().items()}
    content = {
        "measured": [asdict(one) for one in measured],
        "differences": list(differences),
        "unfinished_greedy_answers": records(unfinished),
        "checks": checks,
        "rows_not_used": [f"{place}: {why}" for place, why in wrong_rows(read.rejected)],
        "kinds_not_given": {"supporting": read.derived, "unknown": read.unknown},
    }
    return json.dumps(content | paths, indent=2)


def write_junit(
    file: Path,
    name: str,
    outcome: Sequence[tuple[Threshold, Measured, bool]],
    *,
    unused: Sequence[Wrong] = (),
    error: str = "",
) -> None:
    """Writes the thresholds as JUnit XML, a test case for each threshold and model; UsageError where it cannot.

    unused: what is wrong with rows of the file that are not used, each a case that was skipped. error: why the audit
    did not come to its end; it is a case of its own.
    """
    failed = list(verdicts(outcome))
    counts = {
        "tests": len(outcome) + len(unused) + bool(error), "failures": len(failed), "errors": int(bool(error)),
        "skipped": len(unused),
    }  # fmt: skip
    suite = ElementTree.Element(
        "testsuite", {"name": f"swaymeter audit {name}"} | {k: str(n) for k, n in counts.items()}
    )
    if error:
        case = ElementTree.SubElement(suite, "testcase", classname="swaymeter", name="audit")
        ElementTree.SubElement(case, "error", message=_as_xml(error))
    unmet = iter(failed)
    for threshold, found, is_met in outcome:
        name = f"{found.name}: {threshold}"
        case = ElementTree.SubElement(suite, "testcase", classname=_as_xml(found.model), name=name)
        if not is_met:
            ElementTree.SubElement(case, "failure", message=_as_xml(next(unmet)))
    for place, why in unused:
        case = ElementTree.SubElement(suite, "testcase", classname="rows that are not used", name=place)
        ElementTree.SubElement(case, "skipped", message=_as_xml(why))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        ElementTree.ElementTree(suite).write(file, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}; name another file") from None


def _as_xml(text: str) -> str:
    """The text without characters that XML cannot have."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def refuse_unmet(outcome: Iterable[tuple[Threshold, Measured, bool]]) -> None:
    """WorkFailed, in one line, where a threshold is not met."""
    if lines := list(verdicts(outcome)):
        raise WorkFailed("; ".join(lines))


def thresholds_of(under: Iterable[str], over: Iterable[str]) -> list[Threshold]:
    """The thresholds of the options --fail-under and --fail-over."""
    return [
        *(Threshold.parse(text, at_least=True) for text in under),
        *(Threshold.parse(text, at_least=False) for text in over),
    ]
