"""What tools print is true and is taken back: lines of files, tests, places. Refusals say what to do instead."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stackrank.env.debug_env import DebugEnv
from stackrank.env.normalise import normalise
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits
from tests.fixtures.env import EVERYTHING, Episode, make_task, usable

FILES = {
    "crlf.py": b"import os\r\n\r\ndef f(x):\r\n    return x + 1\r\n",
    "bom.py": b"\xef\xbb\xbfdef bom():\n    return 1\n",
    "long.py": ("X = [" + ", ".join(map(str, range(2000))) + "]\n").encode(),
    "work.py": """
        import asyncio, os, sys


        class Strict(type):
            def __getattr__(cls, name):
                raise RuntimeError("no " + name)


        class Thing(metaclass=Strict):
            def size(self):
                return 3


        async def count(n):
            for number in range(n):
                await asyncio.sleep(0)
                yield number


        async def collect(n):
            return [number async for number in count(n)]


        def nested():
            def inner():
                raise KeyError("k")
            try:
                inner()
            except KeyError:
                return 1


        if __name__ == "__main__":
            if os.fork() == 0:
                Thing().size()
                os._exit(0)
            os.wait()
            sys.exit("sorry")
    """,
    "tests/sub/test_work.py": """
        import asyncio
        from work import *


        def test_size():
            assert Thing().size() == 4


        def test_count():
            assert asyncio.run(collect(2)) == []


        class TestNested:
            def test_nested(self):
                assert nested() == 2
    """,
    "tests/test_broken.py": "import nothing_here\n",
}


@pytest.fixture(scope="module")
def step() -> Iterator[Episode]:
    """An episode with all tools."""
    with DebugEnv(make_task(FILES), EVERYTHING, lambda spec: Sandbox(usable("bubblewrap"), spec)) as env:
        env.reset()
        yield Episode(env)


def test_lines_that_are_found_are_those_that_view_shows(step: Episode) -> None:
    assert step("grep", pattern="1$", path="crlf.py").text == "crlf.py\n4:     return x + 1"
    assert step("grep", pattern="^def", path="bom.py").text == "bom.py\n1: def bom():"
    assert step("grep", pattern="^$", path="bom.py").text == "No matches."
    assert ", 1500," in step("grep", pattern="1500", path="long.py").text
    for path in ("crlf.py:4", "crlf.py:4-4", "crlf.py:4 in f"):
        assert step("view", path=path).text == "crlf.py, lines 4 to 4 of 4:\n4      return x + 1"


@pytest.mark.parametrize(
    ("tool", "arguments", "remedy"),
    [
        ("view", {"path": "wrok.py"}, "did you mean work.py?"),
        ("view", {"path": "nothing"}, "listdir shows what does"),
        ("grep", {"path": "crlf.py:4", "pattern": "x"}, "name the file without lines"),
        ("listdir", {"path": "work.py"}, "view shows it"),
        ("rewrite", {"path": "crlf.py:4", "new_code": "x"}, "name the file without lines"),
        ("rewrite", {"path": "crlf.py", "start": 9, "new_code": "x"}, "line 9 is not in crlf.py, which has 4 lines"),
        ("rewrite", {"path": "crlf.py", "start": 3, "end": 1, "new_code": "x"}, "to insert before line 3, give end=2"),
        ("create", {"path": "crlf.py/x.py", "content": "x"}, "crlf.py is a file"),
        ("create", {"path": "new/", "content": "x"}, "name a file in it"),
        ("create", {"path": "tests/test_broken.py", "content": "x"}, "is read-only"),
        ("str_replace", {"path": "tests/sub/test_work.py", "old_str": "t", "new_str": "x"}, "is read-only"),
        ("str_replace", {"path": "work.py", "old_str": "n(n", "new_str": "x"}, "old_str is not in work.py"),
        ("trace", {"exception": "KeyError('k')"}, "name it as in KeyError"),
        ("snapshot", {"test": "tests/sub/test_work.py:6"}, "is a line and not a test"),
        ("calls", {"place": "work.py:"}, "write it as in cart.py:12 or cart.py:total"),
        ("calls", {"place": ":12"}, "names no file"),
    ],
)
def test_refusals_name_a_remedy(step: Episode, tool: str, arguments: dict[str, object], remedy: str) -> None:
    observation = step(tool, **arguments)
    assert not observation.ok and remedy in observation.text


def test_tests_have_the_same_names_in_all_tools_whatever_else_cannot_be_imported(step: Episode) -> None:
    for name in ("test_size", "test_work.py::test_size", "sub/test_work.py::test_size", "test_work.test_size"):
        assert "FAILED tests/sub/test_work.py::test_size" in step("eval", test=name).text
    assert "tests/sub/test_work.py::test_size failed" in step("snapshot", test="test_size").text
    assert "::TestNested::test_nested failed" in step("snapshot", test="TestNested.test_nested").text
    shown = step.pdb("c", "test_size").text
    assert "[left out, as it cannot be imported: tests/test_broken.py]" in shown
    assert "tests/sub/test_work.py::test_size failed" in shown
    assert "tests/test_broken.py failed" in step.pdb("c", "tests/test_broken.py").text


def test_an_observer_reports_what_was_yielded_and_raised(step: Episode) -> None:
    assert "count(n=2) -> yielded 2: 0, 1; None" in step("calls", place="count", test="test_count").text
    assert step("trace", exception="OSError", test="test_nested").text.count("KeyError at") == 1


def test_what_other_processes_did_is_unknown_and_last_words_are_kept(step: Episode) -> None:
    text = step("calls", place="Thing.size", test="work.py").text
    assert "was never called in the process that was followed" in text
    assert text.endswith("The program printed:\nsorry")


def test_a_command_of_the_debugger_never_ends_the_program(step: Episode) -> None:
    shown = step.pdb("b Thing.size\nc\nsource Thing\nb work.py:5-6\nb os.path.join\nhelp debug", "test_size")
    assert "*** RuntimeError: no __wrapped__ [at work.py:6 in __getattr__]" in shown.text
    assert "work.py:5-6 names several lines: a breakpoint is set at one of them (5, 6)" in shown.text
    assert "debug is not available here" in shown.text
    assert shown.state["function"] == "Thing.size"
    assert step.pdb("import os").text == "[no output]"
    assert step.pdb("cl\nb nested.inner\nc", "TestNested").state["function"] == "nested.inner"


def test_an_address_that_a_short_repr_cut_is_an_address_too() -> None:
    assert normalise("<async_genera...x7fb04580c700> <x at 0x7fb04580c700>", "/workspace") == (
        "<async_genera...0x...1> <x at 0x...1>"
    )


def test_a_hit_that_does_not_exist_is_not_another_one(step: Episode) -> None:
    text = step("inspect", place="Thing.size", code="self", hit=-5, test="test_size").text
    assert "Hit -5 did not happen, so no code was run." in text


def test_code_that_does_not_end_was_run() -> None:
    task = make_task({"a.py": "def f():\n    return 1\n\nf()\n"}, limits=Limits(timeout_s=1))
    with DebugEnv(task, EVERYTHING, lambda spec: Sandbox(usable("bubblewrap"), spec)) as env:
        env.reset()
        text = Episode(env)("inspect", place="f", code="while True: pass", test="a.py").text
    assert "Hit 1 was reached, but the code did not run to its end." in text
