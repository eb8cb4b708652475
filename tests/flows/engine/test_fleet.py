"""Small versions of the fleet and the soak of tests/bench."""

from __future__ import annotations

import pytest

from tests.bench.scenarios import fleet, soak

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]


def test_a_fleet_plays_each_episode_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fleet, "PER_PROCESS", 4)
    report = fleet.measure(workers=8, episodes=200, played=150)
    assert (report["lost"], report["doubled"], report["wrong_counters"]) == (0, 0, 0)
    assert {row["what"] for row in report["ceilings"]} == fleet.BEFORE.keys()
    assert report["memory_mb"]["processes"] == 2 and report["connections"] >= 3


def test_nothing_is_lost_while_workers_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(soak, "PROCESSES", 2)
    report = soak.soak(seconds=12.0, kill_every_s=4.0)
    assert report["kills"] >= 1 and report["episodes"] > 0
    bad = ("lost", "doubled", "wrong_counters", "unfinished_runs", "failed_processes")
    assert not any(report[name] for name in bad), report
