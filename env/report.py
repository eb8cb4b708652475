"""Reads the report of a pytest run that the guest's reporter wrote (`env.sandbox.guest.pytest_child`)."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PASSED = ("passed", "xfailed")


@dataclass(frozen=True, slots=True)
class TestReport:
    """What a test run showed."""

    __test__ = False  # not a test, whatever pytest thinks of the name

    outcomes: Mapping[str, str] = field(default_factory=dict)
    """Test id -> passed, failed, skipped, xfailed or missing (collected, never finished)."""
    messages: Mapping[str, str] = field(default_factory=dict)
    """Test id -> the exception, one line, for those that failed."""
    complete: bool = False
    """Whether the run came to its proper end."""
    suspicions: tuple[str, ...] = ()
    """Signs that somebody tampered with the run, each a sentence."""
    collect_errors: tuple[str, ...] = ()

    @property
    def passed(self) -> int:
        """How many tests passed."""
        return sum(outcome in PASSED for outcome in self.outcomes.values())

    @property
    def failed(self) -> int:
        """How many tests failed or never finished, files that could not be imported included."""
        bad = sum(outcome in ("failed", "missing") for outcome in self.outcomes.values())
        return bad + len(self.collect_errors)


def outcome_of(test: str, outcomes: Mapping[str, str]) -> str:
    """What a test came to; `missing` where it did not run.

    SWE-bench's lists cut ids off at the first space: then the worst of the tests that begin so counts.
    """
    if test in outcomes:
        return outcomes[test]
    begun = {outcome for name, outcome in outcomes.items() if name.partition(" ")[0] == test}
    return next((each for each in ("failed", "missing", "skipped", "xfailed", "passed") if each in begun), "missing")


def parse(raw: str, key: bytes) -> TestReport:
    """Read raw report lines; every line has to carry the right hash and the next number."""
    outcomes: dict[str, str] = {}
    messages: dict[str, str] = {}
    suspicions: list[str] = []
    errors: list[str] = []
    complete = False
    canaries = 0
    for number, line in enumerate(raw.splitlines()):
        record = _authentic(line, key, number)
        if record is None:
            suspicions.append("the report has a line that the reporter did not write")
            break
        if "collected" in record:
            outcomes.update(dict.fromkeys(record["collected"], "missing"))
        elif "collect_error" in record:
            errors.append(f"{record['collect_error']}: {record['message'].strip().splitlines()[-1:]}")
        elif "suspicion" in record:
            suspicions.append(record["suspicion"])
        elif "finished" in record:
            complete = True
            suspicions += [f"{name} was replaced during the run" for name in record["tampered"]]
        elif record["canary"]:
            if record["when"] == "call":
                canaries += 1
                if record["outcome"] != "failed":
                    suspicions.append("a test that must fail passed")
        else:
            _take(record, outcomes, messages, suspicions)
    return TestReport(outcomes, messages, complete, tuple(dict.fromkeys(suspicions)), tuple(errors))


def _authentic(line: str, key: bytes, number: int) -> dict[str, Any] | None:
    mark, _, text = line.partition(" ")
    if not hmac.compare_digest(mark, hmac.new(key, text.encode(), hashlib.sha256).hexdigest()):
        return None
    record: dict[str, Any] = json.loads(text)
    return record if record["seq"] == number else None


def _take(record: dict[str, Any], outcomes: dict[str, str], messages: dict[str, str], suspicions: list[str]) -> None:
    test, outcome = record["test"], record["outcome"]
    if outcome == "passed":
        # Failed without an exception of the test's own, as one that was expected to fail and did not. Whatever makes
        # an outcome worse is believed.
        outcome = record["reported"]
    if outcome in ("failed", "skipped") and record["xfail"]:
        outcome = "xfailed"
    if outcome == "failed" and record["reported"] == "passed":
        suspicions.append(f"the outcome of {test} was changed from failed to passed")
    if outcome == "failed":
        messages.setdefault(test, record["message"])
    before = outcomes.get(test, "missing")
    # A test passes when its set-up, its call and its tear-down do; the worst of them counts.
    rank = ["missing", "passed", "xfailed", "skipped", "failed"]
    if record["when"] == "setup" and outcome == "passed":
        return
    if rank.index(outcome) > rank.index(before):
        outcomes[test] = outcome
