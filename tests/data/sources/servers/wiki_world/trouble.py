"""What goes wrong with services: answers in place of the world's, by what has happened to the service."""

from collections.abc import Mapping

from tests.data.sources.servers.faults import Say, recorded

_PAGE = "<!DOCTYPE html><html><title>Wikimedia Error</title><p>Our servers are under maintenance.</p></html>"
_HTML = {"Content-Type": "text/html; charset=utf-8"}
_JSON = {"Content-Type": "application/json; charset=utf-8"}

TRANSIENT: Mapping[str, Say] = {
    "down for a while": Say(_PAGE, status=503, headers={**_HTML, "Retry-After": "3"}),
    "too many requests": Say("Too many requests", status=429, headers={"Retry-After": "2"}),
    "reset": Say(reset=True),
    "less than was promised": Say('{"batchcomplete":true,"query":{}}', headers=_JSON, sent=20),
}
"""What passes: the client asks again by itself."""

TRANSIENT_OF_A_WIKI: Mapping[str, Say] = {
    "lagged": recorded("modes/lag7_maxlag0.json"),
    "read only": recorded("modes/readonly_edit.json"),
}
"""What passes as well, and a wiki says with status 200."""

ENDING: Mapping[str, Say] = {
    "HTML": Say(_PAGE, headers=_HTML),
    "half a JSON": Say('{"batchcomplete":true,"query":{"pages":[{"pageid":1,"ns', headers=_JSON),
    "moved elsewhere": Say(status=301, headers={"Location": "https://elsewhere.example.org/"}),
    "another service": Say('{"hello": "world"}', headers=_JSON),
}
"""What ends the part: whoever asks is told, and a later run goes on from the answers that are kept."""
