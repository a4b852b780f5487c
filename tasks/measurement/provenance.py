"""What every score row says of where it comes from."""

from tasks.models.language_model import LanguageModel

ENGINE = "plain"


def provenance(model: LanguageModel, *, dataset_version: str, stand_in: str | None = None) -> dict[str, str | None]:
    """The columns `data.tables.PROVENANCE` of a score that a model gave."""
    return {
        "model": model.name,
        "model_revision": model.revision,
        "dtype": model.dtype,
        "device": model.device,
        "engine": ENGINE,
        "dataset_version": dataset_version,
        "stand_in": stand_in,
    }
