"""What `stackrank benchmarks` and `stackrank validate` do where a plug-in cannot be loaded."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from stackrank import plugins
from stackrank.db.connection.engine import connect
from stackrank.env import difficulty
from stackrank.env.benchmarks import registry
from stackrank.flows.runs.preparing.catalogue import benchmark_rows
from stackrank.flows.runs.preparing.validation import _find_measure
from tests.fixtures.flows import database

__all__ = ["database"]


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plug-in of each kind whose module is missing."""
    points = [EntryPoint("measure", "hidden:x", difficulty.GROUP), EntryPoint("secret", "hidden:x", registry.GROUP)]
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point for point in points if point.group == group])


@pytest.mark.usefixtures("database", "hidden")
def test_the_catalogue_lists_a_broken_benchmark_with_its_problem() -> None:
    rows = {row["benchmark"]: row for row in benchmark_rows(connect())}
    assert rows["bugs"]["problem"] == "" and rows["bugs"]["tasks"]
    assert "the plug-in 'secret'" in rows["secret"]["problem"] and rows["secret"]["tasks"] is None


@pytest.mark.usefixtures("hidden")
def test_tasks_are_validated_without_measuring() -> None:
    messages: list[str] = []
    assert _find_measure(messages.append, False) is None
    assert "difficulty of tasks is not measured: the plug-in 'measure'" in messages[0]
