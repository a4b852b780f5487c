"""A column of a spreadsheet that people fill in."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SheetColumn:
    """A column: its name, its width in characters, whether people write in it, whether it is hidden, its choices."""

    name: str
    width: int = 0
    written: bool = False
    hidden: bool = False
    choices: tuple[str, ...] = ()
