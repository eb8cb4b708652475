"""Every way to cheat that we know of, by name: files beside the program, and code in it."""

from __future__ import annotations

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
