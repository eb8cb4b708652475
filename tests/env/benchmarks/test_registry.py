"""Benchmarks of plug-ins, in the registry and in the catalogue."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from stackrank import plugins
from stackrank.env.benchmarks import registry
from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.bug_suite import BugSuite
from stackrank.env.benchmarks.registry import GROUP, benchmark_names, load_benchmark
from stackrank.errors import PluginError


def register(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point for point in points if point.group == group])


def test_a_plugin_is_found_after_the_built_in_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, EntryPoint("mine", f"{BugSuite.__module__}:BugSuite", GROUP))
    assert benchmark_names() == [*registry.BUILT_IN, "mine"]
    assert isinstance(load_benchmark("mine"), BugSuite)
    with pytest.raises(BenchmarkError, match=r"there is no benchmark 'other': choose one of bugs, .*, mine"):
        load_benchmark("other")


def test_a_plugin_that_cannot_be_imported_spoils_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, EntryPoint("hidden", "stackrank.extensions.hidden:Hidden", GROUP))
    with pytest.raises(PluginError, match=r"the plug-in 'hidden' .*No module named 'stackrank\.extensions\.hidden'"):
        load_benchmark("hidden")
    assert load_benchmark("bugs").name == "bugs"
