"""What goes wrong with services: answers in place of the world's."""

from collections.abc import Mapping

from tests.data.sources.servers.faults import Say

ENDING: Mapping[str, Say] = {
    "HTML": Say("<!DOCTYPE html><title>Wikimedia Error</title>", headers={"Content-Type": "text/html; charset=utf-8"}),
    "half a JSON": Say('{"batchcomplete":true,"query":{"pages":[{"pageid":1,"ns'),
}
"""What ends the part: whoever asks is told, and a later run goes on from the answers that are kept."""
