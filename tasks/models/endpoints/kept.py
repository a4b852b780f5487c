"""What a probe found, kept beside the server's answers: for runs without a network, which use those answers."""

from dataclasses import asdict, replace
from pathlib import Path

from swaymeter.data.digests import content_key
from swaymeter.data.errors import ServiceError
from swaymeter.data.storage.notes import note_of, unsealed, write_sealed
from swaymeter.tasks.models.endpoints.apis import APIS, Served
from swaymeter.tasks.models.endpoints.client import Client
from swaymeter.tasks.models.endpoints.probe import Found

_FOUND_OF_SERVER = ("several", "log_probs", "seeds")
"""What a probe sets of `Served`."""


def keep(client: Client, served: Served, found: Found) -> None:
    """Writes down what was found; WorkspaceError where that cannot be written."""
    of_server = {name: getattr(served, name) for name in _FOUND_OF_SERVER}
    write_sealed(_file(client), {"found": asdict(found), "served": of_server})


def kept(client: Client) -> tuple[Served, Found]:
    """What the last probe of this endpoint found; ServiceError where there was none."""
    try:
        content = unsealed(note_of(_file(client)))
        found = Found(**content["found"])
        served = APIS[found.api](client)
        for name in _FOUND_OF_SERVER:
            setattr(served, name, type(getattr(served, name))(content["served"][name]))
        served.refused = set(found.refused)
    except (OSError, ValueError, LookupError, TypeError):
        raise ServiceError(
            f"model {client.endpoint.name} ({client.root}): this run is offline, and what its server can give was not "
            "found out before; run again with a network"
        ) from None
    return served, found


def _file(client: Client) -> Path:
    """One for each way of asking; where the server is does not count, as it may move."""
    endpoint = client.endpoint
    same = replace(endpoint, address="", in_flight=1, requests_per_minute=None, timeout_s=1.0, key_from="",
                   max_requests=None, max_age_hours=None)  # fmt: skip
    return client.cache / f"probe-{content_key(asdict(same))[:16]}.json"
