"""Documentation: the site and its links, decisions, the changelog, and statements of pages about the code."""

import re
import tomllib
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from docs.generated import TABLES_OF_PAGES
from swaymeter.data.sources.http.services import SERVICES, Service

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
DECISIONS = sorted((DOCS / "decisions").glob("[0-9]*.md"))
PAGES = [*(ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")), *sorted(DOCS.rglob("*.md"))]


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


REMOTE = re.compile(r"""<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)=["']?(?:https?:)?//|url\(["']?https?:""")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site. The build is strict, so that a broken link or anchor is an error."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    folder = tmp_path_factory.mktemp("site")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # MkDocs and its plugins warn
        build(load_config(str(ROOT / "mkdocs.yml"), site_dir=str(folder), strict=True))
    return folder


def test_a_strict_build_has_the_pages_with_tables(site: Path) -> None:
    pages = {Path(page).with_suffix(".html").name for page in TABLES_OF_PAGES}
    assert pages <= {page.name for page in site.glob("*.html")}


def test_page_of_database_has_columns_of_queries() -> None:
    assert "`share_persuaded` (share), `share_stubborn` (share)" in TABLES_OF_PAGES["warehouse.md"]()


def test_the_site_loads_nothing_from_other_hosts(site: Path) -> None:
    pages = [*site.rglob("*.html"), *site.rglob("*.css")]
    assert {page.name: urls for page in pages if (urls := REMOTE.findall(text_of(page)))} == {}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_of_code_that_a_page_names_exist(page: Path) -> None:
    names = re.findall(r"`((?:data|tasks|reports|flows|tests|docs|docker)/[\w./-]+)`", text_of(page))
    written_by_reader = re.findall(r"^`([\w./-]+)`$", text_of(page), re.MULTILINE)  # the title of a code block
    assert [name for name in names if not ((ROOT / name).exists() or name in written_by_reader)] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_of_the_repository(page: Path) -> None:
    paths = re.findall(r"\]\(([^)\s#:]+)(?:#[^)]*)?\)", text_of(page))
    assert [path for path in paths if not (page.parent / path).exists()] == []


SETTINGS_OF_QUESTIONS: Mapping[str, Callable[[Service], str]] = {
    "max concurrency": lambda service: f"{service.max_concurrency}",
    "requests per minute": lambda service: f"{service.requests_per_minute:g}",
    "cached for days": lambda service: f"{service.cache_ttl_days:g}",
    "most requests of a run": lambda service: f"{service.max_requests:,}",
}
SETTINGS_OF_FACTS: Mapping[str, Callable[[Service], str]] = {
    "`address`": lambda service: urlsplit(service.address).netloc,
    "`requests_per_minute`": lambda service: f"{service.requests_per_minute:g}",
    "`cache_ttl_days`": lambda service: f"{service.cache_ttl_days:g}",
    "`timeout_s`": lambda service: f"{service.timeout_s:g}",
    "`max_requests`": lambda service: f"{service.max_requests:,}",
}


def table_of(page: str, first_column: str) -> tuple[list[str], list[list[str]]]:
    """Return the columns and the rows of the table whose first column is `first_column`."""
    table = re.search(rf"^\| {first_column} \|.*\n(\|.*\n)+", text_of(DOCS / page), re.MULTILINE)
    assert table is not None
    columns, _, *rows = ([cell.strip() for cell in row.strip("|").split("|")] for row in table[0].splitlines())
    return columns, rows


def test_settings_of_services_of_questions_match_their_page() -> None:
    columns, rows = table_of("questions.md", "name")
    assert columns == ["name", "service", *SETTINGS_OF_QUESTIONS]
    settings = [[f"`{name}`", *(text(SERVICES[name]) for text in SETTINGS_OF_QUESTIONS.values())] for name in SERVICES]
    documented = [[name, *numbers] for name, _, *numbers in rows]
    # YAGO is a service of facts, and Infini-gram is on the page of frequency.
    assert documented == [row for row in settings if row[0] not in ("`yago`", "`infini_gram`")]
    assert f"most {SERVICES['infini_gram'].requests_per_minute:g} times a minute" in text_of(DOCS / "frequency.md")


def test_settings_of_services_of_facts_match_their_page() -> None:
    columns, rows = table_of("facts.md", "key")
    assert columns == ["key", "meaning", "YAGO", "Wikidata"]
    services = SERVICES["yago"], SERVICES["wikidata"]
    documented = {key: numbers for key, _, *numbers in rows}
    assert documented == {key: [text(service) for service in services] for key, text in SETTINGS_OF_FACTS.items()}


def test_every_decision_has_a_number_of_its_own() -> None:
    numbers = [page.name[:4] for page in DECISIONS]
    assert len({*numbers}) == len(numbers)


@pytest.mark.parametrize("page", DECISIONS, ids=name_of)
def test_a_decision_has_its_number_and_headings(page: Path) -> None:
    title, *sections = re.split(r"^## ", text_of(page), flags=re.MULTILINE)
    assert re.match(rf"# {page.name[:4]} \S", title)
    assert {"Decision", "Why"} & {section.partition("\n")[0] for section in sections}
    assert all(section.partition("\n")[2].strip() for section in sections)


def test_the_list_of_decisions_has_every_page() -> None:
    listed = re.findall(r"\(([0-9]{4}-\S+\.md)\)", text_of(DOCS / "decisions" / "README.md"))
    assert listed == [page.name for page in DECISIONS]


def test_the_changelog_has_the_version_of_the_package() -> None:
    version = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["version"]
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert newest is not None
    assert newest[1] == version
