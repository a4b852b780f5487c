"""Prefect's settings in this process and in its children: no telemetry, and no logs on the terminal."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, suppress
from io import StringIO
from pathlib import Path

HEARTBEAT_SECONDS = 30
"""Seconds between two heartbeats of a flow run; if they stop, a server notices that the process was killed."""

QUIET = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    # The handler is silenced, not the logger, so that logs of a run still reach the API and its UI.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_INTERNAL_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    # Prefect's default is 60 s, with which a hanging server delays a command by minutes.
    "PREFECT_API_REQUEST_TIMEOUT": "10",
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": str(HEARTBEAT_SECONDS),
    # Prefect records Swaymeter's warnings with their run; outside a run, Prefect would warn that there is no run.
    "PREFECT_LOGGING_EXTRA_LOGGERS": "swaymeter",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
}

# Settings of a server. Its errors go into a file or to the terminal. The timeout of the database is long, because
# another run may lock the database for long.
SERVER = {
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "ERROR",
    "PREFECT_SERVER_LOGGING_LEVEL": "ERROR",
    "PREFECT_SERVER_DATABASE_TIMEOUT": "60",
    # With one write for each event, events of a busy run would still wait when the server ends, and would be lost:
    # completed task runs would stay Running. Batches are written within a second, and at the server's end.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "1000",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
}

# Settings of calls to a temporary server, which has only one run and never comes back after a failure. Calls to a
# permanent server, which may be busy for a minute, keep Prefect's default of five retries.
CLIENT = {"PREFECT_CLIENT_MAX_RETRIES": os.environ.get("PREFECT_CLIENT_MAX_RETRIES", "1")}

# A temporary server needs no automations, which start other runs, and no stored events, which only automations use.
# Storing events was a third of the server's work.
TEMPORARY_SERVER = {
    **SERVER,
    "PREFECT__SERVER_EPHEMERAL": "1",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "[]",  # a permanent server cleans the database
    "PREFECT_SERVER_REGISTER_BLOCKS_ON_START": "false",  # runs use no blocks; registering takes seconds
}


def keep_quiet() -> None:
    """Turn off Prefect's terminal output and telemetry, unless the environment has other settings.

    This function must be called before the import of Prefect. Further, no proxy is used for 127.0.0.1, the address of a
    temporary server.
    """
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(dict.fromkeys([*filter(None, os.environ.get(name, "").split(",")), "127.0.0.1"]))


def is_api_configured() -> bool:
    """Return True if the environment, a profile or a settings file names an API of Prefect.

    The result is also True if a profile or file has invalid settings; `prefect_api` then raises an error. The import of
    Prefect takes seconds, so this function imports Prefect only if a file may name an API.
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
    except ValueError:  # invalid settings
        return True


def _may_name_api(file: Path) -> bool:
    """Return True if the text of a file may have the address of an API, or the name of Prefect's active profile."""
    with suppress(OSError):
        text = file.read_bytes().lower()
        if file.name == "pyproject.toml":
            return b"tool.prefect" in text
        return b"api" in text or b"active" in text
    return False


@contextmanager
def using_api(url: str, **settings: str) -> Iterator[None]:
    """Make this process, its threads and its children use the API at this URL, with further settings of Prefect.

    The settings are in the environment, because threads and children do not see Prefect's `temporary_settings`.
    """
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
