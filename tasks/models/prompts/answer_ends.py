"""The tokens that end an answer, and the text of every token."""

from swaymeter.tasks.models.network import Network
from swaymeter.tasks.models.prompts.template_options import rendered


def end_tokens(model: Network) -> frozenset[int]:
    """The ids that end an answer: all of the model's end-of-sequence tokens, and its chat template's end of turn."""
    ids: set[int] = set()
    for holder in (model.model.config, model.tokenizer, model.model.generation_config):
        of_holder = getattr(holder, "eos_token_id", None)
        ids.update([of_holder] if isinstance(of_holder, int) else of_holder or [])
    end_of_turn = _end_of_turn(model) if model.has_chat_template else None
    return frozenset(ids if end_of_turn is None else ids | {end_of_turn})


def vocabulary_texts(model: Network) -> tuple[str, ...]:
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


def _end_of_turn(model: Network) -> int | None:
    """The special token that the template writes directly behind the assistant's text."""
    answer = "xyzzy"
    turns = [{"role": "user", "content": "?"}, {"role": "assistant", "content": answer}]
    try:
        _, found, behind = rendered(model, turns, generation_prompt=False).rpartition(answer)
    except Exception:  # then only the end-of-sequence tokens count
        return None
    tokens = model.tokenizer(behind.lstrip(), add_special_tokens=False)["input_ids"]
    return tokens[0] if found and tokens and tokens[0] in model.tokenizer.added_tokens_decoder else None
