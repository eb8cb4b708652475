"""Who is to blame when a sandbox is lost: what ran in it, or the machine."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import psutil
import pytest

from stackrank.agents.episode.failure_point import diagnose
from stackrank.agents.episode.step import Step
from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import (
    GuestBug,
    MachineBusy,
    PreparationFailed,
    Refused,
    SandboxClosed,
    SandboxError,
    SandboxSpec,
)
from stackrank.env.sandbox.client import Changes, CommandResult, Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.terms import FailurePoint, StopReason
from tests.fixtures.env import EVERYTHING, make_task

FILES: dict[str, bytes | str] = {
    "a.py": "x = 1\n",
    "tests/test_a.py": "import a\n\n\ndef test():\n    assert a.x == 2\n",
}


class Fragile:
    """Sandboxes that are killed from outside while they run a command or a scoring run, as often as is said."""

    def __init__(self, deaths: int, *, when: str, working: int = 1000) -> None:
        """`when`: the method; `working`: how many sandboxes can be started at all."""
        self.deaths, self.when, self.working = deaths, when, working

    def __call__(self, spec: SandboxSpec) -> Sandbox:
        if self.working <= 0:
            raise SandboxError("the engine is gone")
        self.working -= 1
        sandbox = Sandbox(backend("local"), spec)
        original: Callable[..., CommandResult] = getattr(sandbox, self.when)

        def dying(*arguments: object, **options: object) -> CommandResult:
            if self.deaths > 0 and (self.when != "test" or options.get("score")):
                self.deaths -= 1
                with contextlib.suppress(psutil.NoSuchProcess):
                    psutil.Process(sandbox._channel._child.pid).kill()  # type: ignore[attr-defined]
            return original(*arguments, **options)

        setattr(sandbox, self.when, dying)
        return sandbox


def played(fragile: Fragile) -> DebugEnv:
    env = DebugEnv(make_task(FILES), EVERYTHING, fragile, rewards=False)
    env.reset()
    return env


def test_a_sandbox_that_is_lost_once_is_made_again_with_what_was_done_in_it() -> None:
    with played(Fragile(1, when="run")) as env:
        env.step(Action("bash", {"command": "true"}))
        observation, *_ = env.step(Action("bash", {"command": "echo kept > made; cat made"}))
        assert "kept" in observation.text
        observation, *_ = env.step(Action("bash", {"command": "cat made"}))
        assert "kept" in observation.text and env.over is None


def test_what_loses_two_sandboxes_in_a_row_is_to_blame() -> None:
    with played(Fragile(2, when="run")) as env:
        observation, _, terminated, _, _ = env.step(Action("bash", {"command": "true"}))
        assert terminated and env.over is StopReason.SANDBOX_LOST and not observation.ok
        assert not env.score().resolved and "ended" in env.score().notes[0]
        failure = diagnose(env.task, [Step(0, None, observation)], env.score(), env.over)
        assert failure.failure_point is FailurePoint.BROKE_SANDBOX


def test_where_no_sandbox_can_be_made_the_machine_is_to_blame() -> None:
    with played(Fragile(1, when="run", working=1)) as env, pytest.raises(SandboxError, match="engine is gone"):
        env.step(Action("bash", {"command": "true"}))


@pytest.mark.parametrize("when", ["run", "test"])
def test_a_sandbox_that_we_close_is_not_the_guests_fault(when: str, caplog: pytest.LogCaptureFixture) -> None:
    opened: list[Sandbox] = []

    def new(spec: SandboxSpec) -> Sandbox:
        opened.append(Sandbox(backend("local"), spec))
        return opened[-1]

    with DebugEnv(make_task({**FILES, "a.py": "import time\ntime.sleep(60)\n"}), EVERYTHING, new, rewards=False) as env:
        if when == "run":
            env._open_bench()
            threading.Timer(1, lambda: opened[-1].close()).start()
            with pytest.raises(SandboxClosed, match="was closed"):
                env.step(Action("bash", {"command": "sleep 60"}))
        else:
            threading.Timer(1, lambda: opened[-1].close()).start()
            with pytest.raises(SandboxClosed, match="was closed"):
                env.judge(Changes())
    assert not caplog.records


def test_tests_that_end_their_sandbox_leave_the_bug_unfixed() -> None:
    with played(Fragile(2, when="test")) as env:
        score = env.score()
        assert not score.resolved and "ended" in score.notes[0]


def test_a_busy_machine_is_never_the_entrants_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: object) -> None:
        raise MachineBusy("this machine is too busy to judge")

    monkeypatch.setattr("stackrank.env.debug_env.score", busy)
    with played(Fragile(0, when="run")) as env, pytest.raises(MachineBusy):
        env.score()


@pytest.mark.parametrize("failure", [SandboxError("ended"), GuestBug("a bug"), Refused("no room")])
def test_a_proof_that_cannot_be_made_is_nobodys_lost_sandbox(
    failure: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise failure

    monkeypatch.setattr("stackrank.env.scoring.verdict.find_proof", lambda task: None)
    monkeypatch.setattr("stackrank.env.scoring.verdict.prove", fails)
    fix = make_diff({"a.py": b"x = 1\n"}, {"a.py": b"x = 2\n"})
    env = DebugEnv(make_task(FILES, fix=fix), EVERYTHING, lambda spec: Sandbox(backend("local"), spec))
    with pytest.raises(PreparationFailed, match=f"could not prove the contradictions of mini: {failure}"):
        env.judge(Changes(files={"a.py": b"x = 2\n"}))
    assert not env.judge(Changes(files={"a.py": b"x = 3\n"})).resolved, "where nothing has to be proved, nothing fails"


def test_a_task_whose_files_no_sandbox_takes_is_nobodys_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise Refused("a name is too long")

    monkeypatch.setattr(Sandbox, "put", refused)
    with pytest.raises(PreparationFailed, match="files of mini cannot be written into a sandbox: a name is too long"):
        played(Fragile(0, when="run"))


def test_a_sandbox_that_is_lost_after_a_branch_is_made_again_as_it_stood_there() -> None:
    with played(Fragile(0, when="run")) as env:
        for name in ("left", "kept"):
            env.step(Action("bash", {"command": f"echo {name} > {name}"}))
            if name == "left":
                assert env.step(Action("branch", {"at": 0}))[0].ok
        with contextlib.suppress(psutil.NoSuchProcess):
            psutil.Process(env.sandbox._channel._child.pid).kill()  # type: ignore[attr-defined]
        observation, *_ = env.step(Action("bash", {"command": "ls"}))
        assert "kept" in observation.text and "left" not in observation.text and env.over is None
