"""The fixtures of whole studies, which tests/end_to_end, tests/faults and tests/benchmarks share: each is made once."""

import pytest

from tests.end_to_end import fixtures


def pytest_configure(config: pytest.Config) -> None:
    """Registers them, once for all three folders."""
    if not config.pluginmanager.is_registered(fixtures):
        config.pluginmanager.register(fixtures, fixtures.__name__)
