"""Proving tasks: unsound ones first."""

from __future__ import annotations

from pathlib import Path

import pytest

from stackrank.env.patches import apply_patch, make_diff
from stackrank.env.sandbox.base import Backend, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits, Task
from stackrank.env.validate import Standing, Validation, try_once, validate
from tests.fixtures.env import CART, TEST_CART, cart, source, usable
from tests.support.waiting import run_out

FIXED = CART.replace(" - 1", "")


def proved(task: Task, kind: Backend, rounds: int = 2) -> Validation:
    return validate(task, lambda spec: Sandbox(kind, spec), rounds)


def with_fix(task: Task, text: str = FIXED) -> Task:
    fix = make_diff({"cart.py": task.files["cart.py"]}, {"cart.py": source(text)})
    return Task(**{**task.__dict__, "fix": fix})


FLAKY = """
    import os, pathlib
    from cart import total

    def test_total():
        assert total([1, 2, 3]) == 6

    def test_now_and_then():
        assert os.urandom(1)[0] % 2
"""
COUNTS = """
    import pathlib
    from cart import total

    def test_total():
        assert total([1, 2, 3]) == 6

    def test_nothing_is_left_of_earlier_runs():
        for folder in (".", "/tmp", "/dev/shm"):
            mark = pathlib.Path(folder, "left", "mark")
            assert not mark.exists()
            mark.parent.mkdir(exist_ok=True)
            mark.touch()
            mark.parent.chmod(0o500)
"""


def test_what_is_not_sound_is_said(sandbox_backend: Backend) -> None:
    no_fix = proved(cart(), sandbox_backend)
    assert no_fix.standing is Standing.UNPROVEN and not no_fix.valid
    wrong = proved(with_fix(cart(), CART + "    # no fix\n"), sandbox_backend)
    assert wrong.standing is Standing.INVALID and "round 1: with the fix" in wrong.reason
    fine = make_fine()
    assert "pass as given" in proved(fine, sandbox_backend).reason
    damaged = Task(**{**cart().__dict__, "fix": "--- a/cart.py\n+++ b/cart.py\n@@ -1 +1 @@\n-x\n+y\n"})
    assert "does not apply" in proved(damaged, sandbox_backend).reason
    escaping = with_fix(cart({"../evil.py": "x = 1\n"}))
    assert proved(escaping, sandbox_backend).standing is Standing.INVALID


def make_fine() -> Task:
    task = cart()
    files = {**task.files, "cart.py": source(FIXED)}
    return Task(**{**task.__dict__, "files": files, "fix": make_diff(files, task.files)})


def test_a_flaky_test_is_found(sandbox_backend: Backend) -> None:
    result = proved(with_fix(cart({"tests/test_cart.py": FLAKY})), sandbox_backend, rounds=12)
    assert result.standing is Standing.INVALID
    assert "not always the same" in result.reason or "do not pass" in result.reason or "does not" in result.reason


@pytest.mark.parametrize(
    ("parameters", "ids"),
    [
        ("[object(), object()]", "repr"),
        ("[1, 2]", "lambda value: f'{value}-{os.getpid()}'"),
        ("[1, 2]", "[f'{time.time_ns()}', 'second']"),
    ],
)
@pytest.mark.parametrize("has_fix", [True, False])
def test_ids_that_change_are_named_before_anybody_plays(
    sandbox_backend: Backend, parameters: str, ids: str, has_fix: bool
) -> None:
    text = "import os, time\nimport pytest\nfrom cart import total\n\n\n"
    text += f"@pytest.mark.parametrize('x', {parameters}, ids={ids})\ndef test_it(x):\n    assert total([1]) == 1\n"
    test = "tests/test_cart.py::test_it[<object object at 0x7f12a0c1d2e0>]"
    task = cart({"tests/test_cart.py": text}, fail_to_pass=(test,))
    task = with_fix(task) if has_fix else task
    for result in (try_once(task, lambda spec: Sandbox(sandbox_backend, spec)), proved(task, sandbox_backend)):
        assert result.standing is Standing.INVALID
        assert f"{test} has another id in each run" in result.reason


def test_rounds_do_not_see_each_other(sandbox_backend: Backend) -> None:
    result = proved(with_fix(cart({"tests/test_cart.py": COUNTS})), sandbox_backend, rounds=3)
    assert result.valid, result.reason
    assert result.fail_to_pass == ("tests/test_cart.py::test_total",)
    assert result.pass_to_pass == ("tests/test_cart.py::test_nothing_is_left_of_earlier_runs",)


def test_visible_tests_that_pass_alone_show_nothing(sandbox_backend: Backend) -> None:
    visible = "def test_nothing():\n    pass\n"
    hidden = {"tests/test_hidden.py": source("from cart import total\n\ndef test_it():\n    assert total([1]) == 1\n")}
    task = with_fix(cart({"tests/test_cart.py": visible}, hidden_files=hidden))
    assert "visible tests pass as given" in proved(task, sandbox_backend).reason


def test_fresh_leaves_other_peoples_folders_alone(local: Sandbox, tmp_path: Path) -> None:
    local.put({"a.txt": b"1", "deep/b.txt": b"2"})
    local.put({"c.txt": b"3"}, fresh=True)
    assert [entry[0] for entry in local.listing(depth=3).entries] == ["c.txt"]
    assert tmp_path.is_dir()


@pytest.mark.exhaustive
def test_two_sandboxes_serve_all_rounds(sandbox_backend: Backend) -> None:
    specs: list[SandboxSpec] = []

    def new(spec: SandboxSpec) -> Sandbox:
        specs.append(spec)
        return Sandbox(sandbox_backend, spec)

    assert validate(with_fix(cart(limits=Limits(timeout_s=120))), new, rounds=3).valid
    assert len(specs) == 2 and not any(spec.warm for spec in specs)


@pytest.mark.exhaustive
def test_out_of_time_is_told_from_failing(sandbox_backend: Backend) -> None:
    limit = run_out(2)
    slow = TEST_CART + "\n\n    def test_slow():\n        import time\n        time.sleep(600)\n"
    result = proved(
        with_fix(cart({"tests/test_cart.py": slow}, limits=Limits(timeout_s=limit))), sandbox_backend, rounds=1
    )
    assert (result.standing, result.out_of_time) == (Standing.INVALID, True)
    assert f"did not end within {limit:g} s" in result.reason


def test_only_line_feeds_end_lines_of_a_diff() -> None:
    old = {"a.py": "x = 1\n\x0c\ny = '\u2028'\r\nz = 3".encode()}
    new = {"a.py": "x = 1\n\x0c\ny = '\u2028!'\r\nz = 3".encode()}
    assert apply_patch(old, make_diff(old, new)) == new
    assert apply_patch(new, make_diff(new, old)) == old


@pytest.mark.parametrize(
    ("changes", "test", "reason"),
    [
        ({}, "import no_such_module\n\ndef test_total():\n    assert True\n", "No module named 'no_such_module'"),
        ({"tests/conftest.py": "import pytest\n\n@pytest.fixture\ndef price():\n    raise KeyError('vat')\n"},
         "def test_total(price):\n    assert True\n", "KeyError: 'vat'"),
        ({}, "from cart import total\n\ndef test_total():\n    assert total([2]) == 7\n", "assert 2 == 7"),
    ],
)  # fmt: skip
def test_why_the_tests_do_not_pass_with_the_fix(changes: dict[str, str], test: str, reason: str) -> None:
    task = with_fix(cart({**changes, "tests/test_cart.py": test}, fail_to_pass=("tests/test_cart.py::test_total",)))
    result = proved(task, usable("local"), rounds=1)
    assert result.standing is Standing.INVALID and "tests/test_cart.py::test_total does not" in result.reason
    assert reason in result.reason and len(result.reason) < 700


def test_a_task_is_tried_in_the_form_in_which_it_is_judged() -> None:
    def tried(task: Task) -> Validation:
        return try_once(task, lambda spec: Sandbox(usable("local"), spec))

    assert tried(with_fix(cart())).standing is Standing.VALID
    assert tried(cart()).standing is Standing.UNPROVEN
    # Alone, the test passes: it fails only after one of another file, which does not decide.
    order = {
        "state.py": "seen = []\n",
        "tests/test_cart.py": "import state\n\ndef test_total():\n    assert not state.seen\n",
        "tests/test_a.py": "import state\n\ndef test_a():\n    state.seen.append(1)\n",
    }
    narrowed = cart(order, test_command="python -m pytest -q tests/test_cart.py")
    assert "pass as given" in tried(narrowed).reason and tried(narrowed).standing is Standing.INVALID
    assert tried(cart(order, test_command="python -m pytest -q tests")).standing is Standing.UNPROVEN
    wrong = with_fix(cart(), CART + "    # no fix\n")
    assert tried(wrong).reason.startswith("with the fix, tests/test_cart.py::")
