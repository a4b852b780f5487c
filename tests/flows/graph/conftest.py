from pathlib import Path

import pytest

from tests.flows.graph.toy import Toy


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "workspace")
