"""Public services that answer slowly, wrongly, endlessly or not at all: each answer is refused in time, or is right."""

import json
from collections.abc import Iterator
from dataclasses import replace

from tests.data.sources.http.test_asking import UNUSABLE
from tests.data.sources.http.test_cached_responses import BAD
from tests.data.sources.http.test_tries import CUT, ENDLESS
from tests.data.sources.servers.faults import Say, gzipped, serving, unused_address
from tests.faults.campaign.cases import ask
from tests.faults.campaign.measured import measured
from tests.faults.campaign.record import Outcome

ROWS = {"rows": [{"subject": "Zürich", "number": number} for number in range(200)]}
BODY = json.dumps(ROWS, ensure_ascii=False).encode()
MIB = 1 << 20
BOMBS = {
    "values": gzipped(b"[" + b"{}," * (21 * MIB) + b"{}]"),
    "lists": gzipped(b"[" + b"[]," * (21 * MIB) + b"[]]"),
    "numbers": gzipped(b"[" + b"1," * (31 * MIB) + b"1]"),
    "text": gzipped(b'["' + b"a" * (400 * MIB) + b'"]'),
    "short texts": gzipped(b"[" + b'"ab",' * (12 * MIB) + b'"ab"]'),
    "keys": gzipped(b"{" + b",".join(b'"%d":0' % number for number in range(4 * MIB)) + b"}"),
    "nested": gzipped(b"[" * (30 * MIB)),
}
MODES: dict[str, dict[str, Say]] = {
    "whole answers, in other forms": {
        "plain": Say(BODY),
        "packed": gzipped(BODY),
        "in chunks": Say(BODY, chunked=True),
        "byte by byte": Say(b"[1, 2]", pause_s=0.05),
    },
    "answers that never end": {part: replace(say, pause_s=0.01) for part, say in ENDLESS.items()},
    "a byte a second of answers": {part: replace(say, pause_s=1.0) for part, say in ENDLESS.items()},
    "JSON cut short": {str(number): Say(body, chunked=bool(body)) for number, body in enumerate(CUT)},
    "answers that break off": {
        f"{sent} bytes, {chunked=}": Say(BODY, sent=sent, chunked=chunked)
        for sent in (0, 1, 100, len(BODY) - 1)
        for chunked in (False, True)
    },
    "wrong lengths": {
        name: Say(raw=b"HTTP/1.1 200 OK\r\nContent-Length: " + length + b"\r\nConnection: close\r\n\r\n" + BODY)
        for name, length in {"one less": b"%d" % (len(BODY) - 1), "negative": b"-1", "no number": b"many"}.items()
    },
    "JSON that nobody can use": {reason: Say(body) for body, reason in UNUSABLE.items()},
    "answers that would fill the memory": BOMBS,
    "errors, pages and dropped connections": {
        **{str(number): say for number, say in enumerate(BAD)},
        "reset": Say(reset=True),
        "silent": Say(delay_s=30),
        "not gzip": Say(b"no gzip at all", headers={"Content-Encoding": "gzip"}),
        "redirects elsewhere": Say(status=302, headers={"Location": "http://example.org/"}),
        "redirects in a circle": Say(status=307, headers={"Location": "/ask"}),
        "wait for two hours": Say(status=503, headers={"Retry-After": "7200"}),
        "a header of 1 MiB": Say(BODY, headers={"X-Long": "x" * MIB}),
        "10,000 headers": Say(BODY, headers={f"X-{number}": "x" for number in range(10_000)}),
    },
}


def outcomes() -> Iterator[Outcome]:
    """An outcome for each way of answering."""
    for row, modes in MODES.items():
        expected = [ROWS, [1, 2]] if row.startswith("whole") else [ROWS]
        for name, say in modes.items():
            with serving(say) as server:
                yield measured(row, ask, name, server.address, expected)
    yield measured("errors, pages and dropped connections", ask, "nobody is there", unused_address(), [])
