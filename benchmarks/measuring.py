"""Sides that do the same work, timed in turns; tables of what came out, printed and kept as JSON."""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import Machine

RESULTS = Path(__file__).parent / "results"
MODEL = "smollm2-135m-instruct"


@dataclass(eq=False)
class Side:
    """One way of doing the work.

    compute: the places of queries -> what comes out, a row for each, on the host; queries: the round's number -> the
    places to be done in it. clock: in seconds; seconds: a query, round by round; found: place -> its row.
    """

    name: str
    compute: Callable[[list[int]], NDArray[np.float64]]
    queries: Callable[[int], list[int]]
    clock: Callable[[], float] = time.perf_counter
    seconds: list[float] = field(default_factory=list)
    found: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """Seconds a query."""
        return statistics.median(self.seconds)

    def rows(self, places: Sequence[int]) -> NDArray[np.float64]:
        """What came out for these queries."""
        return np.array([self.found[place] for place in places])

    def run(self, number: int) -> None:
        """One round of it."""
        places = self.queries(number)
        start = self.clock()
        rows = self.compute(places)
        self.seconds.append((self.clock() - start) / len(places))
        self.found.update(zip(places, rows, strict=True))


def interleaved(sides: Sequence[Side], rounds: int, *, first: bool = True) -> None:
    """Every side once a round, another one first each time, so that a slow minute of the machine meets all of them.

    Before that, if these are the `first`, every side does one query that is not timed: what is set up once is set up.
    """
    for side in sides if first else ():
        side.compute(side.queries(0)[:1])
    for number in range(rounds):
        start = number % len(sides)
        for side in [*sides[start:], *sides[:start]]:
            side.run(number)
            print(f"  round {number + 1} of {rounds}: {side.name}: {side.seconds[-1]:.3g} s a query", flush=True)


def times(slow: Side, fast: Side) -> float:
    """How many times as long a query takes one side as the other; the median over the rounds."""
    return statistics.median(one / other for one, other in zip(slow.seconds, fast.seconds, strict=True))


@dataclass(frozen=True)
class Table:
    """Rows of cells under a title, with what must be said of them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """As it is printed, and as the documentation shows it."""
        widths = [max(map(len, cells)) for cells in zip(self.columns, *self.rows, strict=True)]
        lines = [self.columns, ["-" * width for width in widths], *self.rows]
        padded = (" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join([f"**{self.title}**", "", *(f"| {line} |" for line in padded), "", *self.notes])


def arguments(description: str | None, *, device: str = "cpu") -> argparse.ArgumentParser:
    """The options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default=device, help=f"cpu or cuda; by default {device}")
    parser.add_argument("--quick", "--small", action="store_true", help="to see that it runs; its figures mean nothing")
    parser.add_argument(
        "--out", type=Path, help="where the JSON file goes; by default benchmarks/results, unless quick"
    )
    return parser


def publish(
    benchmark: str, machine: Machine, tables: Sequence[Table], measured: Mapping[str, Any], options: argparse.Namespace
) -> None:
    """Prints the tables, and writes them and what was measured to <benchmark>-<machine>.json."""
    for table in tables:
        print(f"\n{table.markdown()}")
    out = options.out or (None if options.quick else RESULTS)
    if out is None:
        return
    content = {
        "benchmark": benchmark,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine.as_json(),
        **measured,
        "tables": [table.__dict__ for table in tables],
    }
    out.mkdir(parents=True, exist_ok=True)
    file = out / f"{benchmark}-{machine.slug}.json"
    file.write_text(json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    print(f"\nwritten to {file}")
