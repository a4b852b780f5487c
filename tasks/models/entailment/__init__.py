"""Do two answers say the same? Each entails the other, by the arg max of an entailment model.

Equivalence: i ~ j when the model's most likely label for (i, j) and for (j, i) is entailment [Marjanovic et al. 2024,
App. A.3; Kuhn et al. 2023]. It is symmetric; it need not be transitive. Where no entailment model can be loaded, a
cosine similarity of sentence embeddings over a threshold may stand in for it; then `stand_in` says so.

A judgement is the same whatever is judged beside it. A batch changes scores by rounding, so what lies too near a tie to
be sure of is judged once more alone, unpadded, and that decides.
"""

from data.catalog import models
from data.errors import UsageError
from tasks.models.entailment.judge import REFERENCE, Entailment
from tasks.models.entailment.model import EntailmentModel
from tasks.models.entailment.stand_in import EmbeddingStandIn
from tasks.models.files.identity import ModelIdentity, identify_model
from tasks.models.loading import chosen_device, loaded_once, pretrained, weights_options

__all__ = ["EmbeddingStandIn", "Entailment", "EntailmentModel", "identify_entailment", "load_entailment"]


def load_entailment(name: str = REFERENCE, *, threshold: float = 0.8, device: str = "auto") -> Entailment:
    """The judge of that name: an entailment model, or an embedder of the catalog that stands in for one.

    threshold: the least cosine similarity of equivalent answers, in (0, 1], for a stand-in. Raises UsageError for a
    threshold or device that cannot be, ModelError for a model that cannot be loaded or has no entailment label.
    """
    if not 0 < threshold <= 1:
        raise UsageError(f"the threshold of an entailment stand-in is {threshold}; it must lie in (0, 1]")
    if _is_embedder(name):
        from tasks.models.embedder import load_embedder

        return EmbeddingStandIn(load_embedder(name, device=device), threshold)
    return _loaded(identify_model(name, "entailment"), chosen_device(device))


def identify_entailment(name: str = REFERENCE) -> str:
    """The revision of the judge that load_entailment would load, for a score's key; raises as it does."""
    return identify_model(name, "embedder" if _is_embedder(name) else "entailment").revision


@loaded_once
def _loaded(identity: ModelIdentity, device: str) -> EntailmentModel:
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    load = AutoModelForSequenceClassification.from_pretrained
    model = pretrained(identity, load, **weights_options("float32", device)).eval()
    tokenizer = pretrained(identity, AutoTokenizer.from_pretrained)
    return EntailmentModel(model, tokenizer, identity.name, identity.revision, device)


def _is_embedder(name: str) -> bool:
    entry = models().get(name)
    return entry is not None and entry.kind == "embedder"
