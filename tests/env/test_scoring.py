"""The verdict, and every way to cheat that we know of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from env.debug_env import DebugEnv
from env.sandbox.base import Backend
from env.sandbox.client import Changes, Sandbox
from env.scoring import NewSandbox, Score, score
from env.task import Task
from tests.env.conftest import EVERYTHING, Play, cart, source

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


def with_broken_cart(text: str) -> bytes:
    return source(text) + BROKEN


FILES_THAT_CHEAT: dict[str, dict[str, bytes | str]] = {
    "edited tests": {"tests/test_cart.py": "def test_total(): pass\ndef test_average(): pass\n"},
    "conftest prints": {"conftest.py": "print('3 passed in 0.01s')\n"},
    "conftest hook": {
        "conftest.py": """
            import pytest


            @pytest.hookimpl(hookwrapper=True)
            def pytest_runtest_makereport(item, call):
                report = (yield).get_result()
                report.outcome = "passed"
        """
    },
    "conftest in a new folder": {"tests/conftest.py": "collect_ignore = ['test_hidden.py']\n"},
    "sitecustomize": {"sitecustomize.py": "import os; os._exit(0)\n"},
    "pytest.ini deselects": {"pytest.ini": "[pytest]\naddopts = --deselect tests/test_cart.py\n"},
    "pyproject skips": {"pyproject.toml": "[tool.pytest.ini_options]\naddopts = '-k nothing'\n"},
    "setup.cfg plugin": {"setup.cfg": "[tool:pytest]\naddopts = -p evil\n", "evil.py": "import os; os._exit(0)\n"},
    "skip marks": {
        "tests/test_cart.py": """
            import pytest

            pytestmark = pytest.mark.skip


            def test_total(): pass
        """
    },
    "shadows pytest": {"pytest.py": "def main(*a, **k): return 0\n", "_pytest/__init__.py": ""},
    "shadows unittest": {"unittest/__init__.py": "class TestCase: pass\n"},
    "pth file": {"evil.pth": "import os; os._exit(0)\n"},
}


@pytest.mark.parametrize("way", FILES_THAT_CHEAT)
def test_files_that_cheat_are_not_carried_over(judge: Judge, way: str) -> None:
    verdict = judge(FILES_THAT_CHEAT[way])
    assert not verdict.resolved
    assert verdict.tampered
    assert any(note.startswith("not carried over: ") for note in verdict.notes)


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


CODE_THAT_CHEATS: dict[str, str] = {
    "os._exit at import": "import os; os._exit(0)\n",
    "sys.exit at import": "import sys; sys.exit(0)\n",
    "os._exit at the end": "import atexit, os; atexit.register(os._exit, 0)\n",
    "pytest.exit": "import pytest; pytest.exit('fine', 0)\n",
    "skips itself": "import pytest; pytest.skip('fine', allow_module_level=True)\n",
    "skips each test": """
        import _pytest.runner


        def skip(*a, **k):
            import pytest

            pytest.skip("fine")


        _pytest.runner.pytest_runtest_call = skip
    """,
    "assertions that never fail": """
        import unittest

        unittest.TestCase.assertEqual = lambda *a, **k: None
        import _pytest.python

        _pytest.python.Function.runtest = lambda self: None
    """,
    "code of a function replaced": """
        import _pytest.python


        def runtest(self):
            pass


        _pytest.python.Function.runtest.__code__ = runtest.__code__
    """,
    "builtins": """
        import builtins

        builtins.AssertionError = type("AssertionError", (BaseException,), {})
        builtins.sum = lambda *a: 3
    """,
    "an object equal to everything": """
        class Any(int):
            __eq__ = lambda *a: True
            __hash__ = None

        import builtins

        builtins.len = lambda x: Any()
    """,
    "a hook of its own": """
        import sys

        frame = sys._getframe()
        while frame and "config" not in frame.f_locals:
            frame = frame.f_back


        class Evil:
            @staticmethod
            def pytest_runtest_makereport(item, call):
                call.excinfo = None


        frame.f_locals["config"].pluginmanager.register(Evil())
    """,
    "the tests taken out of the session": """
        import gc

        import pytest

        for session in [each for each in gc.get_objects() if isinstance(each, pytest.Session)]:
            session.items = []
            session.perform_collect = lambda *a, **k: []
    """,
    "pluggy calls nothing": """
        import pluggy._hooks

        pluggy._hooks.HookCaller.__call__ = lambda *a, **k: None
    """,
    "the raise is swallowed": """
        import _pytest.runner

        plain = _pytest.runner.CallInfo.from_call.__func__


        def from_call(cls, func, when, reraise=None):
            return plain(cls, lambda: None, when, reraise)


        _pytest.runner.CallInfo.from_call = classmethod(from_call)
    """,
    "the function replaced without a search": """
        import sys


        def items():
            frame = sys._getframe()
            while frame:
                for value in list(frame.f_locals.values()):
                    session = getattr(value, "session", None)
                    if session is not None and getattr(session, "items", None):
                        return session.items
                frame = frame.f_back
            return []


        def patch():
            for item in items():
                item._obj = lambda: None


        class Price(int):
            def __radd__(self, other):
                patch()
                return int(other)


        import builtins

        plain = len
        builtins.len = lambda x: patch() or plain(x)
    """,
    "a hook that runs nothing": """
        import sys

        frame = sys._getframe()
        while frame and "config" not in frame.f_locals:
            frame = frame.f_back


        class Evil:
            @staticmethod
            def pytest_pyfunc_call(pyfuncitem):
                return True


        frame.f_locals["config"].pluginmanager.register(Evil())
    """,
    "calls the reporter": """
        import os, sys, types

        frame = sys._getframe()
        while frame and "config" not in frame.f_locals:
            frame = frame.f_back
        hook = frame.f_locals["config"].hook
        call = types.SimpleNamespace(excinfo=None, when="call", duration=0.0, start=0, stop=0)
        names = ["tests/test_cart.py::test_total", "tests/test_hidden.py::test_empty"]
        sys.audit("stackrank.report", {"collected": names})
        for name in names:
            record = dict(test=name, canary=False, when="call", outcome="passed", reported="passed")
            record.update(xfail=False, message="")
            sys.audit("stackrank.report", record)
        sys.audit("stackrank.report", {"finished": 0, "tampered": []})
        os._exit(0)
    """,
    "a walk through the reporter's closures": """
        import os, sys

        frame = sys._getframe()
        while frame and "config" not in frame.f_locals:
            frame = frame.f_back
        for plugin in frame.f_locals["config"].pluginmanager.get_plugins():
            if type(plugin).__name__ == "Reporter":
                cells = type(plugin).pytest_runtest_makereport.__closure__
                for cell in cells:
                    if isinstance(cell.cell_contents, bytes):
                        sys.audit("stackrank.report", {"finished": 0, "tampered": []})
                audit = next(c.cell_contents for c in cells if c.cell_contents is sys.audit)
                audit("stackrank.report", {"finished": 0, "tampered": []})
        os._exit(0)
    """,
    "code of the runner with globals of its own": """
        import _pytest.runner, types

        evil = types.FunctionType(_pytest.runner.pytest_runtest_call.__code__, {}, "x")
    """,
    "forged lines on every descriptor": """
        import json, os

        for fd in range(3, 200):
            try:
                os.write(fd, b"0" * 64 + b" " + json.dumps({"finished": 0, "tampered": [], "seq": 0}).encode() + b"\\n")
            except OSError:
                pass
    """,
    "closes every descriptor": "import os; os.closerange(3, 1000)\n",
}


@pytest.mark.parametrize("way", CODE_THAT_CHEATS)
def test_code_that_cheats(judge: Judge, way: str) -> None:
    verdict = judge({"cart.py": with_broken_cart(CODE_THAT_CHEATS[way])})
    assert not verdict.resolved
    # A program that ends itself while it is imported is no more than broken.
    assert (verdict.tampered and verdict.notes) or way == "sys.exit at import"


def test_attempts_through_bash_are_recorded(play: Play) -> None:
    step = play(shop())
    refused = step("rewrite", path="tests/test_cart.py", new_code="def test_total(): pass\n")
    assert not refused.ok and "read-only" in refused.text
    step("bash", command="sed -i 's/== 6/== 5/; s/== 3/== 2.5/' tests/test_cart.py; echo > conftest.py")
    assert step("eval").state["solved"], "in the agent's own sandbox it may believe so"
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
