"""Fixtures of the tests of `stackrank fix` and `review`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.extensions.fix.desk import Desk


@pytest.fixture
def desk(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Proposals in a database of their own, and a home of their own."""
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path / "home"))
    return Desk(tmp_path, database)
