"""A key that a service repeats is found however it is written, and nothing else is."""

import json
import logging
import re
import ssl
import subprocess
import threading
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.secret import Secret
from swaymeter.data.sources.http.services import Service
from swaymeter.data.sources.http.session import Session
from tests.data.sources.servers.faults import Say, says, serving

KEY = 'sk-Made/up+"key\\1~é'
PLAIN = "sk-madeup0123456789"
WAYS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "JSON": json.dumps,
    "JSON within JSON": lambda key: json.dumps(json.dumps(key)),
    "all escaped": lambda key: "".join(f"\\u{ord(letter):04X}" for letter in key),
    "one escaped": lambda key: f"\\u{ord(key[0]):04x}{json.dumps(key[1:])[1:-1]}",
    "slash escaped": lambda key: key.replace("/", "\\/"),
    "quoted": lambda key: quote(key, safe=""),
    "quoted in small letters": lambda key: re.sub("%..", lambda found: found[0].lower(), quote(key, safe="")),
    "quoted twice": lambda key: quote(quote(key, safe=""), safe=""),
    "base64": lambda key: b64encode(key.encode()).decode(),
    "of a header": lambda key: b64encode(f"Bearer {key}".encode()).decode(),
    "within more": lambda key: urlsafe_b64encode(f"a: {key} of b".encode()).decode(),
}


@pytest.mark.parametrize("key", ['sk-Made/up+"key\\1~', PLAIN, "????>>>>~~~~"])
@pytest.mark.parametrize("way", WAYS)
def test_found(way: str, key: str) -> None:
    said = f"the key is {WAYS[way](key)}, and is refused"
    without = Secret(key).out_of(said)
    assert "[key]" in without
    assert key not in without
    assert without.startswith("the key is ")
    assert without.endswith(", and is refused")
    assert len(re.sub(r"\[key\]", "", without)) <= len("the key is , and is refused") + 16  # of its neighbours
    assert Secret(key).out_of_answer(said.encode()).decode() == without


def test_nothing_else() -> None:
    said = "EMPTY: sk-madeup012345678, c2stbWFkZXVw, %73%6B \\u0073"
    assert Secret(PLAIN).out_of(said) == said
    assert Secret("").out_of(said) == said
    assert Secret("EMPTY").out_of_answer(said.encode()).decode() == said, "an answer was changed"
    assert Secret("EMPTY").out_of("key EMPTY") == "key [key]"


def test_answers_stay_json() -> None:
    for way in ("JSON", "JSON within JSON"):
        body = json.dumps({"text": WAYS[way]('a"/\\/b' + PLAIN), "after": "\\"})
        assert json.loads(Secret('a"/\\/b' + PLAIN).out_of_answer(body.encode()))["after"] == "\\"


@contextmanager
def session(address: str, folder: Path) -> Iterator[Session]:
    service = Service("S", address, requests_per_minute=60_000, timeout_s=5, tries=1, contact_needed=False)
    with closing(Session(service, contact=None, cache=folder, key=PLAIN)) as opened:
        yield opened


@pytest.mark.parametrize(
    "says_so",
    [
        Say(json.dumps({"error": WAYS["all escaped"](PLAIN)}), status=401),
        Say(status=302, headers={"location": f"http://example.org/{'x' * 100}?key={PLAIN}"}),
        Say(status=302, headers={"location": f"http://example.org/{'x' * 165}?{PLAIN}"}),
        Say(raw=f"HTTP/1.1 {PLAIN}\r\n\r\n".encode()),
        Say(raw=f"HTTP/1.1 {'9' * 125} {PLAIN}\r\n\r\n".encode()),
        Say(raw=f"HTTP/1.1 200 OK\r\n{PLAIN}\r\nContent-Length: 2\r\n\r\n{{}}".encode()),
        Say(status=429, headers={"Retry-After": PLAIN}),
        Say(f"{PLAIN} is no JSON"),
    ],
)
def test_said_nowhere(says_so: Say, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    said = ""
    with caplog.at_level(logging.WARNING), serving(says_so) as server, session(server.address, tmp_path) as opened:
        try:
            opened.ask({})
        except ServiceError as error:
            said = str(error)
        assert server.received[0].headers["authorization"] == f"Bearer {PLAIN}"
    assert PLAIN[:8] not in said + caplog.text
    assert all(PLAIN.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_redirects(tmp_path: Path) -> None:
    with serving(says({})) as other:
        elsewhere = Say(status=307, headers={"location": other.address})
        with serving(elsewhere) as server, session(server.address, tmp_path) as opened:
            with pytest.raises(ServiceError, match="redirects to"):
                opened.ask({})
            assert len(server.received) == 1
        assert not other.received


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"[1]")

    def log_message(self, *words: object) -> None:
        pass


def test_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Answers) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        address = f"https://127.0.0.1:{server.server_port}/"
        try:
            for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
                monkeypatch.delenv(name, raising=False)
            with session(address, tmp_path) as opened, pytest.raises(ServiceError, match=r"self.signed.*REQUESTS_CA"):
                opened.ask({})
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
            with session(address, tmp_path) as opened:
                assert opened.ask({}).content == [1]
        finally:
            server.shutdown()
