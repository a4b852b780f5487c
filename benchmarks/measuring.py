"""Sides that do the same work and are timed by turns; tables of results, printed and written as JSON."""

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
    """A way to do the work, such as the engine or plain transformers. The place of a query is its position in a list.

    Attributes:
        name: Name of the side.
        compute: Function from the places of queries to their results on the host, a row for each query.
        queries: Function from the number of a round to the places of its queries.
        clock: Function that returns the time in seconds.
        seconds: Seconds per query of each round.
        found: Results by the place of their query.
    """

    name: str
    compute: Callable[[list[int]], NDArray[np.float64]]
    queries: Callable[[int], list[int]]
    clock: Callable[[], float] = time.perf_counter
    seconds: list[float] = field(default_factory=list)
    found: dict[int, NDArray[np.float64]] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """Median seconds per query."""
        return statistics.median(self.seconds)

    def rows(self, places: Sequence[int]) -> NDArray[np.float64]:
        """Return the results of these queries, a row for each."""
        return np.array([self.found[place] for place in places])

    def run(self, number: int) -> None:
        """Compute and time the queries of a round."""
        places = self.queries(number)
        start = self.clock()
        rows = self.compute(places)
        self.seconds.append((self.clock() - start) / len(places))
        self.found.update(zip(places, rows, strict=True))


def interleaved(sides: Sequence[Side], rounds: int, *, first: bool = True) -> None:
    """Run every side once in each round, so that a slow minute of the machine slows down all sides.

    Each round begins with another side.

    Args:
        sides: The sides.
        rounds: Number of rounds.
        first: True if every side first computes a query that is not timed, so that one-time set-up is not measured.
    """
    for side in sides if first else ():
        side.compute(side.queries(0)[:1])
    for number in range(rounds):
        start = number % len(sides)
        for side in [*sides[start:], *sides[:start]]:
            side.run(number)
            print(f"  round {number + 1} of {rounds}: {side.name}: {side.seconds[-1]:.3g} s a query", flush=True)


def times(slow: Side, fast: Side) -> float:
    """Return the ratio of the seconds per query of the slow side to those of the fast side, the median over rounds."""
    return statistics.median(one / other for one, other in zip(slow.seconds, fast.seconds, strict=True))


@dataclass(frozen=True)
class Table:
    """A table of texts with a title, and notes below the table."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def markdown(self) -> str:
        """Return the table in Markdown, as it is printed and as the documentation shows it."""
        widths = [max(map(len, cells)) for cells in zip(self.columns, *self.rows, strict=True)]
        lines = [self.columns, ["-" * width for width in widths], *self.rows]
        padded = (" | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join([f"**{self.title}**", "", *(f"| {line} |" for line in padded), "", *self.notes])


def arguments(description: str | None, *, device: str = "cpu") -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
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
    """Print the tables, and write them with all measured values to <benchmark>-<machine>.json."""
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
