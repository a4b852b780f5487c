"""DeBERTa in its published shapes with random weights: as slow as a trained entailment model, and needing no network.

Its last layer is scaled and shifted until what it says is as certain and as often entailment as of a trained one.
"""

import random
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import DebertaConfig, DebertaForSequenceClassification, PreTrainedTokenizerFast

from swaymeter.tasks.models.entailment import EntailmentModel

LARGE: dict[str, int] = {
    "hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096,
}  # fmt: skip
BASE: dict[str, int] = {
    "hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
}  # fmt: skip
SHAPES = {"deberta-large": LARGE, "deberta-base": BASE}
SMALL: dict[str, int] = {
    "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128,
}  # fmt: skip

LABELS = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")
# The share of pairs that entail from the shorter text to the longer, and the standard deviation in logits of how far
# entailment is above the best other label.
ENTAIL, SPREAD = 1 / 3, 3.0
PAIRS, AT_ONCE = 128, 16
SPECIAL = ("[PAD]", "[CLS]", "[SEP]")
VOCABULARY = 4000


def random_deberta(name: str, shape: dict[str, int], answers: Sequence[Sequence[str]], device: str) -> EntailmentModel:
    """A judge of that shape; answers: those to each question, that it is to judge. Its tokens are made from them."""
    torch.manual_seed(0)
    config: Any = DebertaConfig
    network = DebertaForSequenceClassification(
        config(
            vocab_size=50265, max_position_embeddings=512, relative_attention=True, pos_att_type=["c2p", "p2c"],
            position_biased_input=False, id2label=dict(enumerate(LABELS)), **shape,
        )
    )  # fmt: skip
    judge = EntailmentModel(network.to(device).eval(), _tokenizer(answers), name, "random", device)  # type: ignore[arg-type]
    _calibrate(judge, _some_pairs(answers))
    return judge


def _tokenizer(answers: Sequence[Sequence[str]]) -> PreTrainedTokenizerFast:
    """Byte-pair tokens as often met in these answers; pairs come as [CLS] a [SEP] b [SEP]."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=list(SPECIAL), initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator((text for of_question in answers for text in of_question), trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    fast: PreTrainedTokenizerFast = PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, pad_token="[PAD]", cls_token="[CLS]", sep_token="[SEP]", model_max_length=512
    )
    return fast


def _some_pairs(answers: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """From the shorter text to the longer, which is the direction that decides how much is judged."""
    texts = (
        sorted({text.strip() for text in of_question} - {""}, key=lambda text: (len(text), text))
        for of_question in answers
    )
    pairs = [pair for of_question in texts for pair in combinations(of_question, 2)]
    return random.Random(0).sample(pairs, min(PAIRS, len(pairs)))


@torch.inference_mode()
def _calibrate(judge: EntailmentModel, pairs: Sequence[tuple[str, str]]) -> None:
    of_batches = []
    for start in range(0, len(pairs), AT_ONCE):
        premises, hypotheses = zip(*pairs[start : start + AT_ONCE], strict=True)
        batch = judge.tokenizer(list(premises), list(hypotheses), padding=True, return_tensors="pt")
        of_batches.append(judge.model(**batch.to(judge.device)).logits)
    logits = torch.cat(of_batches)
    margins = logits[:, -1] - logits[:, :-1].amax(dim=1)
    classifier: Any = judge.model.classifier
    scale = SPREAD / margins.std()
    classifier.weight *= scale
    classifier.bias *= scale
    classifier.bias[-1] -= scale * margins.quantile(1 - ENTAIL)
