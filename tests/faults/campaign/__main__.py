"""Runs a campaign of faults and prints its table, also after Ctrl-C; exit code 1 where a guarantee was broken."""

import argparse
import os
import platform
import signal
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from tests.faults.campaign import endpoints, escapes, flips, kills, network, others, outages, streams
from tests.faults.campaign.record import Record


def main() -> int:
    """Reads the arguments and runs what they say."""
    parser = argparse.ArgumentParser(prog="make test-faults", description=__doc__)
    parts = ("flips", "outages", "network", "kills", "endpoints", "others", "escapes", "streams")
    parser.add_argument("--kills", type=int, default=10, help="random kills of a run (10)")
    parser.add_argument("--flips", type=int, default=5_000, help="random bits that are flipped in files (5,000)")
    parser.add_argument("--service-faults", type=int, default=10, help="random faults of a model server (10)")
    parser.add_argument("--served-kills", type=int, default=5, help="random kills of a run that asks one (5)")
    parser.add_argument("--workspaces", type=int, default=20, help="workspaces of others, of each kind in turn (20)")
    parser.add_argument("--texts", type=int, default=15, help="studies, files and commands with texts that act (15)")
    parser.add_argument("--streams", type=int, default=9, help="faults of what a run writes to, each kind in turn (9)")
    parser.add_argument("--seed", type=int, default=0, help="of all that is random (0)")
    parser.add_argument("--only", choices=parts, nargs="+", default=parts, help="the parts to run (all)")
    parser.add_argument("--table", type=Path, help="a file that the table is written to, in Markdown")
    chosen = parser.parse_args()
    outcomes = {
        "flips": flips.outcomes(chosen.flips, chosen.seed),
        "outages": outages.outcomes(chosen.seed),
        "network": network.outcomes(chosen.seed),
        "kills": kills.outcomes(chosen.kills, chosen.seed),
        "endpoints": endpoints.outcomes(chosen.service_faults, chosen.served_kills, chosen.seed),
        "others": others.outcomes(chosen.workspaces, chosen.seed),
        "escapes": escapes.outcomes(chosen.texts, chosen.seed),
        "streams": streams.outcomes(chosen.streams, chosen.seed),
    }
    record, began = Record(), time.monotonic()
    for number in (signal.SIGINT, signal.SIGTERM):  # also in the background, where a shell has SIGINT ignored
        signal.signal(number, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # what was found until then counts
        for part in parts:
            if part in chosen.only:
                record.add(part, outcomes[part])
    minutes = (time.monotonic() - began) / 60
    where = f"{os.cpu_count()} processors, Python {platform.python_version()}, {datetime.now(UTC):%Y-%m-%d}"
    print(f"\n{record.broken} guarantees broken; {minutes:.0f} minutes, seed {chosen.seed}, {where}")
    if chosen.table:
        chosen.table.write_text("\n".join(record.markdown()) + "\n", encoding="utf-8")
    return int(record.broken > 0)


if __name__ == "__main__":
    sys.exit(main())
