"""A key that a service repeats is removed."""

import json
import logging
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from swaymeter.data.errors import ServiceError
from swaymeter.data.sources.http.services import Service
from swaymeter.data.sources.http.session import Session
from tests.data.sources.servers.faults import Say, says, serving

PLAIN = "sk-madeup0123456789"
KEY = 'sk-made/up+"key\\1~'


IN_JSON = json.dumps(KEY)[1:-1]


@pytest.mark.parametrize(
    "written",
    [IN_JSON, quote(KEY, safe=""), quote(KEY).lower(), IN_JSON.replace("/", "\\/"), IN_JSON.replace("s", "\\u0073")],
)
def test_a_repeated_key_is_removed(written: str, tmp_path: Path) -> None:
    repeated = Say(f'{{"message": "the key {written} is new"}}', headers={"Content-Type": "application/json"})
    with serving(repeated) as server, session(server.address, tmp_path, KEY) as opened:
        assert opened.ask({}).content == {"message": "the key [key] is new"}


def test_a_short_key_is_no_secret(tmp_path: Path) -> None:
    with serving(says("EMPTY")) as server, session(server.address, tmp_path, "EMPTY") as opened:
        assert opened.ask({}).content == "EMPTY"


@contextmanager
def session(address: str, folder: Path, key: str = PLAIN) -> Iterator[Session]:
    service = Service("S", address, requests_per_minute=60_000, timeout_s=5, tries=1, contact_needed=False)
    with closing(Session(service, contact=None, cache=folder, key=key)) as opened:
        yield opened


@pytest.mark.parametrize(
    "says_so",
    [
        says({"error": PLAIN}, status=401),
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
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost,IP:127.0.0.1",
            "-keyout",
            key,
            "-out",
            certificate,
        ],
        check=True,
        capture_output=True,
    )
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
