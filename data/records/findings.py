"""Findings of a report as records: claims with their numbers, and caveats; kept as findings.json beside the page."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from pydantic import TypeAdapter

from swaymeter.data.digests import open_file
from swaymeter.data.errors import DamagedFile, first_line
from swaymeter.data.escaping import json_text

FINDINGS_FILE = "findings.json"
"""Name of the file in the folder of a report."""
_MAX_BYTES = 2**24


@dataclass(frozen=True)
class NotRun:
    """A piece of work of the study that has no result, and the reason."""

    relation: str
    model: str
    measure: str
    reason: str


@dataclass(frozen=True)
class StudyCard:
    """Facts about a study that its database does not hold.

    Attributes:
        name: Name of the study.
        seeds: Seed of the study, and further seeds.
        asked: Question that the study answers, in its author's words.
        not_run: Work without a result.
        made_at: Time of the report, ISO 8601.
        versions: Versions of programs, by program.
        sources: A line for each source: name, licence and, if known, address.
        prompt: Texts of the prompt that differ from the default, by name.
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
    asked: str
    not_run: tuple[NotRun, ...]
    made_at: str
    versions: Mapping[str, str]
    sources: tuple[str, ...]
    prompt: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Number:
    """A number of a sentence.

    Attributes:
        text: The number with its interval, unit and sample size.
        label: The variant or group that it is about; empty if there is one only.
        interval: Mean, low and high of a share, in percent; None for other numbers.
        value: The mean, which orders the numbers of many variants.
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


@dataclass(frozen=True)
class Claim:
    """A sentence up to its numbers, and the numbers; a caveat has no numbers."""

    sentence: str
    numbers: tuple[Number, ...] = ()

    def lines(self) -> list[str]:
        """Return the claim as plain text, a line for each number of several."""
        if len(self.numbers) == 1 and not self.numbers[0].label:
            return [f"{self.sentence} {self.numbers[0].text}"]
        return [self.sentence, *(f"    {number.label}: {number.text}" for number in self.numbers)]


@dataclass(frozen=True)
class Findings:
    """The findings of a report.

    Attributes:
        headline: The claims that the report opens with.
        details: Claims about measures beside the headline.
        caveats: Sentences on what limits the headline, the gravest first.
    """

    headline: list[Claim] = field(default_factory=list)
    details: list[Claim] = field(default_factory=list)
    caveats: list[str] = field(default_factory=list)


_JSON = TypeAdapter(Findings)


def write_findings(found: Findings, folder: Path) -> None:
    """Write the findings into the folder of a report."""
    (folder / FINDINGS_FILE).write_text(json_text(_JSON.dump_python(found, mode="json"), indent=1), encoding="utf-8")


def read_findings(folder: Path) -> Findings:
    """Return the findings of a report's folder.

    Raises:
        DamagedFile: The file is missing or holds something else.
    """
    file = folder / FINDINGS_FILE
    try:
        with open_file(file) as opened:
            return _JSON.validate_json(opened.read(_MAX_BYTES))
    except (OSError, ValueError) as error:
        raise DamagedFile(f"{file} cannot be read ({first_line(error)}); run `swaymeter report` again") from None
