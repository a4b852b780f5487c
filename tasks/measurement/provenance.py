"""What every score row says of where it comes from."""

import pyarrow as pa

from data.records.tables import PROVENANCE
from tasks.models.language_model import LanguageModel


def provenance(
    model: LanguageModel, *, dataset_version: str, engine: str, stand_in: str | None = None
) -> dict[str, str | None]:
    """The columns `data.records.tables.PROVENANCE` of a score that a model gave; engine: which way it was computed."""
    return {
        "model": model.name,
        "model_revision": model.revision,
        "dtype": model.dtype,
        "device": model.placement,
        "engine": engine,
        "dataset_version": dataset_version,
        "stand_in": stand_in,
    }


def inherited(scores: pa.Table) -> dict[str, str | None]:
    """The same columns of a score made of stored ones; where these differ, all that they say."""
    said = {c.name: sorted(set(scores[c.name].drop_null().to_pylist())) for c in PROVENANCE}
    return {name: ", ".join(values) or None for name, values in said.items()}
