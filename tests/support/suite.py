"""Run the whole suite, then repeat each failed test once in a session of its own.

More processes of tests than there are processors share these with engines, browsers and servers. A failure that one
of thousands of tests has by chance there is a fault of the test, which the last lines name so that it gets fixed; a
failure that comes twice, or more than a few of them, end the suite as failed. A line at the end counts the tests of all
sessions.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support import covered

MOST = 5
"""How many failures may be chance. More of them have a cause."""
CACHE = ".suite_cache"
"""Where pytest notes what failed: a folder of its own, since a session by hand, meanwhile or before, notes that too."""
REPORT = Path(CACHE, "report.xml")
"""What a session counts, with the seconds of each test."""
AGAIN = Path(CACHE, "again.xml")
"""The same of a session that repeats one test."""
MEASURED = ("-p", "tests.support.covered")
"""The options that measure which lines are run."""


def run(*options: str, report: Path = REPORT) -> int:
    """Run pytest, and return its exit status. SIGTERM is handed on; Ctrl-C reaches both by itself."""
    report.unlink(missing_ok=True)
    report_options = ("-o", f"cache_dir={CACHE}", f"--junitxml={report}")
    with subprocess.Popen([sys.executable, "-m", "pytest", *report_options, *options]) as session:
        signal.signal(signal.SIGTERM, lambda *_: session.terminate())
        signal.signal(signal.SIGINT, lambda *_: None)
        return session.wait()


def failed() -> list[str]:
    """The tests that failed in the last session."""
    noted = Path(CACHE, "v/cache/lastfailed")
    return sorted(json.loads(noted.read_text())) if noted.exists() else []


def counted(report: Path = REPORT) -> Counter[str]:
    """How many tests of a session passed, failed and were skipped."""
    if not report.exists():
        return Counter()
    suite = next(ElementTree.parse(report).iter("testsuite"))
    failed, skipped = int(suite.attrib["failures"]) + int(suite.attrib["errors"]), int(suite.attrib["skipped"])
    return Counter(passed=int(suite.attrib["tests"]) - failed - skipped, failed=failed, skipped=skipped)


def main(options: list[str]) -> int:
    """Run the tests. Returns pytest's exit status, of the second session where there was one, or that of `covered`."""
    if MEASURED[1] not in options:
        return sessions(options)
    covered.forget()
    return sessions(options, *MEASURED) or covered.report()


def compile_tests() -> None:
    """Import all tests once, where none was imported before: every process of a session would compile all of them."""
    if Path("tests/fixtures/__pycache__").exists():
        return
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)  # the session itself reports what fails


def sessions(options: list[str], *failed_tests: str) -> int:
    """Run the tests, and where a few fail, run each of these once more, alone, with the options `failed_tests`."""
    compile_tests()
    status = run("--cache-clear", *options)
    counts, tests = counted(), failed()
    chance = status == pytest.ExitCode.TESTS_FAILED and 0 < len(tests) <= MOST
    if chance:
        print(f"\n{len(tests)} failed. Once more, each alone:", flush=True)
        counts["failed"], status = 0, pytest.ExitCode.OK
        for test in tests:
            status = run(*failed_tests, test, report=AGAIN) or status
            counts += counted(AGAIN)
    if chance and status == pytest.ExitCode.OK:
        print(
            "\nThese tests failed in the full session and passed alone. They depend on chance or load and need fixing:"
        )
        print("\n".join(f"  {test}" for test in tests), flush=True)
    print(f"\n{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
