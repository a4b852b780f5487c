"""A real MediaWiki from Debian on 127.0.0.1, installed in an empty folder and edited through its API.

with running_wiki(folder, ("Alice", "Bob")) as wiki:
    alice, nobody = Editor(wiki, "Alice"), Editor(wiki, None)
    alice.writes("Velm", "'''Velm''' is a town.")
    nobody.writes("Velm", "'''Velm''' is a city.")
"""

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests

from tests.data.sources.servers.faults import unused_address

HOME = Path("/var/lib/mediawiki")
MAINTENANCE = Path("/usr/share/mediawiki/maintenance")
ADMIN = "Warden"
_SETTINGS = """
$wgRateLimits = [];
$wgJobRunRate = 0;
$wgCacheDirectory = "FOLDER/cache";
$wgGroupPermissions['sysop']['deleterevision'] = true;
$wgGroupPermissions['sysop']['deletedhistory'] = true;
$wgEnotifUserTalk = false;
"""


def is_installed() -> bool:
    """Return True if this machine has MediaWiki, and PHP with SQLite."""
    php = shutil.which("php")
    if php is None or not (HOME / "api.php").exists() or not (MAINTENANCE / "install.php").exists():
        return False
    modules = subprocess.run([php, "-m"], capture_output=True, text=True, check=True).stdout
    return "pdo_sqlite" in modules.splitlines()


class RunningWiki(NamedTuple):
    """The address of the API, and the password of all users."""

    api: str
    password: str


class Editor:
    """An editor with a session of its own, or an anonymous editor (None); an edit returns the id of the revision."""

    def __init__(self, wiki: RunningWiki, name: str | None) -> None:
        self._api = wiki.api
        self._http = requests.Session()
        if name is not None:
            token = self._token("login")
            reply = self._call(action="login", lgname=name, lgpassword=wiki.password, lgtoken=token)
            assert reply["login"]["result"] == "Success", reply

    def writes(self, title: str, text: str) -> int:
        return self.edits(title, text=text)

    def replaces(self, title: str, old: str, new: str) -> int:
        reply = self._call(action="query", prop="revisions", titles=title, rvprop="content", rvslots="main")
        text: str = reply["query"]["pages"][0]["revisions"][0]["slots"]["main"]["content"]
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {title!r}"
        return self.writes(title, text.replace(old, new))

    def edits(self, title: str, **form: str) -> int:
        reply = self.does("edit", title=title, **form)["edit"]
        assert reply["result"] == "Success", reply
        assert "nochange" not in reply, f"an edit of {title!r} changes nothing"
        return int(reply["newrevid"])

    def does(self, action: str, **form: str) -> Any:
        """Do an action that needs a token, and return the reply of the API."""
        return self._call(action=action, token=self._token("rollback" if action == "rollback" else "csrf"), **form)

    def _token(self, kind: str) -> str:
        reply = self._call(action="query", meta="tokens", type=kind)
        return str(reply["query"]["tokens"][f"{kind}token"])

    def _call(self, **form: str) -> Any:
        reply = self._http.post(self._api, data={"format": "json", "formatversion": "2", **form}, timeout=60)
        reply.raise_for_status()
        content = reply.json()
        assert "error" not in content, content["error"]
        return content


@contextmanager
def running_wiki(folder: Path, users: Sequence[str] = ()) -> Iterator[RunningWiki]:
    """Run a wiki with these users and ADMIN, and its files in the folder, for the time of the context."""
    port = urlsplit(unused_address()).port or 0
    password = secrets.token_hex(16)
    environment = os.environ | {"MW_CONFIG_FILE": str(folder / "LocalSettings.php")}
    _install(folder, port, password)
    for user in users:
        _php([str(MAINTENANCE / "createAndPromote.php"), user, password], environment)
    log = folder / "server.log"
    with log.open("wb") as output:
        command = ["php", "-S", f"127.0.0.1:{port}", "-t", str(HOME)]
        server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            api = f"http://127.0.0.1:{port}/api.php"
            _wait_for(api, server, log)
            yield RunningWiki(api, password)
        finally:
            server.terminate()
            server.wait(timeout=10)


def _install(folder: Path, port: int, password: str) -> None:
    (folder / "cache").mkdir()
    options = {
        "dbtype": "sqlite",
        "dbpath": str(folder),
        "dbname": "wiki",
        "confpath": str(folder),
        "scriptpath": "",
        "server": f"http://127.0.0.1:{port}",
        "pass": password,
        "extensions": "TextExtracts",
    }
    arguments = [part for name, value in options.items() for part in (f"--{name}", value)]
    environment = {name: value for name, value in os.environ.items() if name != "MW_CONFIG_FILE"}
    _php([str(MAINTENANCE / "install.php"), *arguments, "A wiki of tests", ADMIN], environment)
    with (folder / "LocalSettings.php").open("a", encoding="utf-8") as settings:
        settings.write(_SETTINGS.replace("FOLDER", str(folder)))


def _php(command: Sequence[str], environment: dict[str, str]) -> None:
    process = subprocess.run(["php", *command], env=environment, capture_output=True, text=True, timeout=300)
    assert process.returncode == 0, f"{Path(command[0]).name} failed: {process.stdout[-2000:]}{process.stderr[-2000:]}"


def _wait_for(api: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        try:
            reply = requests.get(api, params={"action": "query", "meta": "siteinfo", "format": "json"}, timeout=30)
        except requests.ConnectionError:
            time.sleep(0.05)
            continue
        assert reply.status_code == 200, reply.text[:2000]
        return
    raise AssertionError(f"the wiki does not answer: {log.read_text(errors='replace')[-2000:]}")
