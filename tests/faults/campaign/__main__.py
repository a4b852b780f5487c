"""Runs a campaign of faults and prints its table, also after Ctrl-C; exit code 1 where a guarantee was broken."""

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.faults.campaign.record import Outcome, Record

PARTS = ("flips", "services", "hostile", "outages", "short", "kills")


def main() -> int:
    """Reads the arguments and runs what they say."""
    parser = argparse.ArgumentParser(prog="make test-faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=10, help="random kills of a run (10)")
    parser.add_argument("--flips", type=int, default=5_000, help="random bits that are flipped in files (5,000)")
    parser.add_argument("--runs", type=int, default=10, help="short runs on a busy machine (10)")
    parser.add_argument("--seed", type=int, default=0, help="of kills, flips and outages (0)")
    parser.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="the parts to run (all)")
    parser.add_argument("--table", type=Path, help="a file that the table is written to, in Markdown")
    chosen = parser.parse_args()
    counts: dict[str, tuple[int, ...]] = {"outages": (chosen.seed,), "short": (chosen.runs,)}
    counts |= {"kills": (chosen.kills, chosen.seed), "flips": (chosen.flips, chosen.seed)}
    record, began = Record(), time.monotonic()
    for number in (signal.SIGINT, signal.SIGTERM):  # also in the background, where a shell has SIGINT ignored
        signal.signal(number, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # what was found until then counts
        for part in PARTS:
            if part in chosen.only:
                record.add(part, _outcomes(part)(*counts.get(part, ())))
    minutes = (time.monotonic() - began) / 60
    where = f"{os.cpu_count()} processors, Python {platform.python_version()}, {datetime.now(UTC):%Y-%m-%d}"
    print(f"\n{record.broken} guarantees broken; {minutes:.0f} minutes, seed {chosen.seed}, {where}")
    if chosen.table:
        chosen.table.write_text(record.markdown(), encoding="utf-8")
    return int(record.broken > 0)


def _outcomes(part: str) -> Callable[..., Iterator[Outcome]]:
    module: Any = import_module(f"tests.faults.campaign.{part}")
    found: Callable[..., Iterator[Outcome]] = module.outcomes
    return found


if __name__ == "__main__":
    sys.exit(main())
