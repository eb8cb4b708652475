"""Finds the few tests that take most of the time of a long suite: further runs leave them out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.replies.decoder import Name, Seconds, decode
from stackrank.env.scoring.report import PASSED, TestReport
from stackrank.wording import duration

_SLOW_S = 5.0
"""A test that takes less is not slow, however many there are."""
_LEAST_SHARE = 0.5
"""Slow tests are left out if together they take this share of a run: otherwise little is gained."""


@dataclass(frozen=True)
class _Timed:
    """The part of a test's record that says how long it took."""

    test: Name
    seconds: Seconds


class UnfinishedRun(BenchmarkError):
    """The tests do not end in their time."""

    def __init__(self, name: str, timeout_s: float, report: TestReport, seconds: Mapping[str, float]) -> None:
        """`name`: the project's; `report`, `seconds`: of the tests that ended, and how long each of them took."""
        self.report, self.seconds = report, seconds
        self.running = next((test for test, outcome in report.outcomes.items() if outcome == "missing"), "")
        """The test that was running; empty if none was."""
        last = f" ({self.running} was running)" if self.running else ""
        super().__init__(
            f"the tests of {name} do not end within {timeout_s:g} s{last}: set a longer --timeout, or name faster ones "
            "with --test"
        )


def seconds_of(raw: str) -> dict[str, float]:
    """Return how long each test took, as the raw report of a run says."""
    seconds: dict[str, float] = {}
    for line in raw.splitlines():
        try:
            timed = decode(_Timed, line.partition(" ")[2].encode("utf-8", "replace"))
        except BadReply:  # a record of something else
            continue
        seconds[timed.test] = seconds.get(timed.test, 0.0) + timed.seconds
    return seconds


def find_slow(report: TestReport, seconds: Mapping[str, float], run_s: float, running: str = "") -> dict[str, str]:
    """Return passing tests that take most of a run of so many seconds -> why they are left out; empty if none do.

    `running`: the test with which a run that did not end stood still, which is one of them.
    """
    slow = {test: taken for test, taken in seconds.items() if taken >= _SLOW_S}
    if running:
        slow[running] = run_s - sum(seconds.values())
    if sum(slow.values()) < _LEAST_SHARE * run_s:
        return {}
    left_out: dict[str, str] = {}
    for test, taken in slow.items():
        alike = _with_prefix(test, report.outcomes)
        if all(report.outcomes[name] in PASSED or name in slow for name in alike):
            reason = f"it takes {duration(taken)} of a run of {duration(run_s)}: name it with --test to have it run"
            left_out |= dict.fromkeys(alike, reason)
    return {test: why for test, why in left_out.items() if report.outcomes[test] != "failed"}


def _with_prefix(test: str, tests: Collection[str]) -> list[str]:
    """Return the tests that pytest deselects with this one."""
    return [name for name in tests if name.startswith(test)]
