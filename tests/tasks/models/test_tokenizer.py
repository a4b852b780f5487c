from tasks.models.tokenizer import Tokenizer
from tests.tasks.models.tiny import byte_pair_tokenizer


def test_a_name_has_the_tokens_behind_a_space() -> None:
    tokenizer = Tokenizer(byte_pair_tokenizer([("Ġ", "N"), ("o", "r")]))
    ids = tokenizer.encode("Norway")
    assert len(ids) == len(" Norway") - 2
    assert tokenizer.decode(ids) == " Norway"
    assert tokenizer.decode((*tokenizer.encode("Is"), *ids)) == " Is Norway"
