"""The gallery of bundled studies, made from their files and the pictures of docs/images."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from swaymeter.flows.study.places import STUDIES

IMAGES = Path(__file__).with_name("images")
HEAD = """\
# Gallery of bundled studies

Each is run by its name, such as `make study STUDY=next-token`; `swaymeter run next-token --dry-run` says first what
it costs. Those whose names end in `small` take minutes on two cores.
"""


def gallery() -> str:
    """A section a study: what it asks, its file, and its picture, where there is one."""
    return HEAD + "\n".join(line for file in sorted(STUDIES.glob("*.yaml")) for line in _study(file))


def _study(file: Path) -> Iterator[str]:
    text = file.read_text(encoding="utf-8")
    study = yaml.safe_load(text)
    about = [line.removeprefix("#").strip() for line in text.splitlines() if line.startswith("#")]
    yield from (f"\n## {file.stem}", "", f"**{study['asks']}**" if study.get("asks") else "", "")
    yield from (" ".join(about), "", f"[{file.name}](../flows/studies/{file.name})", "")
    for picture in sorted(IMAGES.glob(f"{file.stem}--*.png")):
        figure = picture.stem.partition("--")[2].replace("-", " ")
        yield from (f"![{file.stem}: {figure}](images/{picture.name})", "")
