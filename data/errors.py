"""The exceptions that Swaymeter raises on purpose."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

MAX_NAMES = 20
"""Largest number of names in a message."""


def nearest(name: str, names_in_use: Iterable[str]) -> str:
    """Return a hint: "did you mean 'Norway'?" for the most similar name in use, or else a list of the names in use."""
    names = sorted(names_in_use)
    if matches := get_close_matches(name, names, n=1, cutoff=0.5):
        return f"did you mean {matches[0]!r}?"
    return f"known: {first_few(names, MAX_NAMES) or 'none'}"


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its type if the message is empty."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def first_few(names: Sequence[object], limit: int = 3, *, separator: str = ", ") -> str:
    """Return the first names, and the number of the others: "Ada, Bo, Cy and 2 more"."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return f"{separator.join(map(str, names[:limit]))}{more}"


def printable(content: str | bytes, length: int = 80) -> str:
    """Return the first characters of a text on one line, with a space for each character that cannot be printed."""
    # More than `length` is read, because blanks are joined, and a character may have up to four bytes.
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
    """Return the first characters of parsed JSON, which may be nested too deeply for `str`."""
    try:
        return printable(str(content), length)
    except RecursionError:
        return "nested too deep to be shown"


class SwaymeterError(Exception):
    """An error that a person can correct; the message says what is wrong, where, and what to do."""

    exit_code = 1
    """Exit status of the command line."""


class UsageError(SwaymeterError):
    """A request of the user that cannot be carried out, such as an impossible option or an unknown name."""

    exit_code = 2


class StudyFileError(UsageError):
    """A study file that cannot be read, or that has an unknown key or an impossible value."""


class UnknownName(UsageError):
    """An unknown name; the message suggests a similar name."""

    def __init__(self, kind: str, name: str, names_in_use: Iterable[str]) -> None:
        super().__init__(f"no {kind} is named {name!r}; {nearest(name, names_in_use)}")


class InputError(SwaymeterError):
    """Data that breaks a rule, such as a catalog file, a CSV file or the content of a source."""


class ServiceError(InputError):
    """A public service that cannot be reached, or whose response is invalid."""


class ServiceTimeout(ServiceError):
    """A request that a service does not answer in time; a smaller request may succeed."""


class ServiceBudget(ServiceError):
    """The end of a run's requests to a service: their limit is reached, or the service requires too long a pause."""


class ServiceClosed(ServiceError):
    """A request that comes after the run has closed its connections."""


class DamagedFile(SwaymeterError):
    """A file that cannot be read, or has other content than its name says."""


class MissingFile(DamagedFile):
    """A file that the workspace does not have yet, or a file of the user that is missing or cannot be read."""


class WorkspaceError(SwaymeterError):
    """A workspace that cannot be used."""


class WorkspaceBusy(WorkspaceError):
    """A workspace, a database or a published folder that another process is using."""


class ModelError(SwaymeterError):
    """A model that cannot be found, loaded or used."""


class ScoreError(SwaymeterError):
    """A score that cannot be computed or used, such as NaN, or the score of a prompt beyond the window."""


class WorkFailed(SwaymeterError):
    """Work that failed, such as tasks of a run whose other tasks are done, or a threshold that is not met."""
