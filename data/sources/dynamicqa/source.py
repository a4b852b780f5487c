"""The published DynamicQA as a source of questions: its CSV files in a folder, or downloaded."""

from pathlib import Path
from typing import Any, Literal

from data import catalog
from data.records import Partition, Question
from data.sources.access import Access
from data.sources.dynamicqa.layout import FILES
from data.sources.dynamicqa.published import download, questions
from data.sources.source import QuestionsOptions, QuestionSource
from data.storage.keys import file_digest

VERSION = 4


class PublishedQuestions(QuestionsOptions):
    """The questions that were published as DynamicQA."""

    source: Literal["dynamicqa"] = "dynamicqa"
    """The published DynamicQA."""
    folder: str | None = None
    """The folder of its three CSV files; null: they are downloaded."""


def _key(options: PublishedQuestions, partition: Partition, access: Access) -> dict[str, Any]:
    """The study's own files are identified by their content, downloads by their address."""
    return {
        "source": "dynamicqa", "version": VERSION, "partition": partition,
        "relations": catalog.property_names_digest(),
        "file": file_digest(Path(options.folder).expanduser() / FILES[partition])
        if options.folder
        else access.address("dynamicqa"),
    }  # fmt: skip


def _fetch(options: PublishedQuestions, partition: Partition, access: Access) -> list[Question]:
    if options.folder:
        return questions(Path(options.folder).expanduser(), partition)
    folder = access.downloads / "dynamicqa"
    if not (folder / FILES[partition]).exists():
        download(folder, partition, access.session("dynamicqa"))
    return questions(folder, partition)


PUBLISHED = QuestionSource("dynamicqa", PublishedQuestions, _key, _fetch)
