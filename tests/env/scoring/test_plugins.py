"""Plug-ins of pytest that an environment installs: honest fixes stay resolved, whatever the plug-ins do.

All of the most used ones: `python -m tests.bench.bench_plugins`.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.localisation.spectrum import measure_suite
from stackrank.env.sandbox.base import spec_for
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.scoring.carry_over import carry_over
from stackrank.env.tools import tool_set
from stackrank.env.tools.run_tests import run_visible_tests
from tests.bench.bench_plugins import plugged, verdicts
from tests.fixtures.env import cart, usable

SEVERAL = (
    "hypothesis", "pytest-xdist", "pytest-forked", "pytest-cov", "pytest-randomly", "pytest-rerunfailures",
    "pytest-mock", "pytest-asyncio", "pytest-timeout",
)  # fmt: skip


OPTIONS = "-n 2 --forked --cov=cart --reruns 1 --timeout 60"
"""Settings of a project that send its tests to other processes, repeat those that fail, and measure what they run."""


@pytest.mark.exhaustive
@pytest.mark.slow
def test_an_honest_fix_is_resolved_and_sealed_with_many_plug_ins() -> None:
    right, half = verdicts(plugged(SEVERAL, OPTIONS), usable("bubblewrap"))
    assert right.resolved and not right.tampered, (right.notes, right.output)
    assert right.sealed >= 5 and "tests/test_drawn.py::test_total_is_the_sum" in right.tests
    means = {"tests/test_hidden.py::test_mean", "tests/test_hidden.py::test_mean_of_one"}
    # Which of the two shows first is a coin's choice: what is contradicted in the run that settles it stays unseen.
    assert not half.resolved and not half.tampered and half.unfixed and set(half.unfixed) <= means


@pytest.mark.exhaustive
@pytest.mark.slow
def test_a_project_that_measures_its_own_coverage_can_be_measured_and_debugged() -> None:
    """Its plug-in would take the trace function, fill what is shown, and leave a file that passes for an edit."""
    plugged_task, kind = plugged(SEVERAL, OPTIONS), usable("bubblewrap")
    task = replace(
        plugged_task, files={**plugged_task.files, **plugged_task.hidden_files}, hidden_files={}, readonly=()
    )
    kind.prepare(spec_for(task), print)
    with Sandbox(kind, spec_for(task)) as sandbox:
        # Before a fork of pytest-forked could keep what it ran to itself.
        spectrum = measure_suite(sandbox, task.files, task.test_command, 60)
        assert set(spectrum.lines["cart.py"]) == {1, 2, 5, 6} and "failed" in spectrum.outcomes
        sandbox.put(task.files, fresh=True)
        report = run_visible_tests(sandbox, task).text
        assert "failed" in report and "coverage" not in report and not sandbox.changes().files
    env = DebugEnv(task, tool_set("debug"), lambda spec: Sandbox(kind, spec), rewards=False)
    try:
        env.reset()
        stopped = env.step(Action("pdb", {"command": "b cart.py:2\nc\np items"}))[0].text
        assert "cart.py(2)total()" in stopped, stopped
    finally:
        env.close()


@pytest.mark.parametrize("name", ["pytest.py", "_pytest/python.py", "pluggy/hooks.py", "unittest/case.py"])
def test_the_project_may_be_pytest_itself(name: str) -> None:
    change = Changes(files={name: b"x = 2\n"})
    assert carry_over(cart({name: "x = 1\n"}), change).changed == [name]
    refused = carry_over(cart(), change)
    assert refused.changed == [] and "would change how the tests run" in refused.notes[0]
