"""Reads `go test -json` and `go test -v`."""

from __future__ import annotations

import json
import re

from stackrank.extensions.languages.results.outcomes import Outcomes

_OUTCOMES = {"pass": "passed", "fail": "failed", "skip": "skipped"}
_RUN = re.compile(r"=== RUN +(\S+)$")
_END = re.compile(r"--- (PASS|FAIL|SKIP): (\S+) \([\d.]+s\)$")
_PACKAGE = re.compile(r"(?:ok|FAIL)\s+(\S+)\s")


def read_go(output: str) -> dict[str, str]:
    """Return the outcome of each test and subtest, as `package::Test/subtest`."""
    return _read_events(output) or _read_text(output)


def _read_events(output: str) -> Outcomes:
    """Read the events of https://pkg.go.dev/cmd/test2json; a test that began and did not end is missing.

    Before Go 1.20 there is no event for the end of a test that prints without a line's end: the text says how it ended.
    """
    outcomes, ended, said = Outcomes(), Outcomes(), Outcomes()
    for line in output.splitlines():
        if not line.startswith('{"'):
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        action, test = event.get("Action"), f"{event.get('Package', '')}::{event.get('Test', '')}"
        if "Test" in event and action == "run":
            outcomes.setdefault(test, "missing")
        elif "Test" in event and action in _OUTCOMES:
            ended.add(test, _OUTCOMES[action])
        elif action == "output" and (match := _END.search(str(event.get("Output")).rstrip("\n"))):
            said.add(f"{event.get('Package', '')}::{match[2]}", _OUTCOMES[match[1].lower()])
    return Outcomes({**outcomes, **said, **ended})


def _read_text(output: str) -> Outcomes:
    """Read the text for people. A package is named below its tests."""
    outcomes, tests = Outcomes(), Outcomes()
    for line in output.splitlines():
        if match := _RUN.match(line):
            tests.setdefault(match[1], "missing")
        elif match := _END.search(line):
            tests[match[2]] = _OUTCOMES[match[1].lower()]
        elif match := _PACKAGE.match(line):
            outcomes.update({f"{match[1]}::{test}": outcome for test, outcome in tests.items()})
            tests.clear()
    return outcomes
