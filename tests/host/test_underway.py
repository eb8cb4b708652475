"""What takes long says so."""

from __future__ import annotations

import time

import pytest

from stackrank.host.underway import underway


def test_what_takes_long_says_for_how_long_until_it_ends() -> None:
    lines: list[str] = []
    with pytest.raises(ValueError, match="stop"), underway("running the tests", lines.append, silence_s=0.01):
        while len(lines) < 3:
            time.sleep(0.005)
        raise ValueError("stop")
    ended = len(lines)
    time.sleep(0.05)
    assert lines[0] == "running the tests" and len(lines) == ended
    assert all(line.startswith("running the tests: ") and line.endswith(" so far") for line in lines[1:])
