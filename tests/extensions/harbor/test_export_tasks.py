"""`stackrank export-tasks`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fixtures.calls import CommandLine


@pytest.mark.slow
def test_the_command(stackrank: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "tasks"
    result = stackrank("export-tasks", "bugs", "--format", "harbor", "--limit", "3", "--out", str(out), "--json")
    assert result.status == 0 and result.json()["tasks"] == 3 and len(list(out.iterdir())) == 3
    repeated = stackrank("export-tasks", "bugs", "--out", str(out))
    assert repeated.status == 2 and "not empty" in repeated.sentence()
    bad = stackrank("export-tasks", "bugs", "--format", "tar", "--out", str(tmp_path / "x"))
    assert bad.status == 2 and "harbor" in bad.sentence()
