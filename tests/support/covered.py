"""Line coverage of the tests, measured by slipcover in every process of a session and summed at the end.

    python -m pytest -p tests.support.covered ... && python -m tests.support.covered

coverage.py nearly doubles the processor time of the tests, since Python 3.11 runs every instruction more slowly while a
trace function is set. slipcover puts a probe before each line of the code that is measured.

Only what the processes of the tests run themselves: measuring those that they start would mostly measure the imports of
Prefect, and nearly all of what they run is run by other tests too.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from slipcover import FileMatcher, ImportManager, Slipcover, merge_coverage, print_coverage

LEAST = 90
"""Per cent of the lines that the tests have to run."""
ROOT = Path(__file__).parents[2]
FOUND = ROOT / ".suite_cache/covered"
"""One file for each process that measured."""
PACKAGE = ROOT / "src/stackrank"
OMITTED = [
    "*/env/benchmarks/bugs/*",
    "*/db/migrations/versions/*",
    # These run inside sandboxes, from memory, where no measurement reaches; every test in tests/env exercises them.
    "*/env/sandbox/guest/*",
    "*/extensions/authoring/audit/guest/*",
    "*/extensions/repair/probe.py",
]
EXCLUDED = [r"\.\.\.$"]
"""Lines that are no statements of their own, besides slipcover's own defaults."""


_measuring = Slipcover(exclude_also=EXCLUDED, d_miss_threshold=2**31 - 1)
"""Never changes code back: looking for all functions of a thousand modules costs more than its probes do, and Python
before 3.12 may wait for itself for ever meanwhile (CPython's issue 106883)."""
_ours = FileMatcher([PACKAGE, *filter(Path.is_symlink, PACKAGE.iterdir())], OMITTED)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests() -> None:
    """Measure what is imported from now on: conftest.py imports the package."""
    ImportManager(_measuring, _ours).__enter__()


def pytest_collection_finish() -> None:
    """Measure the dashboard's pages too, which Streamlit compiles by itself."""
    if "streamlit" not in sys.modules:
        return
    from streamlit.runtime.scriptrunner.script_cache import ScriptCache

    compiled = ScriptCache.get_bytecode

    def measured(cache: ScriptCache, path: str) -> Any:
        code = compiled(cache, path)
        return _measuring.instrument(code) if _ours.matches(path) else code

    ScriptCache.get_bytecode = measured  # type: ignore[method-assign]


def pytest_sessionfinish() -> None:
    """Save the measured lines."""
    FOUND.mkdir(parents=True, exist_ok=True)
    (FOUND / f"{os.getpid()}.json").write_text(json.dumps(_measuring.get_coverage()))


def forget() -> None:
    """Remove the measurements of earlier sessions."""
    shutil.rmtree(FOUND, ignore_errors=True)


def report() -> int:
    """Print which lines no session ran. Exit status 1 where there are too many of them."""
    coverage = Slipcover(source=[str(PACKAGE)], omit=OMITTED, exclude_also=EXCLUDED).get_coverage()
    for file in FOUND.glob("*.json"):
        merge_coverage(coverage, json.loads(file.read_text()))
    print_coverage(coverage, skip_covered=True, missing_width=60)
    covered = coverage["summary"]["percent_covered"]
    print(f"{covered:.1f}% of the lines are run by tests; it has to be {LEAST}%", flush=True)
    return int(covered < LEAST)


if __name__ == "__main__":
    sys.exit(report())
