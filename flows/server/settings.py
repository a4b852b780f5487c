"""Prefect's settings in this process and in its children: no telemetry, and nothing on the terminal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from io import StringIO
from pathlib import Path

HEARTBEAT_SECONDS = 30
"""Between two signs of life of a flow run, by which a server sees that its process was killed."""

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # The handler, not the logger: what a run logs still reaches the API, where the UI shows it.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    # Prefect waits 60 s for an answer, which makes minutes of a server that hangs.
    "PREFECT_API_REQUEST_TIMEOUT": "10",
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(HEARTBEAT_SECONDS),
    # Warnings of our own packages belong to the run that met them; outside a run there is nothing to belong to.
    "PREFECT_LOGGING_EXTRA_LOGGERS": "swaymeter",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}

# A server's errors go into a file or to the terminal; another run may hold the database for long.
SERVER = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "ERROR",
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",
    # A write for each event falls behind a busy run, and what waits when the server ends is lost: task runs that are
    # Completed stay Running. Together they are written within a second, and at the end.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "1000",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}

# Prefect repeats a call five times, for each of four calls. A lasting server may be busy for a minute; a temporary one
# serves one run alone, and does not come back.
CLIENT = {"PREFECT_CLIENT_MAX_RETRIES": os.environ.get("PREFECT_CLIENT_MAX_RETRIES", "1")}

# One run has no use for automations, which would start other runs, nor for its events, of use to these alone: to store
# each was a third of the server's work.
TEMPORARY = {
    **SERVER,
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "[]",  # a lasting server does that
    "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",  # runs use no blocks; registering takes seconds
}


def keep_quiet() -> None:
    """Keep Prefect off the terminal and off the network, except where the environment sets something else.

    A run's logs still go to the API. Call it before Prefect is imported.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(dict.fromkeys([*filter(None, os.environ.get(name, "").split(",")), "127.0.0.1"]))


def is_api_configured() -> bool:
    """Return True if the environment, a profile or a settings file of Prefect names an API, or cannot be read.

    Prefect is imported, which takes seconds, only if one of the files may name an API.
    """
    if os.environ.get("PREFECT_API_URL"):
        return True
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    profiles = Path(os.environ.get("PREFECT_PROFILES_PATH", home / "profiles.toml")).expanduser()
    files = (profiles, Path("prefect.toml"), Path("pyproject.toml"), Path(".env"))
    if not os.environ.get("PREFECT_PROFILE") and not any(map(_may_name_api, files)):
        return False
    try:
        with redirect_stderr(StringIO()):
            from prefect.settings import Settings

            return bool(Settings().api.url)
    except ValueError:  # which `prefect_api` explains
        return True


def _may_name_api(file: Path) -> bool:
    """Return True if a file has settings of Prefect beside those that it writes by itself."""
    with suppress(OSError):
        text = file.read_bytes().lower()
        return b"tool.prefect" in text if file.name == "pyproject.toml" else b"api" in text or b"active" in text
    return False


@contextmanager
def client_of(url: str, **settings: str) -> Iterator[None]:
    """Point this process, its threads and its children to the API at this URL, with further settings of Prefect."""
    # The environment and not `temporary_settings`: worker threads and child processes must see it, too.
    from prefect.context import refresh_global_settings_context

    before = dict(os.environ)
    os.environ.update({"PREFECT_API_URL": url, **settings})
    refresh_global_settings_context()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        refresh_global_settings_context()
