"""The jobs of the runner: try changes against the tests, and compare them with the fix."""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
from typing import Any

from .plugins import Calls, Tries
from .probes import Probes
from .processes import put, run
from .swapping import Swapping

_PATIENCE = 6
"""A run may take this many times its processor time, because the machine may be busy with other work."""
_DETERMINISM = f"{__package__}.pytest_determinism"  # it comes from the sandbox's own files
_OPTIONS = ["--assert=plain", "--tb=no", "-p", "no:cacheprovider", "-p", "no:faulthandler", "-p", _DETERMINISM, "-s"]


def each_change(job: dict[str, Any], arguments: list[str], plugin: Any, limits: tuple[float, float]) -> list[Any]:
    """Return the answer of `plugin` for each change; None if there is no time left."""
    until = time.monotonic() + job["budget_s"]
    put(job["fixed"])
    swapping = Swapping(job["fixed"], job["candidates"], *limits, until)
    answers = run(arguments, [swapping, plugin], job["budget_s"], job["budget_s"] + job["timeout_s"])
    return answers if isinstance(answers, list) else [None] * len(job["candidates"])


def try_all(job: dict[str, Any]) -> dict[str, Any]:
    """Return which changes pass (None: there was no time), how many tests there are with the fix, and `calls`."""
    arguments = [*_OPTIONS, *job["arguments"]]
    plugin = Tries(job["must_pass"], job["may_skip"])
    limit, wall = job["timeout_s"], _PATIENCE * job["timeout_s"]
    put(job["fixed"])
    # None: no test is visible that a special case could be made for.
    visible = job["visible"]
    calls = [] if visible is None else run([*_OPTIONS, *visible], Calls(job["functions"]), limit, wall)
    began, used_s = time.monotonic(), sum(os.times()[2:4])
    tests = run(arguments, plugin, limit, wall)
    limits = 0.5 + 4 * (sum(os.times()[2:4]) - used_s), 5.0 + _PATIENCE * (time.monotonic() - began)
    until = time.monotonic() + 2 * job["budget_s"]
    passed: list[Any] = []
    if isinstance(tests, int) and tests:
        for files, result in zip(job["candidates"], each_change(job, arguments, plugin, limits)):
            if time.monotonic() > until:
                passed.append(None)
                continue
            if result is None or passes(result):
                put(files)
                result = run(arguments, plugin, *limits)
            passed.append(passes(result))
    return {
        "tests": tests if isinstance(tests, int) else 0,
        "calls": calls if isinstance(calls, list) else [],
        "passed": passed,
    }


def passes(result: Any) -> bool:
    """Whether an answer of `Tries` means that the tests pass."""
    return isinstance(result, int) and result > 0


def compare(job: dict[str, Any]) -> dict[str, Any]:
    """Return how the changes differ from the fix on other inputs: what the first test that differs sees, or None."""
    arguments = [*_OPTIONS, *job["arguments"]]
    seconds = job["timeout_s"]
    limits = 2 * seconds, _PATIENCE * seconds
    put(job["fixed"])
    once = run(arguments, Probes(seconds), *limits)
    twice = run(arguments, Probes(seconds, once), *limits) if isinstance(once, dict) else None
    if not isinstance(twice, dict):
        return {"differ": [], "tests": 0}
    stable = {key: trace for key, trace in twice.items() if once[key] == trace}
    plugin = Probes(seconds, stable, compare=True)
    answers = each_change(job, arguments, plugin, limits)
    differ: list[Any] = []
    for files, first in zip(job["candidates"], answers):
        if isinstance(first, dict) or first is None:
            put(files)
            repeated = run(arguments, plugin, *limits)
            first = repeated if isinstance(repeated, dict) and (first is None or repeated == first) else None
        differ.append(first if isinstance(first, dict) else None)
        if sum(difference is not None for difference in differ) >= job["enough"]:
            break
    return {"differ": differ, "tests": len(stable)}


def main(file: str) -> None:
    """Do the job in a file, and write the answer next to it."""
    with open(file, encoding="utf-8") as handle:
        job = json.load(handle)
    sys.path[0] = os.getcwd()
    sys.dont_write_bytecode = True  # files change within a second
    importlib.import_module("pytest")
    from _pytest.config import default_plugins

    for name in default_plugins:
        importlib.import_module(f"_pytest.{name}")
    workspace_names = {name.partition(".")[0] for name in os.listdir(".")}
    for name in [module for module in sys.modules if module.partition(".")[0] in workspace_names]:
        del sys.modules[name]  # so that the workspace's module of the same name is imported
    gc.freeze()
    result = compare(job) if job["compare"] else try_all(job)
    with open(f"{file}.answer", "w", encoding="utf-8") as handle:
        json.dump(result, handle)
