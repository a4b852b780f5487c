"""What a report needs of its study beside the frames: what was asked, what was not run, when and with what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar


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

    seeds: the study's and further ones. prompt: what of the prompt of questions is the study's own. citation: how the
    program is cited.
    """

    citation: ClassVar[str] = (
        "The Swaymeter developers: Swaymeter, how far a context sways a language model away from what it already "
        "believes. CITATION.cff of the program has the papers whose measures it computes: Du et al. 2024 (Context "
        "versus Prior Knowledge in Language Models), Liu et al. 2024 (Efficiently Computing Susceptibility to Context "
        "in Language Models), Marjanović et al. 2024 (DYNAMICQA: Tracing Internal Knowledge Conflicts in Language "
        "Models)."
    )
    name: str
    seeds: tuple[int, ...]
    asked: str
    not_run: tuple[NotRun, ...]
    made_at: str
    versions: Mapping[str, str]
    sources: tuple[str, ...]
    prompt: Mapping[str, str] = field(default_factory=dict)
