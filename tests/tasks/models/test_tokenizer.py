from swaymeter.tasks.models.tokenizer import Tokenizer
from tests.tasks.models.tiny import byte_pair_tokenizer


def test_a_name_is_spelled_behind_a_space_and_a_break() -> None:
    tokenizer = Tokenizer(byte_pair_tokenizer([("Ġ", "N"), ("o", "r")]))
    behind_space, behind_break = tokenizer.spellings("Norway")
    assert (len(behind_space), len(behind_break)) == (len("Norway") - 1, len("Norway") - 1)
    assert (tokenizer.decode(behind_space), tokenizer.decode(behind_break)) == (" Norway", "Norway")
