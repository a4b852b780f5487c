"""The shards of a corpus: the files that a study names, each with a name of its own."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from swaymeter.data.errors import InputError
from swaymeter.data.sources.corpus.reading import JSON_LINES, PACKED, PARQUET, TEXT, format_of

KEY = "frequency.corpus"


def shards(paths: Iterable[str]) -> Mapping[str, Path]:
    """The files of a corpus by name, in order: those that are named, and those in folders that are named.

    Raises:
        InputError: there is none, one cannot be read or has another format, or two have one name.
    """
    found: dict[str, Path] = {}
    for path in map(Path, paths):
        for name, file in _files(path):
            if not _is_utf8(str(file)):
                raise InputError(f"{KEY}: the name of {str(file)!a} is not UTF-8; rename it")
            if name in found:
                raise InputError(f"{KEY}: {found[name]} and {file} are both called {name}; rename one")
            found[name] = file
    return found


def _files(path: Path) -> list[tuple[str, Path]]:
    if path.is_dir():
        within = sorted(file for file in path.rglob("*") if file.is_file())
        if unknown := next(filter(_is_packed_otherwise, within), None):
            raise InputError(
                f"{KEY}: the packing of {str(unknown)!r} is not known ({_PACKINGS}; none for {', '.join(PARQUET)}); "
                "unpack it, or move it out of the folder"
            )
        files = list(filter(format_of, within))
        if not files:
            raise InputError(f"{KEY}: the folder {path} has no {_FORMATS}; name another one")
        return [(file.relative_to(path).as_posix(), file) for file in files]
    if not path.is_file():
        raise InputError(f"{KEY}: {path} does not exist; correct the path or get the file")
    if not format_of(path):
        raise InputError(f"{KEY}: {path} has none of the formats {_FORMATS}")
    return [(path.name, path)]


def _is_utf8(name: str) -> bool:
    try:
        return bool(name.encode())
    except UnicodeEncodeError:
        return False


def _is_packed_otherwise(file: Path) -> bool:
    """Whether a file that is not hidden has an ending of a corpus, and behind it one that is not known."""
    endings = {ending.lower() for ending in file.suffixes}
    return not (file.name.startswith(".") or format_of(file)) and not endings.isdisjoint((*JSON_LINES, *TEXT, *PARQUET))


_PACKINGS = " or ".join(PACKED)
_FORMATS = f"{', '.join((*JSON_LINES, *TEXT))} (also packed, {_PACKINGS}), {', '.join(PARQUET)}"
