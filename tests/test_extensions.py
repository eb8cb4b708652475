"""The core's quick tests pass without any extension, and those of each extension without the others.

So they pass with any one extension hidden: nothing is needed then that was not there here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytest import ExitCode

from tests.support.hide import EXTENSIONS

ROOT = Path(__file__).parents[1]
KNOW_NONE = (
    "agents/endpoints",
    "agents/llm",
    "agents/repairs",
    "dashboard/pages/test_bad_input.py",
    "dashboard/pages/test_number_forms.py",
    "dashboard/pages/test_story.py",
    "dashboard/pages/test_trace.py",
    "db",
    "env/benchmarks/test_guessed_commands.py",
    "env/guest",
    "env/sandbox",
    "env/scoring",
    "env/test_patched_trees.py",
    "env/test_plain_repositories.py",
    "flows/playing/test_admission.py",
    "ground",
    "host",
    "test_dependencies.py",
    "test_deploy.py",
    "test_docs.py",
    "test_layout.py",
)
"""Rooms and files that ask no extension point, or only that of tools, as every test does. Their tests are imported;
`make test` runs them."""


@pytest.mark.exhaustive
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("visible", ["", *EXTENSIONS])
def test_quick_tests_pass_alone(visible: str) -> None:
    selected = (
        [f"tests/extensions/{visible}"] if visible else ["tests", *(f"--deselect=tests/{room}" for room in KNOW_NONE)]
    )
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-p", "tests.support.hide", "-p", "no:cacheprovider"),
        *("-m", "not slow and not exhaustive", *selected),
    ]
    hidden = ",".join(sorted({*EXTENSIONS} - {visible}))
    # It is no part of the session whose worker starts it, and shares none of its folders.
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {**variables, "HIDE_EXTENSION": hidden}
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    # An extension may have slow tests alone. What is imported has been imported then.
    assert process.returncode in (ExitCode.OK, ExitCode.NO_TESTS_COLLECTED), (
        process.stdout[-5000:] + process.stderr[-2000:]
    )
