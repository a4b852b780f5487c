"""A published data set as a source of questions: one implementation for all of them."""

from collections.abc import Mapping
from typing import Any, ClassVar

from swaymeter.data.digests import file_digest
from swaymeter.data.records import Partition
from swaymeter.data.sources.access import Access
from swaymeter.data.sources.own.named_file import Origin
from swaymeter.data.sources.own.rows import ReadQuestions
from swaymeter.data.sources.own.source import AskedFile, fetched
from swaymeter.data.sources.published.data_set import DataSet
from swaymeter.data.sources.published.files import files_of, once, own_rows
from swaymeter.data.sources.source import FetchedQuestions, QuestionSource

VERSION = 2


class PublishedFile(AskedFile):
    """A file or folder of a published data set, as it is published; what is left out is the data set's own."""

    data_set: ClassVar[DataSet]

    @property
    def origin(self) -> Origin:
        """The data set, its paper and its licence, where the study does not say others."""
        stated, of_set = super().origin, self.data_set
        title, citation = self.title or of_set.title, self.citation or of_set.citation
        licence = stated.licence if "licence" in self.model_fields_set else of_set.licence
        return Origin(f"{title}, {citation}", licence)


def read_questions(options: PublishedFile) -> ReadQuestions:
    """The questions of the data set; InputError where the file has another form, or cannot be read."""
    rows = own_rows(options.data_set, options.path)
    return options.read(once(rows))._replace(rows=len(rows))


def _key(options: PublishedFile, partition: Partition, access: Access) -> Mapping[str, Any]:
    return {
        "source": options.source, "version": [VERSION, options.data_set.version], **options.depends_on,
        "files": [file_digest(file, "questions.file") for file in files_of(options.data_set, options.path)],
    }  # fmt: skip


def _fetch(options: PublishedFile, partition: Partition, access: Access) -> FetchedQuestions:
    return fetched(options.path, read_questions(options))


def published(options: type[PublishedFile]) -> QuestionSource:
    """The source of a data set."""
    return QuestionSource(options.model_fields["source"].default, options, key=_key, fetch=_fetch)
