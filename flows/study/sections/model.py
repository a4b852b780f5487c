"""An entry of the section `models`: a language model, and how it computes."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, field_validator

from swaymeter.data.catalog.language_models import ChatTemplate
from swaymeter.data.options import Options


class ModelPart(Options):
    """A language model and how it computes."""

    name: str = Field(min_length=1)
    """An alias of the catalog, a hub id or a folder."""
    dtype: Literal["auto", "float32", "bfloat16", "float16", "8bit", "4bit"] = "auto"
    """The dtype that it computes in; auto: bfloat16 on a GPU, float32 on a CPU."""
    device: str = Field(default="auto", pattern=r"^(auto|cpu|cuda(:\d+)?|balanced)$")
    """Where it runs: auto, cpu, cuda, cuda:1, or balanced over all GPUs."""
    batch_size: int | None = Field(default=None, ge=1, le=100_000)
    """Prompts whose answers are sampled in one batch; null: as many as fit the memory."""
    chat_template: ChatTemplate | None = None
    """Whether its chat template is used, in place of what `prompt.chat_template` says of all models; null: as there."""
    label: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=60)] | None = None
    """What the page and `status` call the model in place of its name; a line of at most 60 characters. No score depends
    on it."""

    @field_validator("label")
    @classmethod
    def _one_line(cls, label: str | None) -> str | None:
        if label is not None and not label.isprintable():
            raise ValueError("has a character that cannot be printed; write it in one line")
        return label

    @field_validator("device")
    @classmethod
    def _computes(cls, device: str, others: Any) -> str:
        if device == "cpu" and others.data.get("dtype") in ("8bit", "4bit"):
            raise ValueError(f"dtype {others.data['dtype']} is for GPUs; use device cuda, or dtype bfloat16 on the cpu")
        return device
