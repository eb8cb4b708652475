"""The verdict, and every way to cheat that we know of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import Backend, SandboxError, SandboxSpec
from stackrank.env.sandbox.bubblewrap.cgroups import Cgroup, make_cgroup
from stackrank.env.sandbox.client import Changes, CommandResult, Sandbox
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.verdict import NewSandbox, score
from stackrank.env.task import Limits, Task
from tests.fixtures.env import EVERYTHING, Play, cart, source
from tests.support.waiting import missing

FIXED = source("""
    def total(items):
        result = 0
        for price in items:
            result += price
        return result


    def average(items):
        whole = total(items)
        return whole / len(items)
""")
BROKEN = FIXED.replace(b"return result\n", b"return result - 1\n")
HIDDEN = source("""
    from cart import total


    def test_empty():
        assert total([]) == 0
""")


def shop(**options: Any) -> Task:
    """The cart with a hidden test."""
    return cart(
        hidden_files={"tests/test_hidden.py": HIDDEN},
        fail_to_pass=("tests/test_cart.py::test_total", "tests/test_hidden.py::test_empty"),
        pass_to_pass=(),
        **options,
    )


@pytest.fixture
def new_sandbox(sandbox_backend: Backend) -> NewSandbox:
    return lambda spec: Sandbox(sandbox_backend, spec)


Judge = Callable[..., Score]


@pytest.fixture
def judge(new_sandbox: NewSandbox) -> Judge:
    """The verdict on some files over the cart."""

    def take(files: dict[str, bytes | str], *, task: Task | None = None, deleted: tuple[str, ...] = ()) -> Score:
        contents = {path: source(body) if isinstance(body, str) else body for path, body in files.items()}
        return score(task or shop(), Changes(files=contents, deleted=deleted), new_sandbox)

    return take


def test_fixed_and_not_fixed(judge: Judge) -> None:
    good = judge({"cart.py": FIXED})
    assert good.resolved and not good.tampered and good.notes == ()
    assert set(good.tests.values()) == {"passed"} and len(good.tests) == 3
    assert "-    return result - 1\n+    return result\n" in good.diff
    bad = judge({})
    assert not bad.resolved and not bad.tampered
    assert set(bad.unfixed) == {"tests/test_cart.py::test_total", "tests/test_hidden.py::test_empty"}


def test_regression_is_told_from_unfixed(judge: Judge) -> None:
    task = cart(fail_to_pass=("tests/test_cart.py::test_total",), pass_to_pass=("tests/test_cart.py::test_average",))
    worse = judge({"cart.py": FIXED + b"\n\ndef average(items):\n    return 0\n"}, task=task)
    assert (worse.resolved, worse.unfixed) == (False, ())
    assert worse.regressions == ("tests/test_cart.py::test_average",)


def test_hidden_test_written_ahead_is_not_carried_over(judge: Judge) -> None:
    verdict = judge({"tests/test_hidden.py": "def test_empty(): pass\n"})
    assert verdict.tests["tests/test_hidden.py::test_empty"] == "failed"


def test_honest_work_is_no_tampering(judge: Judge) -> None:
    crash = BROKEN + b"\nraise SystemExit(3)\n"
    script = "import pytest\n\npytest.main(['-q'])\n"
    for files in ({"cart.py": FIXED, "try_it.py": script}, {"cart.py": crash}, {"cart.py": b"def total(:\n"}):
        assert not judge(files).tampered


def test_deleted_tests_are_put_back(judge: Judge) -> None:
    verdict = judge({}, deleted=("tests/test_cart.py",))
    assert not verdict.resolved and verdict.tampered
    assert verdict.tests["tests/test_cart.py::test_total"] == "failed"


def test_attempts_through_bash_are_recorded(play: Play) -> None:
    step = play(shop())
    refused = step("rewrite", path="tests/test_cart.py", new_code="def test_total(): pass\n")
    assert not refused.ok and "read-only" in refused.text
    overwrite = "sed -i 's/== 6/== 5/; s/== 3/== 2.5/' tests/test_cart.py; echo > conftest.py"
    step("bash", command=overwrite)
    observation = step("eval")
    assert not observation.state["solved"]
    assert "tests/test_cart.py is read-only: your change to it was undone first" in observation.text
    step("bash", command=overwrite)
    verdict = step.env.score()
    assert not verdict.resolved and verdict.tampered
    assert any("tests/test_cart.py" in note for note in verdict.notes)


# Everything that a process in the sandbox can open, the system's own programs aside.
PROBE = """
    import os, subprocess, sys

    marks = [("kRf7" + each).encode() for each in ("hidden", "remedy")]
    found = []


    def look(path):
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError:
            return
        try:
            data = os.read(fd, 8 << 20)
            if any(mark in data for mark in marks):
                found.append(path)
        except OSError:
            pass
        finally:
            os.close(fd)


    for top in sorted(os.listdir("/")):
        if top not in ("proc", "sys", "usr", "dev") and not os.path.islink("/" + top):
            for folder, folders, names in os.walk("/" + top):
                if folder in (sys.prefix, sys.base_prefix):
                    folders[:] = names[:] = []
                for name in names:
                    path = os.path.join(folder, name)
                    if os.path.isfile(path) and not os.path.islink(path):
                        look(path)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("environ", "cmdline", "maps"):
            look("/proc/%s/%s" % (pid, name))
        try:
            for fd in os.listdir("/proc/%s/fd" % pid):
                look("/proc/%s/fd/%s" % (pid, fd))
        except OSError:
            pass
    find = "find / -name proc -prune -o -path '*benchmarks/bugs*' -print 2>/dev/null | head -3"
    bugs = subprocess.run(find, shell=True, capture_output=True)
    print("found", found, bugs.stdout.decode(), os.path.exists(".git"))
"""


def test_hidden_tests_and_fix_are_nowhere_in_the_sandbox(play: Play) -> None:
    marker, remedy = "kRf7" + "hidden", "kRf7" + "remedy"
    fix = f"--- a/cart.py\n+++ b/cart.py\n@@ -1 +1,2 @@\n+# {remedy}\n def total(items):\n"
    task = cart(
        {"probe.py": PROBE},
        hidden_files={"tests/test_secret.py": f"# {marker}\n".encode()},
        fix=fix,
    )
    step = play(task)
    step.pdb("b total\nc")
    assert step("bash", command="python probe.py").text.strip() == "found []  False"


def test_score_is_taken_once_and_survives_the_end(play: Play, sandbox_backend: Backend) -> None:
    env = DebugEnv(shop(), EVERYTHING, lambda spec: Sandbox(sandbox_backend, spec))
    with env:
        env.reset()
        env.sandbox.edit("cart.py", FIXED.decode())
        first = env.score()
        assert first.resolved and env.score() is first


def test_a_machine_that_is_too_busy_is_no_failure_of_the_agent(
    new_sandbox: NewSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    original_test = Sandbox.test

    taken_of = []

    def starved(self: Sandbox, *arguments: Any, **options: Any) -> CommandResult:
        taken_of.append(self.name)
        return replace(original_test(self, *arguments, **options), timed_out=True, waited_s=40.0)

    monkeypatch.setattr(Sandbox, "test", starved)
    with pytest.raises(SandboxError, match="too busy to judge"):
        score(shop(), Changes(files={"cart.py": FIXED}), new_sandbox)
    assert len(taken_of) == 2, "once as it is, and once without the agent's work"
    # Who starts processes that compete with the tests waits for a processor too, and has had his time.
    readings = iter([5.0, 5.0 + shop().limits.timeout_s])
    monkeypatch.setattr(Sandbox, "used_s", lambda sandbox: next(readings))
    assert score(shop(), Changes(files={"cart.py": FIXED}), new_sandbox).timed_out


@pytest.mark.parametrize("hangs", [1, 2])
def test_what_hangs_on_a_busy_machine_while_other_work_does_not_is_no_error(
    new_sandbox: NewSandbox, monkeypatch: pytest.MonkeyPatch, hangs: int
) -> None:
    original_test = Sandbox.test
    waited: list[bool] = []

    def starved(self: Sandbox, *arguments: Any, **options: Any) -> CommandResult:
        result = original_test(self, *arguments, **options)
        if self.read("cart.py") != FIXED:
            return result
        waited.append(len(waited) < hangs)
        return replace(result, timed_out=True, waited_s=40.0) if waited[-1] else result

    monkeypatch.setattr(Sandbox, "test", starved)
    verdict = score(shop(), Changes(files={"cart.py": FIXED}), new_sandbox)
    assert verdict.timed_out == (hangs == 2) and verdict.resolved == (hangs == 1), verdict.notes
    assert waited[:2] == [True, hangs == 2]


@pytest.mark.parametrize(
    ("file", "text"), [("cpuacct.usage", "2500000000\n"), ("cpu.stat", "usage_usec 2500000\nuser_usec 1\n")]
)
def test_what_was_used_is_told_by_the_group(tmp_path: Path, file: str, text: str) -> None:
    group = Cgroup((Path("memory"), tmp_path))
    assert group.used_s() == 0
    (tmp_path / file).write_text(text)
    assert group.used_s() == 2.5


def test_what_was_used_is_told_from_outside(sandbox_backend: Backend) -> None:
    """Also of children that nobody asked how they ended, whose time no process inside is told."""
    if sandbox_backend.name == "bubblewrap":
        group = make_cgroup(Limits())
        if group is None:
            missing("control groups: this user cannot have any")
        group.close()
    children = """
        import os, signal, time

        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        for _ in range(2):
            if os.fork() == 0:
                while time.process_time() < 0.5:
                    pass
                os._exit(0)
        try:
            os.wait()
        except ChildProcessError:
            pass
    """
    with Sandbox(sandbox_backend, SandboxSpec()) as sandbox:
        sandbox.put({"children.py": source(children)})
        used_s_at_start = sandbox.used_s()
        assert sandbox.run("python children.py", 60).exit == 0
        assert sandbox.used_s() - used_s_at_start >= 1
