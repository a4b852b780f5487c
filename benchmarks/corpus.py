"""How fast names are counted in a corpus, and with how much memory: by names and by size.

The text is that of `--files`, as often as it takes. Half of the names are words of it that begin and end with a
capital, two or three, or one that it never has in small letters; the others no text has. Each setting has a process of
its own with one thread: its processor seconds are those of reading and counting, building is what the names take
before, and the peak is the most that was resident.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.machine import forget_peak, memory_in_use, peak_memory, this_machine
from benchmarks.measuring import Table, arguments, publish
from swaymeter.data.randomness import generator
from swaymeter.data.records import CountedPair
from swaymeter.data.sources.corpus import Piece, Reading, shards
from swaymeter.tasks.frequency.counting import count
from swaymeter.tasks.frequency.words import Names, words

MB, MIB = 1_000_000, 1 << 20
WINDOW = 50
SAMPLE = 8 << 20
COLUMNS = (
    "names", "MB", "building, CPU s", "counting, CPU s", "MB a second", "found, thousands", "before, MiB",
    "peak, MiB",
)  # fmt: skip


def main() -> None:
    """Measures each setting in a process of its own, prints and writes."""
    asked = _asked()
    if asked.child:
        print(json.dumps(_measured(asked, *map(int, asked.child))))
        return
    with tempfile.TemporaryDirectory() as folder:
        if not asked.files:
            asked.files = [str(_made_up(Path(folder)))]
        settings = [(names, asked.size) for names in asked.names]
        settings += [(asked.names[-1], factor * asked.size) for factor in (2, 4)]
        found = []
        for setting in settings:
            found.append(_measured(asked, *setting) if asked.quick else _of_child(asked, setting))
            print(f"  {setting}: {found[-1]['size'] / MB / found[-1]['counting']:.1f} MB/s", flush=True)
    machine = this_machine("cpu")
    notes = [f"Text: {asked.text}. Peak and before are resident memory; before is with all names at hand."]
    title = f"Names counted in a corpus, {machine.name}, one thread"
    table = Table(title, COLUMNS, [_cells(one) for one in found], notes)
    publish("corpus", machine, [table], {"text": asked.text, "settings": found}, asked)


def _asked() -> argparse.Namespace:
    parser = arguments(__doc__)
    parser.add_argument("--files", nargs="+", help="shards with real text; by default made-up sentences")
    parser.add_argument("--text", default="made-up sentences", help="what the table calls these")
    parser.add_argument("--names", type=int, nargs="+", default=[1_000, 30_000, 300_000])
    parser.add_argument("--size", type=int, default=100, help="MB; also two and four times as much")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.quick:
        asked.names, asked.size = [100], 1
    return asked


def _of_child(asked: argparse.Namespace, setting: tuple[int, int]) -> dict[str, Any]:
    command = [sys.executable, *sys.argv, "--files", *asked.files, "--child", *map(str, setting)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measured(asked: argparse.Namespace, names: int, size: int) -> dict[str, Any]:
    files = list(shards(asked.files).values())
    pairs = _pairs(_sample(files), names)
    start = time.process_time()
    looked_for = Names(pairs)
    assert looked_for.automaton is not None
    building = time.process_time() - start
    forget_peak("cpu")
    before, start = memory_in_use("cpu"), time.process_time()
    counts = count(_repeated(files, size * MB), looked_for, WINDOW)
    counting = time.process_time() - start
    return {
        "names": len(looked_for.texts), "size": size * MB, "building": building,
        "counting": counting, "found": int(counts.entities.sum()), "words": counts.words, "before": before,
        "peak": peak_memory("cpu"),
    }  # fmt: skip


def _repeated(files: list[Path], size: int) -> Iterator[Piece]:
    """The text of the files, again and again, until so many bytes of it are read."""
    left = size
    while True:
        for file in files:
            for piece in Reading(file, "text").pieces():
                left -= len(piece.text.encode("utf-8", "surrogatepass"))
                yield piece
                if left <= 0:
                    return


def _sample(files: list[Path]) -> list[str]:
    text, size = [], 0
    for piece in _repeated(files[:50], SAMPLE):
        text.append(piece.text)
        size += len(piece.text)
    return words(" ".join(text).encode("utf-8", "replace")).decode("utf-8", "replace").split(" ")


def _pairs(text: list[str], names: int) -> list[CountedPair]:
    """About so many names: half of them stand in the text."""
    drawn = generator(0, "names")
    real: list[str] = []
    vocabulary = set(text)
    for length, share in ((1, 20), (2, 4), (3, 4)):  # a twentieth of all names, and twice a quarter
        spans = {
            " ".join(text[place : place + length])
            for place in range(len(text) - length)
            if text[place][:1].isupper() and text[place + length - 1][:1].isupper()
        }
        names_alone = sorted(span for span in spans if span.lower() not in vocabulary)
        real += map(str, drawn.permutation(names_alone)[: names // share])
    drawn_pairs = zip(drawn.integers(len(real), size=names), drawn.integers(len(text), size=names), strict=True)
    listed = [*real, *(f"{real[name]} {text[word]}x" for name, word in drawn_pairs)][:names]
    return [CountedPair(name, listed[-1 - place], (name,), (listed[-1 - place],)) for place, name in enumerate(listed)]


def _made_up(folder: Path) -> Path:
    drawn, file = generator(0, "text"), folder / "made-up.jsonl"
    known = ["Norway", "Oslo", "Ada", "Lovelace", "river", "the", "of", "was", "born", "in,", "it.", "Who", "year"]
    with file.open("w", encoding="utf-8") as out:
        for _ in range(2_000):
            text = " ".join(known[place] for place in drawn.integers(len(known), size=80))
            out.write(json.dumps({"text": text}) + "\n")
    return file


def _cells(one: dict[str, Any]) -> list[str]:
    return [
        f"{one['names']:,}",
        f"{one['size'] / MB:,.0f}",
        f"{one['building']:.1f}",
        f"{one['counting']:.1f}",
        f"{one['size'] / MB / one['counting']:.1f}",
        f"{one['found'] / 1000:,.0f}",
        f"{one['before'] / MIB:.0f}",
        f"{one['peak'] / MIB:.0f}",
    ]


if __name__ == "__main__":
    main()
