"""Secrets and certificates: API keys are removed from responses, messages and files."""

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
from tests.data.sources.servers.faults import ServedResponse, json_response, serving

PLAIN_KEY = "sk-madeup0123456789"
HOSTILE_KEY = 'sk-made/up+"key\\1~'
KEY_IN_JSON = json.dumps(HOSTILE_KEY)[1:-1]


@contextmanager
def session_with_key(address: str, folder: Path, key: str = PLAIN_KEY) -> Iterator[Session]:
    service = Service("S", address, requests_per_minute=60_000, timeout_s=5, tries=1, contact_needed=False)
    with closing(Session(service, contact=None, cache=folder, key=key)) as session:
        yield session


@pytest.mark.parametrize(
    "spelling",
    [
        KEY_IN_JSON,
        quote(HOSTILE_KEY, safe=""),
        quote(HOSTILE_KEY).lower(),
        KEY_IN_JSON.replace("/", "\\/"),
        KEY_IN_JSON.replace("s", "\\u0073"),
    ],
)
def test_a_key_in_a_response_is_removed(spelling: str, tmp_path: Path) -> None:
    response = ServedResponse(
        f'{{"message": "the key {spelling} is new"}}', headers={"Content-Type": "application/json"}
    )
    with serving(response) as server, session_with_key(server.address, tmp_path, HOSTILE_KEY) as session:
        assert session.ask({}).content == {"message": "the key [key] is new"}


def test_a_short_key_is_no_secret(tmp_path: Path) -> None:
    with serving(json_response("EMPTY")) as server, session_with_key(server.address, tmp_path, "EMPTY") as session:
        assert session.ask({}).content == "EMPTY"


@pytest.mark.parametrize(
    "response",
    [
        json_response({"error": PLAIN_KEY}, status=401),
        ServedResponse(status=302, headers={"location": f"http://example.org/{'x' * 100}?key={PLAIN_KEY}"}),
        # The message is cut within the key.
        ServedResponse(status=302, headers={"location": f"http://example.org/{'x' * 165}?{PLAIN_KEY}"}),
        ServedResponse(raw=f"HTTP/1.1 {PLAIN_KEY}\r\n\r\n".encode()),
        ServedResponse(raw=f"HTTP/1.1 {'9' * 125} {PLAIN_KEY}\r\n\r\n".encode()),  # cut within the key, too
        ServedResponse(raw=f"HTTP/1.1 200 OK\r\n{PLAIN_KEY}\r\nContent-Length: 2\r\n\r\n{{}}".encode()),
        ServedResponse(status=429, headers={"Retry-After": PLAIN_KEY}),
        ServedResponse(f"{PLAIN_KEY} is no JSON"),
    ],
)
def test_the_key_is_in_no_message_or_file(
    response: ServedResponse, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    message = ""
    with (
        caplog.at_level(logging.WARNING),
        serving(response) as server,
        session_with_key(server.address, tmp_path) as session,
    ):
        try:
            session.ask({})
        except ServiceError as error:
            message = str(error)
        assert server.received[0].headers["authorization"] == f"Bearer {PLAIN_KEY}"
    assert PLAIN_KEY[:8] not in message + caplog.text
    assert all(PLAIN_KEY.encode() not in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())


def test_no_redirect_is_followed(tmp_path: Path) -> None:
    with serving(json_response({})) as target:
        redirect = ServedResponse(status=307, headers={"location": target.address})
        with serving(redirect) as server, session_with_key(server.address, tmp_path) as session:
            with pytest.raises(ServiceError, match="redirects to"):
                session.ask({})
            assert len(server.received) == 1
        assert not target.received


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"[1]")

    def log_message(self, *words: object) -> None:
        pass


def test_a_user_may_name_trusted_certificates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        address = f"https://127.0.0.1:{server.server_port}/"
        try:
            for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
                monkeypatch.delenv(name, raising=False)
            with (
                session_with_key(address, tmp_path) as session,
                pytest.raises(ServiceError, match=r"self.signed.*REQUESTS_CA"),
            ):
                session.ask({})
            monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
            with session_with_key(address, tmp_path) as session:
                assert session.ask({}).content == [1]
        finally:
            server.shutdown()
