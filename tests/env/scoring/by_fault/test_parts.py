"""A task with several faults: each is judged by its own tests, whatever becomes of the others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from stackrank.agents.episode.mending import judged_faults
from stackrank.agents.episode.step import Step, Usage
from stackrank.env.actions import Action, Observation
from stackrank.env.debug_env import DebugEnv
from stackrank.env.patches import make_diff
from stackrank.env.sandbox.base import Backend, SandboxError
from stackrank.env.sandbox.client import Changes, CommandResult, Sandbox
from stackrank.env.scoring.by_fault.parts import with_faults
from stackrank.env.scoring.verdict import NewSandbox, score
from stackrank.env.state import EditState
from stackrank.env.task import Limits, Part, Task
from stackrank.env.tools import tool_set
from stackrank.env.validate import Standing, try_once
from tests.env.scoring.test_scoring import FIXED, HIDDEN
from tests.fixtures.env import CART, cart, make_task, source

FOLDERS = ("north", "south", "west")


def _shop() -> Task:
    fix = make_diff({"cart.py": source(CART)}, {"cart.py": FIXED})
    task = cart(hidden_files={"tests/test_hidden.py": HIDDEN}, fix=fix, limits=Limits(timeout_s=5))
    return replace(task, files={**task.files, "cart.py": source(CART)}, score_command="python -m pytest -q tests")


@pytest.fixture
def several() -> Task:
    """Three shops in one workspace, each with the same fault."""
    parts = tuple(Part(folder, folder, replace(_shop(), id=folder)) for folder in FOLDERS)
    files = {f"{part.folder}/{path}": content for part in parts for path, content in part.task.files.items()}
    command = "python -m pytest -q --import-mode=importlib"
    return replace(
        _shop(), id="three", files=files, hidden_files={}, parts=parts, test_command=command, shows_bug=False
    )


@pytest.fixture
def new_sandbox(sandbox_backend: Backend) -> NewSandbox:
    return lambda spec: Sandbox(sandbox_backend, spec)


def test_a_fault_that_hangs_or_is_forged_says_nothing_about_the_others(several: Task, new_sandbox: NewSandbox) -> None:
    always_equal = (
        b"class Any(int):\n    def __eq__(self, other):\n        return True\n    __hash__ = int.__hash__\n\n\n"
    )
    forged = always_equal + b"def total(items):\n    return Any()\n\n\ndef average(items):\n    return Any()\n"
    hanging = b"while True:\n    pass\n"
    changes = {"north/cart.py": hanging, "south/cart.py": FIXED, "west/cart.py": forged}
    verdict = score(several, Changes(files=changes), new_sandbox)
    assert [fault.mended for fault in verdict.faults] == [False, True, False]
    assert verdict.mended == (1, 3) and not verdict.resolved and verdict.tampered and verdict.timed_out
    assert verdict.faults[1].sealed > 0 and verdict.sealed == 0
    assert any(note.startswith("west: ") for note in verdict.notes)
    assert "south/tests/test_hidden.py::test_empty" in verdict.tests


class _Losing(Sandbox):
    """A sandbox that a program of the entrant's takes down."""

    def test(self, *arguments: Any, **options: Any) -> CommandResult:
        if b"takes the sandbox down" in self.read("cart.py"):
            raise SandboxError("the sandbox is gone")
        return super().test(*arguments, **options)


def test_a_fault_that_loses_its_sandboxes_says_nothing_about_the_others(
    several: Task, sandbox_backend: Backend
) -> None:
    changes = {"north/cart.py": FIXED + b"# takes the sandbox down\n", "south/cart.py": FIXED}
    with DebugEnv(several, tool_set("rewrite"), lambda spec: _Losing(sandbox_backend, spec)) as env:
        verdict = env.judge(Changes(files=changes))
    assert [fault.mended for fault in verdict.faults] == [False, True, False]
    assert any(note.startswith("north: nothing could be scored") for note in verdict.notes)


def test_all_mended_is_resolved_and_nothing_changed_is_nothing_mended(several: Task, new_sandbox: NewSandbox) -> None:
    fixed = {f"{folder}/cart.py": FIXED for folder in FOLDERS}
    verdict = score(several, Changes(files=fixed), new_sandbox)
    assert verdict.resolved and verdict.mended == (3, 3) and verdict.verified
    assert verdict.sealed == min(fault.sealed for fault in verdict.faults) > 0
    untouched = score(several, Changes(), new_sandbox)
    assert untouched.mended == (0, 3) and not untouched.resolved
    outside = score(several, Changes(files={"cart.py": FIXED, "northern/cart.py": b""}), new_sandbox)
    assert outside.mended == (0, 3) and len(outside.notes) == 2 and "belongs to no fault" in outside.notes[0]


def test_validation_tries_each_fault_alone(several: Task, new_sandbox: NewSandbox) -> None:
    assert try_once(several, new_sandbox).standing is Standing.VALID
    sound = several.parts[0]
    mended = replace(sound, name="mended", task=replace(sound.task, files={**sound.task.files, "cart.py": FIXED}))
    result = try_once(replace(several, parts=(sound, mended)), new_sandbox)
    assert result.standing is Standing.INVALID and result.reason.startswith("mended: ")


def test_a_fault_counts_from_the_last_step_that_changed_its_files(several: Task, new_sandbox: NewSandbox) -> None:
    def edit(index: int, path: str) -> Step:
        diff = make_diff({path: b"a\n"}, {path: b"b\n"})
        state = EditState(kind="edit", edited=path, lines=[1, 1], diff=diff)
        return Step(index, Action("rewrite"), Observation("", True, state), usage=Usage(tokens_in=10, cost_usd=0.5))

    steps = [Step(0, None, Observation(""))]
    steps += [edit(1, "north/cart.py"), edit(2, "south/cart.py"), edit(3, "north/cart.py"), edit(4, "west/cart.py")]
    fixed = Changes(files={f"{folder}/cart.py": FIXED for folder in FOLDERS[:2]})
    north, south, west = judged_faults(several, steps, score(several, fixed, new_sandbox))
    assert (north.step, south.step, west.step) == (3, 2, None)
    assert north.usage is not None and (north.usage.tokens_in, north.usage.cost_usd) == (30, 1.5)
    assert west.usage is None


TWO_FAULTS = source("""
    def total(items):
        return sum(items) - 1


    def longest(names):
        return max(names)


    def first(names):
        return names[0]
""")
TWO_FIXED = TWO_FAULTS.replace(b" - 1", b"").replace(b"max(names)", b"max(names, key=len)")
HIDDEN_TESTS = source("""
    import cart


    def test_total():
        assert cart.total([2, 3]) == 5


    def test_longest():
        assert cart.longest(["z", "abc"]) == "abc"


    def test_first():
        assert cart.first(["z", "abc"]) == "z"
""")


def _shared() -> Task:
    """A task with two faults in one file, and a test that guards both."""
    tests = {name: [f"tests/test_hidden.py::test_{name}"] for name in ("total", "longest")}
    task = make_task(
        {"cart.py": TWO_FAULTS, "tests/test_cart.py": "def test_nothing():\n    pass\n"},
        hidden_files={"tests/test_hidden.py": HIDDEN_TESTS},
        fix=make_diff({"cart.py": TWO_FAULTS}, {"cart.py": TWO_FIXED}),
        score_command="python -m pytest -q tests",
        fail_to_pass=tuple(test for group in tests.values() for test in group),
        pass_to_pass=("tests/test_hidden.py::test_first",),
        shows_bug=False,
    )
    return with_faults(task, tests)


def test_faults_that_share_a_file_are_judged_by_their_own_tests(new_sandbox: NewSandbox) -> None:
    task = _shared()

    def mended(content: bytes) -> dict[str, bool]:
        verdict = score(task, Changes(files={"cart.py": content}), new_sandbox)
        assert all(fault.sealed for fault in verdict.faults if fault.mended)
        assert verdict.resolved == all(fault.mended for fault in verdict.faults)
        return {fault.name: fault.mended for fault in verdict.faults}

    one_mended = TWO_FAULTS.replace(b" - 1", b"")
    assert mended(TWO_FIXED) == {"total": True, "longest": True}
    assert mended(one_mended) == {"total": True, "longest": False}
    assert mended(TWO_FAULTS) == {"total": False, "longest": False}
    assert mended(one_mended.replace(b"names[0]", b"names[-1]")) == {"total": False, "longest": False}, "a regression"
    assert with_faults(replace(task, parts=()), {"all": list(task.fail_to_pass)}).parts == ()
