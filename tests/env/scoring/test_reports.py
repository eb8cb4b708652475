"""Reports of tests from a sandbox: which are believed, and what they say."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from stackrank.env.scoring.report import parse

KEY = b"k" * 32


def line(record: dict[str, object], key: bytes = KEY) -> str:
    text = json.dumps(record)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest() + " " + text


def result(seq: int, **changes: object) -> dict[str, object]:
    base: dict[str, object] = {"test": "t", "canary": False, "when": "call", "outcome": "passed", "xfail": False}
    return {
        **base,
        "reported": "passed",
        "message": "",
        "assertion": True,
        "lines": [],
        "answers": [],
        "seq": seq,
        **changes,
    }


def test_report_that_is_right() -> None:
    end = {"finished": 0, "seq": 2}
    report = parse("\n".join([line({"collected": ["t"], "seq": 0}), line(result(1)), line(end)]), KEY)
    assert (dict(report.outcomes), report.complete, report.suspicions) == ({"t": "passed"}, True, ())


@pytest.mark.parametrize(
    "lines",
    [
        ["3 passed in 0.1s"],
        [line(result(0), b"other")],
        [line(result(1))],
        [line(result(0)), line(result(0))],
        [line({"seq": 0})],
        [line({"finished": 0})],
        [line({"collected": 3, "seq": 0})],
        [line(result(0, outcome=["passed"]))],
        [line(result(0, outcome="failed", lines="here"))],
        [line(result(0, canary=True))],
        [line(result(0, answers=["7"]))],
        [line(result(0, answers=["x = 7"]))],
        [line(result(0, answers=["3 ~a,b 7"]))],
        [line(result(0, outcome="failed", reported="passed"))],
        [line({"suspicion": "something", "seq": 0})],
    ],
)
def test_report_that_is_not(lines: list[str]) -> None:
    assert parse("\n".join(lines), KEY).suspicions


def test_worst_part_of_a_test_counts() -> None:
    lines = [line(result(0, outcome="failed", reported="failed", message="E")), line(result(1))]
    report = parse("\n".join(lines), KEY)
    assert (report.outcomes["t"], report.messages["t"], report.complete) == ("failed", "E", False)
