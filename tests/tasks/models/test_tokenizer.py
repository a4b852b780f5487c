from pathlib import Path

import pytest
from huggingface_hub import constants

from swaymeter.tasks.models.files.hub import snapshot_folder
from swaymeter.tasks.models.files.identity import ModelIdentity
from swaymeter.tasks.models.tokenizer import Tokenizer, at_hand
from tests.tasks.models.tiny import byte_pair_tokenizer


def test_a_name_is_spelled_behind_a_space_and_a_break() -> None:
    tokenizer = Tokenizer(byte_pair_tokenizer([("Ġ", "N"), ("o", "r")]))
    behind_space, behind_break = tokenizer.spellings("Norway")
    assert (len(behind_space), len(behind_break)) == (len("Norway") - 1, len("Norway") - 1)
    assert (tokenizer.decode(behind_space), tokenizer.decode(behind_break)) == (" Norway", "Norway")


def test_a_tokenizer_of_the_hub_is_read_where_present(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    here, elsewhere = (ModelIdentity("org/model", commit * 20, "hub", "org/model") for commit in ("ab", "cd"))
    without = ModelIdentity("org/plain", "ab" * 20, "hub", "org/plain")
    for identity, template in ((here, "hello"), (without, None)):
        tokenizer = byte_pair_tokenizer(chat_template=template)
        tokenizer.save_pretrained(snapshot_folder(identity.location, identity.revision))
    found = at_hand(here)
    assert found is not None
    assert found.has_chat_template
    assert at_hand(without) is None  # the hub may have a file with its chat template
    assert at_hand(elsewhere) is None
