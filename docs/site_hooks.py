"""Additions of MkDocs to docs/: tables from the code, the README, notebooks, and files that pages link to."""

import json
import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.generated import TABLES_OF_PAGES

ROOT = Path(__file__).resolve().parents[1]
FROM_THE_TOP = {"index.md": "README.md"} | {name: name for name in ("CHANGELOG.md", "CONTRIBUTING.md")}
INLINE = re.compile(r"(?<!<span></span>)<code>[^<]+(?=</code>)")
"""Code within a line; blocks have an empty span before theirs."""
PARTS = re.compile(r"(?<=\w)([./_=-]+)(?=\w)")
LINK = re.compile(r"(?P<text>!?\[[^\]]*\])\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add the pages that are not files of docs/."""
    for name, source in FROM_THE_TOP.items():
        content = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content="---\nhide: [navigation]\n---\n" + content))
    for notebook in sorted((ROOT / "notebooks").glob("*.ipynb")):
        files.append(File.generated(config, f"notebooks/{notebook.stem}.md", content=page_of_notebook(notebook)))
    return files


def page_of_notebook(file: Path) -> str:
    """Return the cells of a Jupyter notebook as Markdown, without outputs."""
    cells: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))["cells"]
    texts = (("".join(cell["source"]), cell["cell_type"]) for cell in cells)
    return "\n\n".join(text if kind == "markdown" else f"```python\n{text}\n```" for text, kind in texts)


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Append tables from the code, and let links that leave docs/ lead to copies of the files.

    Of a link to a folder, which a site cannot show, the text stays.
    """
    uri = page.file.src_uri
    if uri in TABLES_OF_PAGES:
        markdown = f"{markdown}\n\n{TABLES_OF_PAGES[uri]()}"
    home = PurePosixPath(FROM_THE_TOP.get(uri, uri if uri.startswith("notebooks/") else f"docs/{uri}")).parent

    def relinked(link: re.Match[str]) -> str:
        path = normpath(str(home / link["path"]))
        if path.startswith("notebooks/"):  # their pages
            path = f"docs/{PurePosixPath(path).with_suffix('.md')}"
        path = next((f"docs/{name}" for name, source in FROM_THE_TOP.items() if source == path), path)
        if not path.startswith("docs/"):
            if (ROOT / path).is_dir():
                return link["text"].strip("[]")
            if not (ROOT / path).is_file():
                return link[0]  # MkDocs names it
            if not files.get_file_from_path(f"files/{path}"):
                files.append(File.generated(config, f"files/{path}", abs_src_path=str(ROOT / path)))
            path = f"docs/files/{path}"
        target = relpath(path.removeprefix("docs/"), str(PurePosixPath(uri).parent))
        return f"{link['text']}({target}{link['anchor'] or ''})"

    return LINK.sub(relinked, markdown)


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Let names of code break between their parts, as in follow.|supporting, where a narrow screen needs it."""
    return INLINE.sub(lambda code: PARTS.sub(r"\1<wbr>", code[0]), output)
