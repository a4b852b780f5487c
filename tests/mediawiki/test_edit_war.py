"""Edit wars that the tests write on a real wiki, and the disputes and rejected pairs that Swaymeter finds there."""

import os
import secrets
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest
import requests

from swaymeter.data import reasons
from swaymeter.data.records import Dispute, Rejected
from swaymeter.data.sources.http.session import Service, Session
from swaymeter.data.sources.wikimedia.mediawiki import Wiki
from swaymeter.data.sources.wikimedia.wikipedia import Wikipedia
from swaymeter.tasks.contexts.disputes.reverted_edits import disputes_of_page
from tests.data.sources.servers.faults import unused_address
from tests.tasks.contexts.wikidata.live import embedder

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
    """An editor with a session of its own, anonymous if the name is None; edits return the id of the new revision."""

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
    """Run Debian's MediaWiki with these users and ADMIN, and its files in the folder, for the time of the context."""
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


pytestmark = pytest.mark.mediawiki

HARBOUR = (
    "{{Infobox harbour|name=Harbour of Velm|owner=City of Velm}}\n"
    "The '''Harbour of Velm''' is a [[harbour]] on the [[Velm Sea|western sea]].<ref>Annals, 1901.</ref> "
    "It was built in 1621.\n\n"
    "== Rule ==\n"
    "From 1890 to 1911 a foreign [[garrison]] held it. "
    "Its commander, Ada Kelm, is remembered as a liberator by most people.<!-- see the talk page -->\n"
    "* Lighthouse: grey\n"
    '{| class="wikitable"\n| Ships || many\n|}\n'
)


@pytest.fixture(scope="session")
def wiki(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningWiki]:
    """A wiki for all tests; each test writes its own pages."""
    if not is_installed():
        pytest.fail("no MediaWiki is installed here; `make test-mediawiki` installs Debian's, as root")
    with running_wiki(tmp_path_factory.mktemp("mediawiki"), ("Alice", "Bob", "Carol")) as running:
        yield running


@pytest.fixture
def wikipedia(wiki: RunningWiki, tmp_path: Path) -> Iterator[Wikipedia]:
    """Our client of the wiki, with an empty cache."""
    service = Service("The wiki", wiki.api, max_concurrency=3, requests_per_minute=60_000, cache_ttl_days=30)
    with closing(Session(service, contact="https://tests.invalid", cache=tmp_path)) as session:
        yield Wikipedia(Wiki(session))


class Editors(NamedTuple):
    alice: Editor
    bob: Editor
    carol: Editor
    warden: Editor
    anonymous: Editor


@pytest.fixture(scope="module")
def editors(wiki: RunningWiki) -> Editors:
    return Editors(*(Editor(wiki, name) for name in ("Alice", "Bob", "Carol", ADMIN, None)))


def _only_dispute(title: str, wikipedia: Wikipedia) -> tuple[Dispute, dict[str, int]]:
    """Return the only dispute of a page, and the number of rejected pairs for each reason."""
    result = disputes_of_page(title, wikipedia, embed=embedder(parts=list))  # `list` returns the letters of a text
    (dispute,) = result.disputes
    return dispute, _reasons(result.rejected)


def _war(title: str, first: str, second: str, editors: Sequence[Editor]) -> tuple[int, ...]:
    """Replace the first text by the second and back, one edit for each editor; return the ids of the edits."""
    return tuple(
        editor.replaces(title, *((first, second) if number % 2 == 0 else (second, first)))
        for number, editor in enumerate(editors)
    )


def _reasons(rejected: Sequence[Rejected]) -> dict[str, int]:
    """Count the rejected pairs for each reason; a rejection lists the two edits of each of its pairs."""
    counts: Counter[str] = Counter()
    for rejection in rejected:
        counts[rejection.reason] += len(rejection.revisions) // 2
    return dict(counts)


def test_a_war_of_two_editors_is_one_dispute(editors: Editors, wikipedia: Wikipedia) -> None:
    alice, bob = editors.alice, editors.bob
    alice.writes("Harbour of Velm", HARBOUR)
    bob_1, alice_1, bob_2, alice_2 = _war("Harbour of Velm", "liberator", "tyrant", (bob, alice, bob, alice))
    dispute, rejected = _only_dispute("Harbour of Velm", wikipedia)
    assert (dispute.object, dispute.replacement) == ("liberator", "tyrant")
    assert dispute.context == "Its commander, Ada Kelm, is remembered as a liberator by most people."
    assert dispute.reversions == 3  # Alice undid Bob, Bob undid Alice, Alice undid Bob
    assert dispute.edit_revisions == (bob_1, alice_1, alice_1, bob_2, bob_2, alice_2)
    assert dispute.page_revision == alice_2
    assert dispute.hidden_edits == 0
    assert rejected == {}


def test_a_war_goes_on_after_other_edits(editors: Editors, wikipedia: Wikipedia) -> None:
    alice, bob, carol = editors.alice, editors.bob, editors.carol
    alice.writes("Quay", HARBOUR)
    _war("Quay", "liberator", "tyrant", (bob, alice))  # reversion 1: Alice undoes Bob
    carol.replaces("Quay", "built in 1621", "finished in 1621")
    carol.replaces("Quay", "is remembered", "is still remembered")
    undone = bob.replaces("Quay", "liberator", "tyrant")  # no reversion: this edit follows Carol's and undoes none
    alice.edits("Quay", undo=str(undone))  # reversion 2
    bob.replaces("Quay", "liberator", "tyrant")  # reversion 3
    editors.warden.does("rollback", title="Quay", user="Bob")  # reversion 4
    last = bob.replaces("Quay", "liberator", "tyrant")  # reversion 5; nobody undoes this edit
    dispute, _ = _only_dispute("Quay", wikipedia)
    assert dispute.reversions == 5
    assert (dispute.object, dispute.replacement) == ("tyrant", "liberator")
    assert dispute.context == "Its commander, Ada Kelm, is still remembered as a tyrant by most people."
    assert dispute.page_revision == last


def test_reversions_of_anonymous_editors_are_not_counted(editors: Editors, wikipedia: Wikipedia) -> None:
    alice, bob, anonymous = editors.alice, editors.bob, editors.anonymous
    alice.writes("Mole", HARBOUR)
    _war("Mole", "liberator", "tyrant", (bob, alice))
    _war("Mole", "liberator", "tyrant", (anonymous, alice))
    dispute, rejected = _only_dispute("Mole", wikipedia)
    # Counted: Alice undoes Bob. Rejected: an anonymous editor undoes Alice, and Alice undoes that editor.
    assert (dispute.reversions, rejected) == (1, {reasons.ANONYMOUS_EDITOR: 2})


def test_links_are_disputed_by_their_shown_words(editors: Editors, wikipedia: Wikipedia) -> None:
    editors.alice.writes("Strait", HARBOUR)
    _war("Strait", "[[garrison]]", "[[garrison|small band of soldiers]]", (editors.bob, editors.alice))
    _war("Strait", "[[Velm Sea|western sea]]", "[[Ostrand Sea|western sea]]", (editors.bob, editors.alice))
    dispute, rejected = _only_dispute("Strait", wikipedia)
    assert (dispute.object, dispute.replacement) == ("garrison", "small band of soldiers")
    assert dispute.context == "From 1890 to 1911 a foreign garrison held it."
    # The rejected pair is the second war; its first edit undoes nothing of the first war.
    assert rejected == {reasons.NOT_IN_RUNNING_TEXT: 1}


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("owner=City of Velm", "owner=Crown", reasons.NOT_IN_RUNNING_TEXT),
        ("Annals", "Chronicle", reasons.NOT_IN_RUNNING_TEXT),
        ("== Rule ==", "== Occupation ==", reasons.NOT_IN_RUNNING_TEXT),
        ("talk", "history", reasons.NOT_IN_RUNNING_TEXT),
        ("many", "few", reasons.NOT_IN_RUNNING_TEXT),
        ("a [[harbour]]", "a [[port|harbour]]", reasons.NOT_IN_RUNNING_TEXT),
        ("'''Harbour of Velm'''", "''Harbour of Velm''", reasons.ONLY_MARKUP),
        ("</ref> It was built in 1621.", "</ref>", reasons.NOT_SINGLE_SPAN),
        ("1911 a foreign", "1911 a", reasons.NOT_SINGLE_SPAN),
        ("by most people", "by very few of the older people who live there", reasons.SPAN_TOO_LONG),
        (HARBOUR[:200], "gone", reasons.NOT_SINGLE_SPAN),
        ("many", "many " * 300, reasons.SPAN_TOO_LONG),
        ("Ada Kelm", "ADA KELM", reasons.TOO_SIMILAR),
        ("Kelm", "Mlek", reasons.TOO_SIMILAR),
        ("grey", "white", reasons.NO_SENTENCE),
    ],
)
def test_other_edits_are_rejected_with_their_reasons(
    first: str, second: str, reason: str, editors: Editors, wikipedia: Wikipedia
) -> None:
    title = f"Pier {reason} {first[:20]}".translate(str.maketrans("", "", "[]{}|=\n'<>"))
    editors.alice.writes(title, HARBOUR)
    _war(title, first, second, (editors.bob, editors.alice))
    result = disputes_of_page(title, wikipedia, embed=embedder(parts=list))
    assert result.disputes == []
    assert _reasons(result.rejected) == {reason: 1}


def test_wars_with_hidden_revisions_are_rejected(editors: Editors, wikipedia: Wikipedia) -> None:
    alice, bob, warden = editors.alice, editors.bob, editors.warden
    alice.writes("Dock", HARBOUR)
    hidden_text, _ = _war("Dock", "liberator", "tyrant", (bob, alice))
    alice.replaces("Dock", "1621", "1622")
    hidden_user, _ = _war("Dock", "liberator", "tyrant", (bob, alice))
    alice.replaces("Dock", "1622", "1623")
    _war("Dock", "liberator", "tyrant", (bob, alice))
    for revision, parts in ((hidden_text, "content|comment"), (hidden_user, "user")):
        reply = warden.does("revisiondelete", type="revision", ids=str(revision), hide=parts)
        assert reply["revisiondelete"]["status"] == "Success", reply
    dispute, rejected = _only_dispute("Dock", wikipedia)
    assert (dispute.reversions, dispute.hidden_edits) == (1, 1)
    assert rejected == {reasons.HIDDEN_CONTENT: 1, reasons.HIDDEN_EDITOR: 1}


def test_revisions_with_equal_text_split_no_pair(editors: Editors, wikipedia: Wikipedia) -> None:
    editors.alice.writes("Jetty", HARBOUR)
    editors.bob.replaces("Jetty", "liberator", "tyrant")
    editors.warden.does("protect", title="Jetty", protections="move=sysop")  # a revision with the same text
    editors.warden.does("move", **{"from": "Jetty", "to": "Landing stage"})
    editors.alice.replaces("Landing stage", "tyrant", "liberator")
    dispute, _ = _only_dispute("Jetty", wikipedia)  # the move left a redirect
    assert (dispute.page, dispute.reversions) == ("Landing stage", 1)


def test_foreign_scripts_quotes_braces_and_html_stay_text(editors: Editors, wikipedia: Wikipedia) -> None:
    title = '"Quay" & Søn\'s/etc/passwd'
    text = 'The town of \u05d9\u05e4\u05d5 is called "{0}" &lt;b&gt; by its %s people, and the Straße is long.\n'
    editors.alice.writes(title, text)
    _war(title, "\u05d9\u05e4\u05d5", "\u064a\u0627\u0641\u0627", (editors.bob, editors.alice))
    dispute, _ = _only_dispute(title, wikipedia)
    assert dispute.page == title
    assert (dispute.object, dispute.replacement) == ("\u05d9\u05e4\u05d5", "\u064a\u0627\u0641\u0627")
    assert dispute.context == text.strip().replace("&lt;b&gt;", "<b>")


def test_our_client_reads_pages_redirects_and_links(editors: Editors, wikipedia: Wikipedia) -> None:
    editors.alice.writes("Lighthouse of Velm", HARBOUR)
    editors.alice.writes("The Light", "#REDIRECT [[Lighthouse of Velm]]")
    page = wikipedia.page("The Light")
    assert page is not None
    assert page.title == "Lighthouse of Velm"
    assert "is remembered as a liberator by most people." in page.text
    assert sorted(wikipedia.linked("The Light")) == ["Garrison", "Harbour", "Velm Sea"]
    assert [wikipedia.page(title) for title in ("Nowhere", "A|B", "../../etc")] == [None] * 3
