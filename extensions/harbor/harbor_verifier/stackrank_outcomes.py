"""A plug-in of pytest that writes down the outcome of each test, and a program that turns them into a reward."""

import json
import os
import sys
from pathlib import Path
from typing import Any, Dict  # noqa: UP035

OUTCOMES: Dict[str, str] = {}  # noqa: UP006 (of any Python)


def pytest_runtest_logreport(report: Any) -> None:
    """Note an outcome: a failure anywhere counts."""
    if (report.when == "call" or report.outcome != "passed") and OUTCOMES.get(report.nodeid) != "failed":
        OUTCOMES[report.nodeid] = report.outcome


def pytest_sessionfinish() -> None:
    """Write the outcomes."""
    Path(os.environ["OUTCOMES"]).write_text(json.dumps(OUTCOMES), encoding="utf-8")


def main(status: str, lists: str, outcomes: str) -> None:
    """Print 1 if every test that has to pass did; without lists, if the command succeeded. Else print 0.

    A test that passed before may be skipped now.
    """
    listed = json.loads(Path(lists).read_text(encoding="utf-8"))
    try:
        reported = json.loads(Path(outcomes).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        reported = {}
    good = [reported.get(test) == "passed" for test in listed["fail_to_pass"]]
    good += [reported.get(test) in ("passed", "skipped") for test in listed["pass_to_pass"]]
    print(int(all(good) if good else status == "0"))


if __name__ == "__main__":
    main(*sys.argv[1:])
