"""The exceptions that Swaymeter raises on purpose, one small tree.

SwaymeterError                exit 1  everything below; the message says what, where, and what to do
+-- UsageError                exit 2  what was asked for cannot be: a study file, an option, a name
|   +-- StudyFileError        exit 2  a study file with an unknown key or an impossible value
|   +-- UnknownName           exit 2  a relation, model or measure that does not exist; suggests the nearest
+-- InputError                exit 1  data that breaks its own rules: a catalog file, a CSV, a source
|   +-- ServiceError          exit 1  a public service that could not be asked, or answered nonsense
|       +-- ServiceTimeout    exit 1  one that needs too long for what it was asked: ask for less
|       +-- ServiceBudget     exit 1  one that was asked as often, or as long, as this run may
+-- DamagedFile               exit 1  a file of the workspace that cannot be read, or is not what its name says
|   +-- MissingFile           exit 1  one that is not there yet
+-- WorkspaceError            exit 1  a workspace that cannot be written
|   +-- WorkspaceBusy         exit 1  another run holds this workspace
+-- ModelError                exit 1  a model that cannot be found, loaded or used
+-- ScoreError                exit 1  a score that is not a number, with the query and context that gave it
+-- WorkFailed                exit 1  some steps failed; the others are done
"""

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str:
    """What an unknown name may have meant: the nearest of the known ones, or all of them."""
    names = sorted(known)
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names) or 'none'}"


class SwaymeterError(Exception):
    """Something went wrong that a person can mend; the message says how."""

    exit_code = 1


class UsageError(SwaymeterError):
    """What was asked for cannot be done as asked."""

    exit_code = 2


class StudyFileError(UsageError):
    """A study file has an unknown key or an impossible value."""


class UnknownName(UsageError):
    """A name that stands for nothing, with the nearest one that does."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        super().__init__(f"no {kind} is named {name!r}; {nearest(name, known)}")


class InputError(SwaymeterError):
    """Data that breaks its own rules."""


class ServiceError(InputError):
    """A public service that could not be asked, or answered nonsense."""


class ServiceTimeout(ServiceError):
    """A service needs too long for what it was asked: ask for less."""


class ServiceBudget(ServiceError):
    """A service was asked as often, or as long, as one run may."""


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
    """A score that is not a finite number."""


class WorkFailed(SwaymeterError):
    """Some steps failed; the others are done."""
