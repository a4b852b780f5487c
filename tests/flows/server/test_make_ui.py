"""The end of `make ui`."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

MAKEFILE = Path(__file__).parents[3] / "Makefile"


@pytest.mark.parametrize("server", ["sleep 60", "true", ""])
def test_the_worker_ends_with_the_command(server: str) -> None:
    """The worker ends with `make ui`, also if the server has ended before or has never started."""
    definition = re.search(r"define END_WITH_RUNS\n(.*?)endef", MAKEFILE.read_text(), re.DOTALL)
    assert definition
    starts = f'{server} & server=$!; [ "$server_ends" = no ] || wait $server;' if server else ""
    shell = f'sleep 60 & worker=$!; {starts} "{sys.executable}" -c "$END_WITH_RUNS" $$ $server; wait $worker'
    ends = "no" if server == "sleep 60" else "yes"
    environment = os.environ | {"END_WITH_RUNS": definition[1], "server_ends": ends}
    assert subprocess.run(["sh", "-c", shell], env=environment, timeout=30).returncode == 128 + 9
