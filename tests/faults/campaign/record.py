"""What a campaign found: a row for each kind of fault, printed when it is complete, and all of them as Markdown."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

LONGEST_SECONDS = 120.0
"""What takes longer counts as hung."""
NOT_HIT, NEVER_HIT = "not hit", "NEVER HIT"
"""What says nothing of a guarantee, and a row of which no try says anything."""
MOST_MIB = 2048.0
"""What needs more memory breaks a guarantee."""


@dataclass(frozen=True)
class Outcome:
    """What came of one fault.

    row: the row of the table that counts it. verdict: in capitals where a guarantee is broken. seconds: how long the
    program took. mib: the most memory that it held; 0 where that was not measured. detail: what to look at.
    """

    row: str
    verdict: str
    seconds: float = 0.0
    mib: float = 0.0
    detail: str = ""

    @property
    def verdicts(self) -> list[str]:
        """The verdict, and what time and memory add to it."""
        slow = ["HUNG"] if self.seconds > LONGEST_SECONDS and self.verdict != "HUNG" else []
        large = ["TOO MUCH MEMORY"] if self.mib > MOST_MIB else []
        return slow + large or [self.verdict]


def is_broken(verdict: str) -> bool:
    """Whether a verdict says that a guarantee is broken."""
    return verdict.isupper()


@dataclass
class Row:
    """The outcomes of one kind of fault."""

    verdicts: Counter[str] = field(default_factory=Counter)
    tried: int = 0
    seconds: float = 0.0
    mib: float = 0.0

    @property
    def outcomes(self) -> Counter[str]:
        """How often each verdict was given; a row whose fault met nobody in any try has seen nothing at all."""
        return Counter({NEVER_HIT: self.tried}) if set(self.verdicts) == {NOT_HIT} else self.verdicts


@dataclass
class Record:
    """The rows of each part of a campaign."""

    parts: dict[str, dict[str, Row]] = field(default_factory=dict)

    def add(self, part: str, outcomes: Iterable[Outcome]) -> None:
        """Counts outcomes as they come, and prints each row as it is complete, also where something ends it early."""
        rows = self.parts.setdefault(part, {})
        print(f"\n{part}", flush=True)
        is_in_order = part != "kills"
        printed = 0
        try:
            for outcome in outcomes:
                row = rows.setdefault(outcome.row, Row())
                if is_in_order and len(rows) > printed + 1:
                    _print(*[*rows.items()][printed])
                    printed += 1
                row.tried += 1
                row.verdicts.update(outcome.verdicts)
                row.seconds, row.mib = max(row.seconds, outcome.seconds), max(row.mib, outcome.mib)
                if any(map(is_broken, outcome.verdicts)):
                    print(
                        f"  {', '.join(outcome.verdicts)}: {outcome.row}: {outcome.detail}", file=sys.stderr, flush=True
                    )
        finally:
            for name, row in [*rows.items()][printed:]:
                _print(name, row)

    @property
    def broken(self) -> int:
        """How many faults broke a guarantee."""
        rows = (row for rows in self.parts.values() for row in rows.values())
        return sum(count for row in rows for verdict, count in row.outcomes.items() if is_broken(verdict))

    def markdown(self) -> str:
        """The table of every part."""
        lines = ["| fault | tried | outcome | longest | most memory |", "| --- | ---: | --- | ---: | ---: |"]
        for part, rows in self.parts.items():
            lines.append(f"| **{part}** | **{sum(row.tried for row in rows.values()):,}** | | | |")
            lines += [f"| {name} | {' | '.join(_cells(row))} |" for name, row in rows.items()]
        return "\n".join(lines) + "\n"


def _cells(row: Row) -> Iterator[str]:
    yield f"{row.tried:,}"
    yield ", ".join(f"{verdict} {count:,}" for verdict, count in sorted(row.outcomes.items()))
    yield f"{row.seconds:.1f} s" if row.seconds >= 0.05 else "< 0.1 s"
    yield f"{row.mib:,.0f} MiB" if row.mib else ""


def _print(name: str, row: Row) -> None:
    tried, verdicts, seconds, mib = _cells(row)
    print(f"  {name:44} {tried:>7}  {verdicts:44} {seconds:>8} {mib:>10}", flush=True)
