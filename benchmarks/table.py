"""Puts the tables of all results into docs/benchmarks.md: `python benchmarks/table.py`."""

import json
from pathlib import Path

from benchmarks.measuring import RESULTS, Table

PAGE = Path(__file__).resolve().parents[1] / "docs" / "benchmarks.md"
HEADING = "## Results\n"


def section(results: Path = RESULTS) -> str:
    """The results of every file, under the benchmark's name and the machine's."""
    files = sorted(results.glob("*.json"))
    if not files:
        return "None yet.\n"
    return "\n".join(_of_file(file) for file in files)


def page(results: Path = RESULTS) -> str:
    """The page as it should be: what stands above its results, and the results."""
    above, _, _ = PAGE.read_text(encoding="utf-8").partition(HEADING)
    return f"{above}{HEADING}\n{section(results)}"


def _of_file(file: Path) -> str:
    content = json.loads(file.read_text(encoding="utf-8"))
    machine = content["machine"]
    versions = f"torch {machine['torch']}, transformers {machine['transformers']}, Python {machine['python']}"
    units = f"; {', '.join(machine['units'])}" if machine["units"] else ""
    tables = "\n\n".join(Table(**table).markdown().rstrip() for table in content["tables"])
    return f"### {content['benchmark']}\n\n{tables}\n\n{machine['name']}{units}; {versions}.\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
