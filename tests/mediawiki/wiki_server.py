"""A real MediaWiki, as Debian packages it, on 127.0.0.1: made in an empty folder, and edited through its own API.

with a_wiki(folder, ("Alice", "Bob")) as wiki:
    alice, nobody = wiki.editor("Alice"), wiki.editor(None)
    alice.says("Velm", "'''Velm''' is a town.")
    nobody.says("Velm", "'''Velm''' is a city.")
"""

import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
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
    """Whether this machine has MediaWiki, and PHP with SQLite."""
    php = shutil.which("php")
    if php is None or not (HOME / "api.php").exists() or not (MAINTENANCE / "install.php").exists():
        return False
    modules = subprocess.run([php, "-m"], capture_output=True, text=True, check=True).stdout
    return "pdo_sqlite" in modules.splitlines()


@dataclass(frozen=True)
class RunningWiki:
    """A wiki that answers at `api`."""

    api: str
    password: str

    def editor(self, name: str | None) -> "Editor":
        """Somebody who is logged in, or (None) is not."""
        return Editor(self, name)


class Editor:
    """Somebody with a session of their own; edits give the id of the new revision."""

    def __init__(self, wiki: RunningWiki, name: str | None) -> None:
        self.name = name
        self._api = wiki.api
        self._http = requests.Session()
        if name is not None:
            token = self._token("login")
            said = self._done(action="login", lgname=name, lgpassword=wiki.password, lgtoken=token)
            assert said["login"]["result"] == "Success", said

    def says(self, title: str, text: str) -> int:
        return self._edited(title=title, text=text)

    def replaces(self, title: str, old: str, new: str) -> int:
        text = self.text(title)
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {title!r}"
        return self.says(title, text.replace(old, new))

    def undoes(self, title: str, revision: int) -> int:
        return self._edited(title=title, undo=str(revision))

    def rolls_back(self, title: str, user: str) -> int:
        said = self._done(action="rollback", title=title, user=user, token=self._token("rollback"))
        return int(said["rollback"]["revid"])

    def hides(self, revision: int, *what: str) -> None:
        said = self._done(
            action="revisiondelete", type="revision", ids=str(revision), hide="|".join(what), token=self._token("csrf")
        )
        assert said["revisiondelete"]["status"] == "Success", said

    def protects(self, title: str) -> None:
        """Protects a page, which leaves a revision with the same text."""
        self._done(action="protect", title=title, protections="move=sysop", token=self._token("csrf"))

    def moves(self, title: str, to: str) -> None:
        self._done(**{"action": "move", "from": title, "to": to, "token": self._token("csrf")})

    def text(self, title: str) -> str:
        said = self._done(action="query", prop="revisions", titles=title, rvprop="content", rvslots="main")
        return str(said["query"]["pages"][0]["revisions"][0]["slots"]["main"]["content"])

    def _edited(self, **form: str) -> int:
        said = self._done(action="edit", token=self._token("csrf"), **form)["edit"]
        assert said["result"] == "Success", said
        assert "nochange" not in said, f"an edit of {form['title']!r} changes nothing"
        return int(said["newrevid"])

    def _token(self, kind: str) -> str:
        said = self._done(action="query", meta="tokens", type=kind)
        return str(said["query"]["tokens"][f"{kind}token"])

    def _done(self, **form: str) -> Any:
        reply = self._http.post(self._api, data={"format": "json", "formatversion": "2", **form}, timeout=60)
        reply.raise_for_status()
        content = reply.json()
        assert "error" not in content, content["error"]
        return content


@contextmanager
def a_wiki(folder: Path, users: Sequence[str] = ()) -> Iterator[RunningWiki]:
    """A wiki with these users and ADMIN, its files in the folder, for as long as it is wanted."""
    port = urlsplit(unused_address()).port or 0
    password = secrets.token_hex(16)
    environment = os.environ | {"MW_CONFIG_FILE": str(folder / "LocalSettings.php")}
    _install(folder, port, password)
    for user in users:
        _php([str(MAINTENANCE / "createAndPromote.php"), user, password], environment)
    log = folder / "server.log"
    with log.open("wb") as said:
        command = ["php", "-S", f"127.0.0.1:{port}", "-t", str(HOME)]
        server = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
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
    given = [part for name, value in options.items() for part in (f"--{name}", value)]
    without_one = {name: value for name, value in os.environ.items() if name != "MW_CONFIG_FILE"}
    _php([str(MAINTENANCE / "install.php"), *given, "A wiki of tests", ADMIN], without_one)
    with (folder / "LocalSettings.php").open("a", encoding="utf-8") as settings:
        settings.write(_SETTINGS.replace("FOLDER", str(folder)))


def _php(command: Sequence[str], environment: dict[str, str]) -> None:
    done = subprocess.run(["php", *command], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{Path(command[0]).name} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}"


def _wait_for(api: str, server: "subprocess.Popen[bytes]", log: Path) -> None:
    last = time.monotonic() + 60
    while time.monotonic() < last and server.poll() is None:
        try:
            reply = requests.get(api, params={"action": "query", "meta": "siteinfo", "format": "json"}, timeout=30)
        except requests.ConnectionError:
            time.sleep(0.05)
            continue
        assert reply.status_code == 200, reply.text[:2000]
        return
    raise AssertionError(f"the wiki does not answer: {log.read_text(errors='replace')[-2000:]}")
