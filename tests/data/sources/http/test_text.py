"""Answers that are text, such as a table: letter by letter, fresh and kept."""

import pytest

from data.errors import ServiceError
from tests.data.sources.http.asking import Open
from tests.data.sources.servers.faults import Say, serving

TEXTS = [
    "a,b\r\n1,2\r\n", "\ufeffid,subj\r\n", "a\nb\rc\r\n\r\r", "", "\x00\x01\x1f\u2028\x85", "Ålesund 模型 🙂 \\u00e5",
]  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_kept_letter_by_letter(text: str, opened: Open) -> None:
    with serving(Say(text.encode(), headers={"Content-Type": "text/plain; charset=iso-8859-1"})) as server:
        fresh = opened(server).ask({}, path="Static_final.csv", content="text")
        kept = opened(server, offline=True).ask({}, path="Static_final.csv", content="text")
    assert fresh.content == text
    assert kept.content == text
    assert (fresh.from_cache, kept.from_cache) == (False, True)
    assert (kept.retrieved_at, kept.address) == (fresh.retrieved_at, server.address)
    assert server.asked[0].path == "/ask/Static_final.csv"
    assert server.asked[0].headers["accept"].startswith("text/plain")


@pytest.mark.parametrize("body", [b"\xff\xfe", b"\xed\xa0\x80", "é".encode()[:1]])
def test_what_is_no_text_is_an_error_and_not_kept(body: bytes, opened: Open) -> None:
    with serving(Say(b"a" + body), Say(b"a")) as server:
        with pytest.raises(ServiceError, match=r"YAGO \(http.*not text in UTF-8 \(byte \d\)"):
            opened(server).ask({}, content="text")
        assert opened(server).ask({}, content="text").content == "a"
