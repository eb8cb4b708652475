"""The wheel contains what comes with tasks, and coexists with a package that uses the generic name `agents`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

from stackrank.env.benchmarks.verdict_rates import CHANGES, RATES
from tests.fixtures.env import usable
from tests.support.packages import pip

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PLAY = """
from dataclasses import replace
import agents
import stackrank.agents
from stackrank.agents.episode.loop import Budget, play
from stackrank.agents.oracle import Oracle
from stackrank.env.benchmarks.registry import load_benchmark
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.env.tools import tool_set

print(agents.__file__, stackrank.__file__)
agents.Agent(name="somebody else's")
task = load_benchmark("bugs").tasks()[0]
task = replace(task, limits=replace(task.limits, timeout_s=300))  # however busy the machine is
with DebugEnv(task, tool_set("debug"), lambda spec: Sandbox(backend("bubblewrap"), spec)) as env:
    outcome = play(env, Oracle(task=task), budget=Budget(steps=20), record=lambda step: None)
assert outcome.score is not None and outcome.score.resolved, outcome
print(outcome.stop_reason)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of what git lists."""
    folder = tmp_path_factory.mktemp("wheel")
    # A copy, because building writes into the source.
    names = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False)
    if names.returncode:
        pytest.skip("not a git clone")
    for name in filter(None, names.stdout.split("\0")):
        if (ROOT / name).exists():  # one that is deleted and not yet committed is still listed
            (folder / "source" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / "source" / name, follow_symlinks=False)
    pip("wheel", "--no-deps", "--no-build-isolation", "--no-index", "-w", folder, folder / "source")
    (wheel,) = folder.glob("stackrank-*.whl")
    return wheel


@pytest.fixture(scope="module")
def python(wheel: Path) -> Path:
    """The interpreter of a fresh environment with the wheel and `openai-agents`."""
    folder = wheel.parent
    venv.create(folder / "venv")
    python = folder / "venv" / "bin" / "python"
    pip("install", "--no-deps", "--no-index", "--no-compile", wheel, python=python)
    # What stackrank needs comes from this environment, so that nothing large is fetched. Paths of editable installs are
    # not followed from there: stackrank itself is the wheel's.
    (site,) = (folder / "venv" / "lib").glob("python3*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    try:
        pip("install", "--no-compile", "--retries", "1", "--timeout", "15", "openai-agents", python=python)
    except AssertionError as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"openai-agents cannot be fetched: {str(error).strip().splitlines()[-1]}")
    return python


@pytest.mark.exhaustive
def test_wheel_coexists_with_openai_agents(python: Path, tmp_path: Path) -> None:
    usable("bubblewrap")
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    completed = subprocess.run(
        [str(python), "-c", PLAY], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr
    theirs, ours, stop_reason = completed.stdout.split()
    packages = python.parents[1] / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"
    assert Path(theirs) == packages / "agents" / "__init__.py" and Path(ours) == packages / "stackrank" / "__init__.py"
    assert stop_reason in ("solved", "submitted")


@pytest.mark.exhaustive
def test_labelled_changes_and_rates_come_with_their_tasks(wheel: Path) -> None:
    listed = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True)
    expected = {f"stackrank/{name}" for name in listed.stdout.split("\0") if Path(name).name in (CHANGES, RATES)}
    assert {str(Path(name).parent) for name in expected} >= {
        "stackrank/env/benchmarks/bugs",
        "stackrank/extensions/authoring/benchmarks/deep",
    }
    assert expected <= set(ZipFile(wheel).namelist())
