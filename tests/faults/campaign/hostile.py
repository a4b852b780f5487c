"""Files and texts that were made to harm: study files, spreadsheets, questions, dumps, models, scripts in contexts."""

import json
import pickle
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.data.sources.own.test_file import PAYLOAD, csv
from tests.faults.campaign import cases
from tests.faults.campaign.measured import measured
from tests.faults.campaign.record import Outcome
from tests.flows.study.test_reading import HOSTILE as STUDIES
from tests.reports.browser import CHROMIUM
from tests.reports.test_answers_page import HOSTILE as TEXTS
from tests.tasks.contexts.annotation.sheets import write
from tests.tasks.contexts.annotation.test_spreadsheet import BOMBS, MAIN
from tests.tasks.models.tiny import CHAT, save_language_model

SCRIPTS = (
    *TEXTS,
    "<script>executed = 1</script>",
    "<svg onload=executed=1>",
    "javascript:executed=1",
    "<iframe srcdoc='<script>parent.executed=1</script>'>",
    "<style>@import url(http://example.org/)</style><link rel=stylesheet href=http://example.org/>",
    "{{constructor.constructor('executed=1')()}}",
    "<form action=http://example.org/><input autofocus onfocus=executed=1>",
    "</template></textarea></title></style><script>executed=1</script>",
    "<math><mi xlink:href=javascript:executed=1>x",
)
LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
INDEX_FILES = ("../model.safetensors", "/model.safetensors", "model.bin", "lost.safetensors")


def outcomes() -> Iterator[Outcome]:
    """An outcome for each file or text."""
    with tempfile.TemporaryDirectory(prefix="swaymeter-hostile-") as name:
        folder = Path(name)
        yield from _studies(folder)
        yield from _sheets(folder)
        yield from _questions(folder)
        yield from _dumps(folder)
        yield from _models(folder)
        for number, text in enumerate(SCRIPTS if CHROMIUM else ()):
            of_page = folder / f"page-{number}"
            of_page.mkdir()
            yield measured("scripts in contexts and answers", cases.page, text, of_page, text)


def _studies(folder: Path) -> Iterator[Outcome]:
    for name, (text, _) in STUDIES.items():
        file = folder / "study.yaml"
        file.write_text(text)
        yield measured("study files", cases.study, name, file)


def _sheets(folder: Path) -> Iterator[Outcome]:
    sound = write(folder / "sound.xlsx", ["Oslo"])
    for name, (rows, _) in BOMBS.items():
        bomb = folder / "bomb.xlsx"
        with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed, zipfile.ZipFile(sound) as other:
            for part in other.namelist():
                content = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
                packed.writestr(part, content if "sheet1" in part else other.read(part))
        yield measured("spreadsheets", cases.sheet, name, bomb)


def _questions(folder: Path) -> Iterator[Outcome]:
    good = json.dumps({"question": "Who?", "answer": "Oslo", "context": "c"})
    files = {
        "a cell of 10 MB": ("a.csv", csv(f"q2,Who?,Oslo,,{'c' * 10_000_000},unknown,,", PAYLOAD)),
        "an open quote": ("b.csv", csv('q2,Who?,"Oslo,,c,unknown,,', PAYLOAD)),
        "deep JSON": ("c.jsonl", f"{good}\n{'[' * 1_000_000}"),
        "NaN": ("d.jsonl", f"{good}\n{good.replace(chr(34) + 'Oslo' + chr(34), 'NaN')}"),
        "a number of 100,000 digits": ("e.jsonl", f'{good}\n{{"question": {"7" * 100_000}}}'),
        "a control character": ("f.csv", csv("q2,Who\x07?,Oslo,,c,unknown,,", PAYLOAD)),
    }
    for name, (file, content) in files.items():
        (folder / file).write_text(content)
        yield measured("questions of one's own", cases.own_questions, name, folder / file)


def _dumps(folder: Path) -> Iterator[Outcome]:
    dumps = {
        "a literal of 64 MiB": f'<http://a/s> <http://a/p> "{"x" * (64 << 20)}" .',
        "an address of 64 MiB": f"<http://a/{'s' * (64 << 20)}> <http://a/p> <http://a/o> .",
        "no RDF": "<<<< {",
    }
    for name, text in dumps.items():
        file = folder / "dump.nt"
        file.write_text(text)
        yield measured("RDF dumps", cases.graph, name, file)


def _models(folder: Path) -> Iterator[Outcome]:
    mark = folder / "executed"
    harm: dict[str, Callable[[Path], object]] = {
        **{f"index: {file}": lambda model, file=file: _with_index(model, file) for file in INDEX_FILES},  # type: ignore[misc]
        "pickled weights alone": lambda model: _pickled(model, mark, remove=True),
        "pickled weights beside": lambda model: _pickled(model, mark, remove=False),
        "code of its own": lambda model: _with_code(model, mark),
        "weights cut short": lambda model: _cut(model / "model.safetensors"),
        "tokenizer cut short": lambda model: _cut(model / "tokenizer.json"),
        "a template that never ends": lambda model: _with_template(model, LOOPS + CHAT),
        "a template that opens files": lambda model: _with_template(model, _escape(mark) + CHAT),
    }
    for number, (name, change) in enumerate(harm.items()):
        model = save_language_model(folder / f"model-{number}")
        change(model)
        yield measured("model folders", cases.model, name, model, mark)


def _with_index(model: Path, file: str) -> None:
    (model.parent / "model.safetensors").touch()
    (model / "model.bin").touch()
    (model / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": file}}))


class _Payload:
    """Writes a file where it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.mark,)


def _pickled(model: Path, mark: Path, *, remove: bool) -> None:
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(_Payload(mark)))
    if remove:
        (model / "model.safetensors").unlink()


def _with_code(model: Path, mark: Path) -> None:
    (model / "own.py").write_text(f"import pathlib\npathlib.Path({str(mark)!r}).touch()\n")
    for name, classes in (
        ("config.json", {"AutoConfig": "own.Config", "AutoModelForCausalLM": "own.Model"}),
        ("tokenizer_config.json", {"AutoTokenizer": ["own.Tokenizer", None]}),
    ):
        content = json.loads((model / name).read_text())
        (model / name).write_text(json.dumps({**content, "auto_map": classes}))


def _with_template(model: Path, template: str) -> None:
    (model / "chat_template.jinja").write_text(template)


def _escape(mark: Path) -> str:
    """What would open a file if the template could reach Python's names."""
    return (
        "{{ ''.__class__.__mro__[1].__subclasses__() }}{{ cycler.__init__.__globals__.open('" + str(mark) + "', 'w') }}"
    )


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
