"""SPARQL services on 127.0.0.1 that answer as a test says, and endpoints that ask them."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs

import requests

from swaymeter.data.sources.graph.sparql import RESULTS, Endpoint
from swaymeter.data.sources.http.session import Service, Session

Said = tuple[int, str, bytes]
"""Status, content type and body of an answer."""


@contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler, str], Said]) -> Iterator[str]:
    """A service that answers queries which are posted as a form; its address."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            status, kind, content = answer(self, form["query"][0])
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/query"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def cutting(address: str, most: int) -> Iterator[tuple[str, list[str]]]:
    """A service in front of another that cuts answers of more than `most` rows short, as one that runs out of time
    does; its address, and the queries whose answers were cut."""
    cut: list[str] = []

    def forward(request: BaseHTTPRequestHandler, query: str) -> Said:
        whole = requests.post(address, data={"query": query}, headers={"Accept": RESULTS}, timeout=60)
        if whole.ok and len(whole.json()["results"]["bindings"]) > most:
            cut.append(query)
            return 200, RESULTS, whole.content[: len(whole.content) // 2]
        return whole.status_code, whole.headers["Content-Type"], whole.content

    with answering(forward) as in_front:
        yield in_front, cut


@contextmanager
def asking(address: str, folder: Path) -> Iterator[Endpoint]:
    """An endpoint, asked as fast as it answers; the folder is for kept answers."""
    service = Service("YAGO", address, requests_per_minute=60_000, timeout_s=20)
    with closing(Session(service, contact="tests@example.org", cache=folder)) as session:
        yield Endpoint(session)
