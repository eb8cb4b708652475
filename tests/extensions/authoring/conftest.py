"""Fixtures of the tests of authoring."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extensions.authoring.tiny_library import FILES, publish


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder that pip takes packages from, with the tiny library; its hash."""
    return publish(FILES, tmp_path / "index", monkeypatch)
