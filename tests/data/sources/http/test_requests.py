from importlib.metadata import version
from urllib.parse import urlsplit

import pytest
import requests

from swaymeter.data.errors import ServiceError, ServiceTimeout, shown
from swaymeter.data.sources.http import exchange
from swaymeter.data.sources.http.response import TEXT
from swaymeter.data.sources.http.services import SERVICES
from tests.data.sources.servers.faults import ServedResponse, gzipped, json_response, serving
from tests.data.sources.sessions import Open

CONTACT_REQUIRED = r"YAGO \(http://127.*requires a contact.*`services\.contact`.*_CONTACT"


@pytest.mark.parametrize(
    "contact",
    [
        None,
        "  ",
        "Jane",
        "jane@localhost",
        "a@b.org\nX-Evil: 1",
        "é@example.org",
        "x" * 200 + "@example.org",
    ],
)
def test_without_a_contact_no_request_is_sent(contact: str | None, open_session: Open) -> None:
    with serving() as server, pytest.raises(ServiceError, match=CONTACT_REQUIRED):
        open_session(server, contact=contact)
    assert server.received == []


@pytest.mark.parametrize("contact", ["jane@example.org", "https://example.org/jane", "Jane Doe, jane@example.org"])
def test_requests_name_the_contact_and_the_versions(contact: str, open_session: Open) -> None:
    with serving(json_response([1])) as server:
        open_session(server, contact=f" {contact} ").ask({"q": "1"}, accept="application/sparql-results+json")
    (request,) = server.received
    user_agent = f"swaymeter/{version('swaymeter')} ({contact}) python-requests/{requests.__version__}"
    assert request.headers["user-agent"] == user_agent
    assert request.headers["accept"] == "application/sparql-results+json"
    assert "gzip" in request.headers["accept-encoding"]


@pytest.mark.parametrize(
    "address",
    ["yago", "ftp://127.0.0.1/", "http:///query", "http://127.0.0.1:99999/", "http://[::1"],
)
def test_an_invalid_address_is_refused(address: str, open_session: Open) -> None:
    with pytest.raises(ServiceError, match=r"YAGO .*(invalid address|cannot be requested)"):
        open_session(address).ask({})


# ---- requests and responses ----------------------------------------------------------------------------------------


def test_the_form_is_in_address_or_body(open_session: Open) -> None:
    query = 'SELECT * { ?s ?p "ünï & {x}\n" }'
    with serving(json_response({"rows": []})) as server:
        session = open_session(server)
        session.ask({"query": query, "a": ""}, path="deep/Z%C3%BCrich")
        session.ask({"query": query, "a": ""}, method="POST")
    by_get, by_post = server.received
    assert (by_get.method, by_get.path, by_get.body) == ("GET", "/ask/deep/Z%C3%BCrich", b"")
    assert (by_post.method, by_post.path) == ("POST", "/ask")
    assert by_post.headers["content-type"] == "application/x-www-form-urlencoded"
    assert by_get.form == by_post.form == {"query": query, "a": ""}


def test_a_broken_encoding_is_requested_once_more(open_session: Open) -> None:
    broken = ServedResponse(b"no gzip at all", headers={"Content-Encoding": "gzip"})
    with serving(broken, gzipped(b"[1]")) as server:
        assert open_session(server).ask({}).content == [1]
    with serving(broken) as server, pytest.raises(ServiceError, match="cannot be decompressed, after 2 tries"):
        open_session(server).ask({"q": "2"})
    assert len(server.received) == 2


def test_a_too_large_response_is_a_timeout(open_session: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MAX_BYTES", 2**20)
    bomb = b'["' + b"a" * 5 * 2**20 + b'"]'
    with serving(gzipped(bomb)) as server, pytest.raises(ServiceTimeout, match=r"more than 1 MiB; choose fewer"):
        open_session(server).ask({})
    assert len(server.received) == 1


UNUSABLE = {
    b'{"a": NaN}': "not JSON .NaN is not a JSON number",
    b'{"a": 1' + b"0" * 5000 + b"}": "not JSON .Exceeds the limit",
    b'{"a": ' + b"[" * 100_000: "maximum recursion depth",
    b'{"a": "Z\xfcrich"}': r"not JSON .* in position 8",
    b'{"a": "\\ud800"}': "a lone surrogate",
    b"<!DOCTYPE html>\n<html>\x00\x1b[31m\xe2\x80\xae"
    + b"x" * 200: r"not JSON .*: '<!DOCTYPE html> <html> \[31m x{52}'; correct the address.*, or run again later$",
}


@pytest.mark.parametrize("body", UNUSABLE, ids=UNUSABLE.get)
def test_unusable_json_is_refused_with_the_reason(body: bytes, open_session: Open) -> None:
    with serving(ServedResponse(body)) as server:
        with pytest.raises(ServiceError, match=rf"YAGO .* answered with .*{UNUSABLE[body]}") as raised:
            open_session(server).ask({})
        assert raised.type is ServiceError
        assert str(raised.value).isprintable()
    assert len(server.received) == 1


def test_an_allowed_status_is_a_response(open_session: Open) -> None:
    with serving(
        ServedResponse(b'{"status": 404}', status=404), ServedResponse(b"<html>Not found</html>", status=404)
    ) as server:
        session = open_session(server)
        assert session.ask({"q": "1"}, allow=(200, 404)).content == {"status": 404}
        missing = session.ask({"q": "2"}, allow=(200, 404))
        assert (missing.content, missing.status) == ("<html>Not found</html>", 404)
        again = session.ask({"q": "2"}, allow=(200, 404))
        assert (again.content, again.status, again.from_cache) == ("<html>Not found</html>", 404, True)
        with pytest.raises(ServiceError, match="404 Not Found"):
            session.ask({"q": "2"})
    assert len(server.received) == 3


TEXTS = [
    "a,b\r\n1,2\r\n",
    "\ufeffid,subj\r\n",
    "a\nb\rc\r\n\r\r",
    "",
    "\x00\x01\x1f\u2028\x85",
    "Ålesund 模型 🙂 \\u00e5",
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_text_is_cached_letter_by_letter(text: str, open_session: Open) -> None:
    with serving(ServedResponse(text.encode(), headers={"Content-Type": "text/plain; charset=iso-8859-1"})) as server:
        fresh = open_session(server).ask({}, path="Static_final.csv", accept=TEXT)
        cached = open_session(server, offline=True).ask({}, path="Static_final.csv", accept=TEXT)
    assert fresh.content == text
    assert cached.content == text
    assert (fresh.from_cache, cached.from_cache) == (False, True)
    assert cached.retrieved_at == fresh.retrieved_at
    assert server.received[0].path == "/ask/Static_final.csv"
    assert server.received[0].headers["accept"].startswith("text/plain")


@pytest.mark.parametrize("body", [b"\xff\xfe", b"\xed\xa0\x80", "é".encode()[:1]])
def test_undecodable_content_is_an_error_and_not_cached(body: bytes, open_session: Open) -> None:
    with serving(ServedResponse(b"a" + body), ServedResponse(b"a")) as server:
        with pytest.raises(ServiceError, match=r"YAGO \(http.*not text in UTF-8 \(.* in position \d"):
            open_session(server).ask({}, accept=TEXT)
        assert open_session(server).ask({}, accept=TEXT).content == "a"


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_safe_address_and_unique_name(name: str) -> None:
    service = SERVICES[name]
    assert urlsplit(service.address).scheme == "https"
    assert not service.address.endswith("/")
    assert [other.name.casefold() for other in SERVICES.values()].count(service.name.casefold()) == 1


def test_too_deeply_nested_content_is_described() -> None:
    deep: list[object] = []
    for _ in range(10_000):
        deep = [deep]
    assert shown(deep) == "nested too deep to be shown"
