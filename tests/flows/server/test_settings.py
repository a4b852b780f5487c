from pathlib import Path

import pytest
from prefect.settings import get_current_settings

from swaymeter.flows.server.settings import is_api_configured

URL = "http://127.0.0.1:4200/api"
PROFILES = f'active = "here"\n[profiles.here]\nPREFECT_API_URL = "{URL}"\n[profiles.away]\n'


@pytest.fixture(autouse=True)
def settings_of_this_process() -> None:
    """Let Prefect read its settings before the test changes them; Prefect reads them once in a process."""
    get_current_settings()


@pytest.mark.parametrize(
    ("variables", "files", "is_configured"),
    [
        ({}, {}, False),
        ({"PREFECT_API_URL": URL}, {}, True),
        ({}, {"home/profiles.toml": PROFILES}, True),
        ({"PREFECT_PROFILE": "away"}, {"home/profiles.toml": PROFILES}, False),
        ({}, {"home/profiles.toml": "[profiles.here"}, False),  # is no TOML
        ({}, {"prefect.toml": f'[api]\nurl = "{URL}"\n'}, True),
        ({}, {"pyproject.toml": f'[tool.prefect.api]\nurl = "{URL}"\n'}, True),
        ({}, {".env": f"PREFECT_API_URL={URL}\n"}, True),
        ({}, {".env": "API_KEY=1\n", "pyproject.toml": '[project]\ndependencies = ["prefect"]\n'}, False),
    ],
)
def test_the_api_is_found_in_settings(
    variables: dict[str, str],
    files: dict[str, str],
    is_configured: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("PREFECT_API_URL", "PREFECT_PROFILE", "PREFECT_PROFILES_PATH"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    for name, value in {**variables, "PREFECT_HOME": str(tmp_path / "home")}.items():
        monkeypatch.setenv(name, value)
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert is_api_configured() is is_configured
