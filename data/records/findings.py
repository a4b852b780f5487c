"""Findings of a report: claims with their numbers, and caveats; the file findings.json beside the page stores them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pydantic import TypeAdapter

from swaymeter.data.digests import open_file
from swaymeter.data.errors import DamagedFile, first_line
from swaymeter.data.escaping import json_text
from swaymeter.data.records.statistics import FEWEST_FOR_INTERVAL

FINDINGS_FILE = "findings.json"
"""Name of the file in the folder of a report."""
_MAX_BYTES = 2**24
"""Limit of the bytes of findings.json."""
_LONGEST_BRIEF = 30
"""Limit of the characters of `Number.brief`; a longer text is cut to `Number.head`."""
_ROUNDING = 1e-9
"""Bound on the rounding error of a share in percent."""


@dataclass(frozen=True)
class NotRun:
    """A task of the study without a result, and the reason."""

    relation: str
    model: str
    measure: str
    reason: str


@dataclass(frozen=True)
class GateCheck:
    """A number of a variant, compared with a threshold of the study.

    Attributes:
        name: the name of the number, such as `follow.supporting`.
        bound: the threshold, such as `>= 90%`.
        reason: the reason why the number does not meet the threshold; "" for a number that meets it.
    """

    name: str
    measured: str
    bound: str
    variant: str
    reason: str = ""


@dataclass(frozen=True)
class StudyCard:
    """Facts about a study that are not in its database.

    Attributes:
        seeds: seed of the study, and further seeds.
        question: question of the study, in its author's words.
        not_run: tasks without a result.
        created_at: time of the report, ISO 8601.
        versions: versions of programs, by program.
        sources: a line for each source: name, licence and, if available, address.
        prompt: texts of the prompt that differ from the default prompt, by name.
        gate: numbers compared with thresholds; empty for a study without thresholds.
    """

    citation: ClassVar[str] = (
        "The Swaymeter developers: Swaymeter, how far a context sways a language model away from what it already "
        "believes. CITATION.cff of the program has the papers whose measures it computes: Du et al. 2024 (Context "
        "versus Prior Knowledge in Language Models), Liu et al. 2024 (Efficiently Computing Susceptibility to Context "
        "in Language Models), Marjanović et al. 2024 (DYNAMICQA: Tracing Internal Knowledge Conflicts in Language "
        "Models)."
    )
    name: str
    seeds: tuple[int, ...]
    question: str
    not_run: tuple[NotRun, ...]
    created_at: str
    versions: Mapping[str, str]
    sources: tuple[str, ...]
    prompt: Mapping[str, str] = field(default_factory=dict)
    gate: tuple[GateCheck, ...] = ()


@dataclass(frozen=True)
class Number:
    """A number in a sentence.

    Attributes:
        text: the number with its interval, unit and sample size.
        label: variant or group of the number; empty if there is only one.
        interval: mean, low and high of a share, in percent; None for other numbers.
        value: the mean, which orders the numbers of many variants.
    """

    text: str
    label: str = ""
    interval: tuple[float, float, float] | None = None
    value: float = 0.0

    @property
    def head(self) -> str:
        """The number alone, or a count such as `3 of 8`."""
        match = re.match(r"(\d+|none) of \d+|\S+", self.text)
        return match[0] if match else ""

    @property
    def brief(self) -> str:
        """The number with its items, such as `3 of 8 relations`; without the items if this text is long."""
        clause = re.split(r";| \(", self.text)[0]
        return clause if len(clause) <= _LONGEST_BRIEF else self.head


@dataclass(frozen=True)
class Claim:
    """The beginning of a sentence, and the numbers that complete the sentence; without numbers, the whole sentence."""

    sentence: str
    numbers: tuple[Number, ...] = ()
    pictured: bool = False
    """True if the headline figure shows the same numbers."""

    @property
    def line(self) -> str:
        """The claim on one line. A single number is cut at its first semicolon; several numbers appear as `brief`."""
        if len(self.numbers) == 1:
            label = f" ({self.numbers[0].label})" if self.numbers[0].label else ""
            return f"{self.sentence} {self.numbers[0].text.partition(';')[0]}{label}"
        numbers = ", ".join(
            f"{number.brief} ({number.label})" if number.label else number.brief for number in self.numbers
        )
        return f"{self.sentence} {numbers}".strip()

    def lines(self) -> list[str]:
        """Return the claim as lines of text; a single number without a label stands on the line of the sentence."""
        if len(self.numbers) == 1 and not self.numbers[0].label:
            return [f"{self.sentence} {self.numbers[0].text}"]
        return [self.sentence, *(f"    {number.label}: {number.text}" for number in self.numbers)]


def whole_percent(share: float) -> int:
    """Return a share in whole percent, with halves rounded up: 35 for 0.345."""
    return int(100 * share + 0.5 + _ROUNDING)  # 34.4999999999 counts as 34.5, so that equal shares look equal


@dataclass(frozen=True)
class Part:
    """A share in a bar of shares, or a mean.

    Attributes:
        name: name of the part, such as `wrong`.
        mean: the share, 0 to 1, or the mean in nats.
        low: lower end of the 95% interval; None without an interval.
        count: number of replies, or of entities, in the part.
        address: page of the report with these replies or entities; "" without such a page.
    """

    name: str
    mean: float
    low: float | None = None
    high: float | None = None
    count: int = 0
    address: str = ""

    @property
    def interval(self) -> str:
        """The interval in whole percent, such as `[48, 89]`; "" without an interval."""
        if self.low is None or self.high is None:
            return ""
        return f"[{whole_percent(self.low)}, {whole_percent(self.high)}]"


@dataclass(frozen=True)
class Bar:
    """A row of the headline figure.

    Attributes:
        label: the kind of context, the relation or the category.
        variant: label of the variant; "" if there is only one.
        n: number of replies, or of queries.
        main: name of the main part, such as `wrong`; in a bar of shares, its share is written beside the bar.
        name: name of the main part's number in thresholds, such as `follow.supporting`; "" if the bar has a
            `threshold`, and for a number that thresholds cannot name.
        threshold: the share, not its bound, that is compared with thresholds in place of the main part's share; None if
            the main part's share is compared.
        counted: the replies that the share `threshold` counts, such as `wrong or both`.
    """

    label: str
    parts: tuple[Part, ...]
    variant: str = ""
    n: int = 0
    main: str = ""
    name: str = ""
    threshold: Part | None = None
    counted: str = ""

    def part(self, name: str) -> Part | None:
        """Return the part with this name; None if the bar has none."""
        return next((part for part in self.parts if part.name == name), None)

    @property
    def has_shares(self) -> bool:
        """True if there are enough replies for shares; fewer replies are written as counts."""
        return self.n >= FEWEST_FOR_INTERVAL

    @property
    def threshold_words(self) -> str:
        """The text of `threshold`, such as `follow.conflicting 38% [14, 69] (wrong or both)`; "" without one."""
        if self.threshold is None:
            return ""
        share = f"{whole_percent(self.threshold.mean)}% {self.threshold.interval}".strip()
        number = share if self.has_shares else f"{self.threshold.count} of {self.n}"
        words = f"{self.threshold.name} {number}"
        return f"{words} ({self.counted})" if self.counted else words


@dataclass(frozen=True)
class HeadlineFigure:
    """The figure that answers the question of a study.

    Attributes:
        title: the question that the figure answers.
        unit: `share`, or the unit of the means.
        parts: names of all parts, in order.
        bars: rows; rows with the same label follow one another.
        basis: note on the figure, with the common parts of the variants' names, and the numbers of items.
        omitted: number of rows for which the figure has no room.
    """

    title: str
    unit: str
    parts: tuple[str, ...]
    bars: tuple[Bar, ...]
    basis: str = ""
    omitted: int = 0


@dataclass(frozen=True)
class Findings:
    """The findings of a report.

    Attributes:
        verdict: the sentence that answers the question of the study; "" without a measurement.
        figure: the headline figure; None without a measurement.
        headline: the claims at the top of the report.
        details: claims about measures that are not in the headline.
        caveats: sentences on limits of the headline, the gravest first.
        gate: numbers compared with the thresholds of the study.
    """

    verdict: str = ""
    figure: HeadlineFigure | None = None
    headline: list[Claim] = field(default_factory=list)
    details: list[Claim] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)
    gate: list[GateCheck] = field(default_factory=list)


_JSON = TypeAdapter(Findings)


def write_findings(findings: Findings, folder: Path) -> None:
    """Write the findings into the folder of a report."""
    (folder / FINDINGS_FILE).write_text(json_text(_JSON.dump_python(findings, mode="json"), indent=1), encoding="utf-8")


def read_findings(folder: Path) -> Findings:
    """Return the findings of a report's folder.

    Raises:
        DamagedFile: the file is missing or malformed.
    """
    file = folder / FINDINGS_FILE
    try:
        with open_file(file) as opened:
            return _JSON.validate_json(opened.read(_MAX_BYTES))
    except (OSError, ValueError) as error:
        raise DamagedFile(f"{file} cannot be read ({first_line(error)}); run the study with --stage report") from None
