"""Progress without a terminal."""

from __future__ import annotations

import pytest

from stackrank.flows.cli import progress as module


def test_a_line_comes_when_something_has_changed_or_after_a_silence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr(module.time, "monotonic", lambda: now)
    with module.progress("episodes") as show:
        for state in [(0, 9), (1, 9), (1, 9), (1, 9), (1, 9, "paused"), (1, 9, "paused"), (2, 9)]:
            now += 40
            show(*state)  # type: ignore[arg-type]
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(" episodes")[0] for line in lines] == ["0 of 9", "1 of 9", "1 of 9", "1 of 9", "2 of 9"]
    assert "so far" in lines[2] and "(paused)" in lines[3] and "so far" not in lines[3]
