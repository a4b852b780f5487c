"""The fixtures of whole studies, which the tests of several folders share: each is made once."""

import pytest

from tests.end_to_end import fixtures


def pytest_configure(config: pytest.Config) -> None:
    """Registers them, once for all of these folders."""
    if not config.pluginmanager.is_registered(fixtures):
        config.pluginmanager.register(fixtures, fixtures.__name__)
