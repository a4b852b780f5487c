"""The texts of a vocabulary's tokens."""

from tasks.models.language_model import LanguageModel


def vocabulary_texts(model: LanguageModel) -> tuple[str, ...]:
    """The text that each token id adds: (len(tokenizer),); decoded once for each model.

    Each is decoded behind a letter, since some tokenizers drop a leading space. Special tokens add nothing; a token
    with a part of a character adds the replacement character.
    """
    if model.engine.vocabulary is None:
        tokenizer = model.tokenizer
        letter: list[int] = tokenizer("a", add_special_tokens=False)["input_ids"]
        options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        before = str(tokenizer.decode(letter, **options))
        texts = tokenizer.batch_decode([[*letter, token] for token in range(len(tokenizer))], **options)
        model.engine.vocabulary = tuple(text.removeprefix(before) for text in texts)
    return model.engine.vocabulary
