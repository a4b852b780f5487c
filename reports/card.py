"""What a report needs of its study beside the frames: what was asked, what was not run, when and with what."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class NotRun:
    """A piece of work that the study asked for and that is not there, and why."""

    relation: str
    model: str
    measure: str
    reason: str


@dataclass(frozen=True)
class StudyCard:
    """The study, what was not run, versions by program, and lines on sources: name, licence, perhaps address.

    prompt: what of the prompt of questions is the study's own.
    """

    name: str
    seed: int
    asked: str
    not_run: tuple[NotRun, ...]
    made_at: str
    versions: Mapping[str, str]
    sources: tuple[str, ...]
    prompt: Mapping[str, str] = field(default_factory=dict)
