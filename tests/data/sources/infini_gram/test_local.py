"""An index on this machine is looked at before the package opens it, which would end the process."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from swaymeter.data.errors import InputError
from swaymeter.data.sources.infini_gram.index import LocalIndex, token_bytes
from tests.data.sources.infini_gram.pieces import Pieces

TEXT = b"\xffNorway\xffOslo and more of it"


def made(folder: Path, *, token: int = 1, parts: int = 1) -> Path:
    """Files of an index by their sizes: a number of one byte for each token."""
    for part in range(parts):
        text = TEXT * token
        files = {"tokenized": text, "table": bytes(len(text) // token), "offset": bytes(16)}
        files |= {"metadata": b"{}\n{}\n", "metaoff": bytes(16)} if part else {}
        for name, content in files.items():
            (folder / f"{name}.{part}").write_bytes(content)
    return folder


@pytest.mark.parametrize("token", [1, 2, 4])
def test_the_size_of_a_token_follows_from_the_files(token: int, tmp_path: Path) -> None:
    assert token_bytes(made(tmp_path, token=token, parts=2)) == token


WRONG: dict[str, Callable[[Path], object]] = {
    "no table": lambda folder: (folder / "table.0").unlink(),
    "no part": lambda folder: (folder / "offset.1").unlink(),
    "a gap": lambda folder: [file.rename(file.with_suffix(".2")) for file in folder.glob("*.1")],
    "no offsets": lambda folder: (folder / "offset.0").write_bytes(b""),
    "a folder of offsets": lambda folder: ((folder / "offset.0").unlink(), (folder / "offset.0").mkdir()),
    "stray metadata": lambda folder: (folder / "metadata.0").write_bytes(b"x"),
    "metadata of fewer documents": lambda folder: (folder / "metaoff.1").write_bytes(bytes(8)),
    "nothing": lambda folder: [file.unlink() for file in folder.iterdir()],
    "no folder": lambda folder: folder.rename(folder.with_name("elsewhere")),
    "a table cut short": lambda folder: (folder / "table.1").write_bytes(b"123456"),
    "an empty table": lambda folder: (folder / "table.1").write_bytes(b""),
    "an empty text": lambda folder: (folder / "tokenized.0").write_bytes(b""),
    "parts of two kinds": lambda folder: (folder / "table.0").write_bytes(bytes(len(TEXT) // 2)),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_what_is_no_whole_index_is_refused(wrong: Callable[[Path], object], tmp_path: Path) -> None:
    folder = tmp_path / "index"
    folder.mkdir()
    wrong(made(folder, parts=2))
    with pytest.raises(InputError, match=r"frequency.folder: .*(not hold an index of infini-gram|build it again)"):
        LocalIndex(folder)


def test_tokens_need_their_tokenizer_and_bytes_none(tmp_path: Path) -> None:
    folder, pieces = made(tmp_path), Pieces(["a"])
    with pytest.raises(InputError, match=r"frequency.tokenizer: .* bytes and no tokens; leave it out"):
        LocalIndex(folder, pieces)
    with pytest.raises(InputError, match=r"frequency.tokenizer: .* tokens; name their tokenizer"):
        LocalIndex(made(tmp_path, token=2))


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "infini_gram.engine", None)
    with pytest.raises(InputError, match=r'pip install "swaymeter\[infini-gram\]"'):
        LocalIndex(made(tmp_path))
