"""The exceptions that Swaymeter raises on purpose."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

MAX_NAMES = 20
"""Names that a message lists."""


def nearest(name: str, names_in_use: Iterable[str]) -> str:
    """Suggest names for an unknown one: the nearest of the known names, or all of them; of many the first ones."""
    names = sorted(names_in_use)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names[:MAX_NAMES]) or 'none'}{more}"


def first_line(error: BaseException) -> str:
    """The first line of what an error says, or its type where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


NAMED = 3
"""Names that stand beside a reason."""


def first_names(names: Sequence[object], limit: int = NAMED, *, separator: str = ", ") -> str:
    """Return the first names, and the number of the others."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{separator.join(map(str, names[:limit]))}{more}"


def printable(content: str | bytes, length: int = 80) -> str:
    """The first characters of a text, on one line and printable."""
    text = content[: 8 * length].decode("utf-8", "replace") if isinstance(content, bytes) else content[: 8 * length]
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:length]


def is_text(value: str) -> bool:
    """Return True if UTF-8 can encode the value: it has no lone surrogate."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def shown(content: Any, length: int = 120) -> str:
    """The first characters of parsed JSON, which may be nested too deeply for `str`."""
    try:
        return printable(str(content), length)
    except RecursionError:
        return "nested too deep to be shown"


class SwaymeterError(Exception):
    """Something went wrong that a person can correct; the message says what, where, and what to do."""

    exit_code = 1
    """Exit status of the command line."""


class UsageError(SwaymeterError):
    """A request that cannot be carried out as stated: a study file, an option, a name."""

    exit_code = 2


class StudyFileError(UsageError):
    """A study file has an unknown key or an impossible value."""


class UnknownName(UsageError):
    """A name that stands for nothing, with the nearest one that does."""

    def __init__(self, kind: str, name: str, names_in_use: Iterable[str]) -> None:
        super().__init__(f"no {kind} is named {name!r}; {nearest(name, names_in_use)}")


class InputError(SwaymeterError):
    """Data that breaks its own rules: a catalog file, a CSV, a source."""


class ServiceError(InputError):
    """A public service that could not be asked, or answered nonsense."""


class ServiceTimeout(ServiceError):
    """A service needs too long for what it was asked: ask for less."""


class ServiceBudget(ServiceError):
    """A service was asked as often, or as long, as one run may."""


class ServiceClosed(ServiceError):
    """A service is not asked any more: the run ends."""


class DamagedFile(SwaymeterError):
    """A file of the workspace that cannot be read, or is not what its name says."""


class MissingFile(DamagedFile):
    """A file of the workspace that is not there yet."""


class WorkspaceError(SwaymeterError):
    """A workspace that cannot be used."""


class WorkspaceBusy(WorkspaceError):
    """Another run holds this workspace."""


class ModelError(SwaymeterError):
    """A model that cannot be found, loaded or used."""


class ScoreError(SwaymeterError):
    """A score that is not a finite number, with the query and the context that gave it."""


class WorkFailed(SwaymeterError):
    """Some steps failed; the others are done."""
