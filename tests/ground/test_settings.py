"""Environment variables are documented, read in one place, and checked."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from stackrank.errors import SettingsError
from stackrank.settings import PREFIX, Settings, default_owner, settings, variable
from tests.test_layout import ROOT, sources

WRONG = [
    ("HOST_MEMORY_MB", "8G", "a whole number, at least 1"),
    ("HOST_WORKERS", "0", "a whole number, at least 1"),
    ("SILENT_S", "soon", "a number, more than 0"),
    ("SILENT_S", "-3", "a number, more than 0"),
    ("LOG", "loud", "`text` or `json`"),
    ("AUTO_MIGRATE", "perhaps", "true or false"),
    ("DASHBOARD_OPEN", "2", "true or false"),
]


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings.model_fields:
        monkeypatch.delenv(variable(name), raising=False)


@pytest.mark.parametrize(("name", "value", "message"), WRONG)
def test_wrong_value_is_explained_in_one_sentence(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    monkeypatch.setenv(f"STACKRANK_{name}", value)
    with pytest.raises(SettingsError) as caught:
        settings()
    assert str(caught.value) == f"STACKRANK_{name} is '{value}': set it to {message}, or unset it"


@pytest.mark.slow
def test_a_wrong_value_ends_a_command_with_status_2(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    monkeypatch.setenv("STACKRANK_SILENT_S", "soon")
    for call in (["runs"], ["doctor"], ["leaderboard", "--json"]):
        completed = subprocess.run(
            [sys.executable, "-m", "stackrank.flows.cli.main", *call], capture_output=True, text=True, check=False
        )
        assert (completed.returncode, completed.stdout) == (2, ""), call
        assert completed.stderr.count("\n") == 1 and completed.stderr.startswith(
            "error: STACKRANK_SILENT_S is 'soon'"
        ), call


def test_settings_are_read_when_used(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (settings().silent_s, settings().beat_s, settings().run_silent_s) == (20, 2, 60)
    monkeypatch.setenv("STACKRANK_SILENT_S", "5")
    assert (settings().silent_s, settings().beat_s, settings().run_silent_s) == (5, 0.5, 15)
    monkeypatch.setenv("STACKRANK_SILENT_S", "")
    assert settings().silent_s == 20
    monkeypatch.setenv("STACKRANK_OWNER", "ada")
    assert default_owner() == "ada"


def test_every_setting_is_described() -> None:
    page = (ROOT / "docs" / "reference" / "settings.md").read_text(encoding="utf-8")
    for name, field in Settings.model_fields.items():
        assert field.description, f"{name} has no docstring"
        assert f"| `{variable(name)}` |" in page, "run `make reference`"


def test_settings_are_read_only_through_the_settings_module() -> None:
    """A name may stand in a message; only `settings` may read its value, and every name there is has to be a field."""
    variables = {variable(name) for name in Settings.model_fields} | {
        "STACKRANK_SANDBOX_OWNER"
    }  # the mark of a process
    for path in (
        path for room in ("env", "agents", "db", "flows", "dashboard", "src") for path in sources(ROOT / room)
    ):
        text = path.read_text(encoding="utf-8").replace("_URL_FILE", "_URL")
        assert set(re.findall(rf"{PREFIX}[A-Z_]+[A-Z]", text)) <= variables, path
        assert not re.search(rf"(getenv\(|environ\.get\(|environ\[)[f]?[\"']{PREFIX}[A-Z_]+[\"'][^=]*\)", text), path
