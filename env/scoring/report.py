"""Reads the report of a pytest run that the guest's reporter wrote (`env.sandbox.guest.pytest_child`)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from stackrank.env.sandbox.base import BadReply
from stackrank.env.sandbox.guest.core.messages import message
from stackrank.env.scoring.report_records import (
    Collected,
    CollectError,
    Finished,
    Record,
    Result,
    Suspicion,
    read_record,
)
from stackrank.env.scoring.withheld.answers import Answers, sorted_by_question
from stackrank.terms import TestOutcome

PASSED = (TestOutcome.PASSED, TestOutcome.XFAILED)

_RANK = ("missing", "passed", "xfailed", "skipped", "failed")


@dataclass(frozen=True, slots=True)
class TestReport:
    """What a test run showed."""

    __test__ = False  # not a test, whatever pytest thinks of the name

    outcomes: Mapping[str, str] = field(default_factory=dict)
    """Test id -> passed, failed, skipped, xfailed or missing (collected, never finished)."""
    messages: Mapping[str, str] = field(default_factory=dict)
    """Id of a failed test -> the exception in one line."""
    failed_at: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Id of a test that failed by an assertion -> the lines of its own file that led to the failure."""
    raised_at: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """The same for tests that failed by another exception."""
    complete: bool = False
    """Whether the run ended properly."""
    suspicions: tuple[str, ...] = ()
    """Signs that somebody tampered with the run, each a sentence."""
    collect_errors: tuple[str, ...] = ()
    answers: Answers = field(default_factory=dict)
    """What tests answered that ask and do not assert."""

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
    """Return the outcome of a test; `missing` if it did not run.

    SWE-bench's lists cut ids off at the first space. For such an id the worst of the tests that begin so counts.
    """
    if test in outcomes:
        return outcomes[test]
    matching = {outcome for name, outcome in outcomes.items() if name.partition(" ")[0] == test}
    return next(
        (outcome for outcome in ("failed", "missing", "unseen", "skipped", "xfailed", "passed") if outcome in matching),
        "missing",
    )


def parse(raw: str, key: bytes) -> TestReport:
    """Read raw report lines. Every line must carry the right hash and the next number, and be a valid record."""
    reading = _Reading()
    for number, line in enumerate(raw.splitlines()):
        try:
            reading.take(_authentic(line, key, number))
        except BadReply:  # code that has the key can sign anything
            reading.suspicions.append(message("the report has a line that the reporter did not write"))
            break
    return reading.report()


class _Reading:
    """Collects the records of the lines read so far."""

    def __init__(self) -> None:
        self.suspicions: list[str] = []
        self._outcomes: dict[str, str] = {}
        self._messages: dict[str, str] = {}
        self._failed_at: dict[str, tuple[int, ...]] = {}
        self._raised_at: dict[str, tuple[int, ...]] = {}
        self._answers: dict[str, list[str]] = {}
        self._errors: list[str] = []
        self._complete = False

    def report(self) -> TestReport:
        """Return the report of all records so far."""
        lines = self._failed_at, self._raised_at
        suspicions, errors = tuple(dict.fromkeys(self.suspicions)), tuple(self._errors)
        answers = {test: sorted_by_question(texts) for test, texts in self._answers.items()}
        return TestReport(self._outcomes, self._messages, *lines, self._complete, suspicions, errors, answers)

    def take(self, record: Record) -> None:
        """Add one record."""
        if isinstance(record, Collected):
            self._outcomes.update(dict.fromkeys(record.collected, "missing"))
        elif isinstance(record, CollectError):
            self._errors.append(f"{record.collect_error}: {record.message.strip().splitlines()[-1:]}")
        elif isinstance(record, Suspicion):
            self.suspicions.append(record.suspicion)
        elif isinstance(record, Finished):
            self._complete = True
        elif record.canary:
            if record.when == "call" and record.outcome != "failed":
                self.suspicions.append(message("a test that must fail passed"))
        else:
            self._result(record)

    def _result(self, record: Result) -> None:
        test: str = record.test
        outcome: str = record.outcome
        if outcome == "passed":
            # The test may have failed without an exception of its own, such as one that was expected to fail and did
            # not. A report that makes an outcome worse is believed.
            outcome = record.reported if record.reported in ("passed", "skipped") else "failed"
        if outcome in ("failed", "skipped") and record.xfail:
            outcome = "xfailed"
        if outcome == "failed" and record.reported == "passed":
            self.suspicions.append(message(f"the outcome of {test} was changed from failed to passed"))
        if record.answers:
            self._answers.setdefault(test, []).extend(record.answers)
        if outcome == "failed":
            self._messages.setdefault(test, record.message)
            if record.when == "call":
                (self._failed_at if record.assertion else self._raised_at)[test] = record.lines
        previous = self._outcomes.get(test, "missing")
        # A test passes if its set-up, its call and its tear-down pass; the worst of their outcomes counts.
        if record.when == "setup" and outcome == "passed":
            return
        if _RANK.index(outcome) > _RANK.index(previous):
            self._outcomes[test] = outcome


def _authentic(line: str, key: bytes, number: int) -> Record:
    """Return the record of a line that the reporter wrote. Raises BadReply."""
    mark, _, text = line.partition(" ")
    signed = text.encode("utf-8", "replace")
    if not (mark.isascii() and hmac.compare_digest(mark, hmac.new(key, signed, hashlib.sha256).hexdigest())):
        raise BadReply("a line is not signed")
    record = read_record(signed)
    if record.seq != number:
        raise BadReply("a line is missing")
    return record
