"""Checking a run changes nothing; building it prepares what it needs, and tells whoever asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from stackrank.env.benchmarks.base import TaskByTask
from stackrank.env.environment import Environment
from stackrank.env.sandbox.base import BuildError, SandboxSpec, Say, silent
from stackrank.env.sandbox.local import LocalBackend
from stackrank.env.task import Task
from stackrank.flows.runs.preparing.prepared_run import build, check
from stackrank.flows.runs.specification.spec import SpecError, make_spec
from tests.fixtures.env import make_task


class Spy(LocalBackend):
    """Notes what it is asked to build, and builds nothing."""

    def __init__(self) -> None:
        self.built: list[str] = []

    def prepare(self, spec: SandboxSpec, say: Say = silent) -> None:
        """Fails for one of the environments."""
        assert spec.environment is not None
        self.built += spec.environment.requirements
        say(f"building {spec.environment.requirements[0]}")
        if "broken" in spec.environment.requirements:
            raise BuildError("there is no such package")


def test_check_builds_and_prints_nothing_but_build_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [make_task({"a.py": ""}, id=name, environment=Environment("", (name,))) for name in ("sound", "broken")]
    benchmark = SimpleNamespace(name="two", license="", source="", tasks=lambda: tasks, excluded=dict)
    spy, messages = Spy(), list[str]()
    monkeypatch.setattr("stackrank.flows.runs.preparing.prepared_run.load_benchmark", lambda *_: benchmark)
    monkeypatch.setattr("stackrank.flows.runs.preparing.prepared_run.chosen_backend", lambda _: spy)
    spec = make_spec({"benchmark": "two", "entrants": [{"agent": "random"}]}, "the test")
    checked = check(spec)
    assert [task.id for task in checked.tasks] == ["sound", "broken"] and not spy.built
    assert tuple(capsys.readouterr()) == ("", "")
    prepared = build(checked, messages.append)
    assert [task.id for task in prepared.tasks] == ["sound"]
    assert prepared.left_out == {"broken": "there is no such package"}
    assert sorted(spy.built) == ["broken", "sound"] and sorted(messages) == ["building broken", "building sound"]
    tasks.pop(0)
    with pytest.raises(SpecError, match="no task is left: there is no such package"):
        build(check(spec), messages.append)


class Few(TaskByTask):
    """A benchmark with less than was wanted."""

    name, license, source = "few", "", ""

    def _entries(self) -> Iterator[tuple[str, Callable[[], Task] | str]]:
        self.notes = ("it has only 1 of the 3 tasks that were wanted",)
        yield "one", lambda: make_task({"a.py": ""}, id="one")


def test_notes_about_the_tasks_are_printed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    messages: list[str] = []
    monkeypatch.setattr("stackrank.flows.runs.preparing.prepared_run.load_benchmark", lambda *_: Few())
    monkeypatch.setattr("stackrank.flows.runs.preparing.prepared_run.chosen_backend", lambda _: Spy())
    build(check(make_spec({"benchmark": "few", "entrants": [{"agent": "random"}]}, "the test")), messages.append)
    assert messages == ["it has only 1 of the 3 tasks that were wanted"]
