"""Published data sets as sources of questions. The description of a data set shows how a user's copy is read."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, create_model

from swaymeter.data.digests import digest_of_named_file
from swaymeter.data.errors import InputError
from swaymeter.data.records import Partition
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.layouts.description import DataSet, Form, data_set
from swaymeter.data.sources.layouts.reader import convert_rows, missing_of
from swaymeter.data.sources.own.files import FileRow, FileRows, names_for_message, read_rows
from swaymeter.data.sources.own.named_file import Origin
from swaymeter.data.sources.own.rows import FileQuestions, questions_of
from swaymeter.data.sources.own.source import QuestionFile, checked_questions
from swaymeter.data.sources.source import FetchedQuestions, QuestionSource

log = logging.getLogger(__name__)

VERSION = 2
ENDINGS = (".csv", ".json", ".jsonl", ".parquet", ".pqt", ".tsv")
"""Endings of the files that are read in a folder; a file that the study names may have any ending."""


class PublishedFile(QuestionFile):
    """A file or folder of a published data set; title, licence and citation have defaults."""

    data_set: ClassVar[DataSet]

    @property
    def origin(self) -> Origin:
        """The title, citation and licence of the data set, or of the study if it names them."""
        published = self.data_set
        title, citation = self.title or published.title, self.citation or published.citation
        licence = self.licence if "licence" in self.model_fields_set else published.licence
        return Origin(f"{title}, {citation}", licence)


def published_source(name: str) -> QuestionSource:
    """Return the source of a published data set."""
    description = data_set(name)
    source: Any = (Literal[name], Field(name, description=f"{description.title}, as it is published."))
    about = f"{description.title}: {description.measures}."
    options = create_model(description.title, __base__=PublishedFile, __doc__=about, source=source)
    options.data_set = description
    return QuestionSource(name, options, key=_key, fetch=_fetch)


def _key(options: PublishedFile, partition: Partition, access: Access) -> Mapping[str, Any]:
    return {
        "source": options.source,
        "version": [VERSION, options.data_set.version],
        **options.depends_on,
        "files": [digest_of_named_file(file, "questions.file") for file in files_of(options.data_set, options.path)],
    }


def _fetch(options: PublishedFile, partition: Partition, access: Access) -> FetchedQuestions:
    return checked_questions(options.path, read_questions(options))


def read_questions(options: PublishedFile) -> FileQuestions:
    """Return the questions of a data set; InputError if no file has rows of the data set."""
    rows = rows_of_files(options.data_set, options.path)
    return questions_of(rows, options.origin, {}, skip_repeated=True)


def files_of(published: DataSet, path: Path) -> list[Path]:
    """Return the file, or the data files in the folder and below it, sorted; InputError without a file."""
    if not path.is_dir():
        return [path]
    data_files = (file for file in sorted(path.rglob("*")) if file.suffix.lower() in ENDINGS and file.is_file())
    visible = [file for file in data_files if all(part[0] != "." for part in file.relative_to(path).parts)]
    if not visible:
        raise InputError(f"{path} has no file whose name ends in {' or '.join(ENDINGS)}; {_remedy(published)}")
    return visible


def rows_of_files(published: DataSet, path: Path) -> list[FileRow]:
    """Return the rows of a data set's file, or of all its files in a folder, with Swaymeter's columns.

    A file without rows of the data set is skipped, with a warning.

    Raises:
        InputError: No file has rows of the data set; the message has the missing and the existing columns.
    """
    files, rows, problems = files_of(published, path), list[FileRow](), list[str]()
    for file in files:
        try:
            file_rows = _rows_of_file(published, file)
        except InputError as error:
            problems.append(str(error))
        else:
            prefix = f"{file.relative_to(path)}, " if len(files) > 1 else ""
            rows += (row._replace(location=f"{prefix}{row.location}") for row in file_rows)
    if not rows:
        others = len(problems) - 1
        more = f"; {others} more {'file' if others == 1 else 'files'} cannot be used, either" if others else ""
        raise InputError(f"{problems[0]}{more}")
    for message in problems:
        log.warning("a file is left out: %s", message)
    return rows


def _rows_of_file(published: DataSet, file: Path) -> list[FileRow]:
    content = read_rows(file, {column.lower() for form in published.forms for column in form.needs})
    if not content.rows:
        raise InputError(f"{file} has no rows; {_remedy(published)}")
    return convert_rows(_form(published, file, content), content.rows)


def _form(published: DataSet, file: Path, content: FileRows) -> Form:
    forms = [(form, missing_of(form, content)) for form in published.forms]
    nearest, missing = min(forms, key=lambda item: len(item[1]))
    if not missing:
        return nearest
    part = f", {nearest.name}" if len(published.forms) > 1 else ""
    raise InputError(
        f"{file} does not have the form of {published.title}{part}: the file lacks the "
        f"column{'s' * (len(missing) > 1)} {', '.join(missing)}; "
        f"the file has {names_for_message(content.columns) or 'none'}; {_remedy(published)}"
    )


def _remedy(published: DataSet) -> str:
    return f"download {published.file} from {published.address}, and name the downloaded file"
