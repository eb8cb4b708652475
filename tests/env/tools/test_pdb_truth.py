"""The debugger says what it did, what it could not do, and what it lost."""

from __future__ import annotations

import pytest

from tests.fixtures.env import Play, cart, make_task


def test_every_notation_of_a_breakpoint_that_is_shown_is_taken(play: Play) -> None:
    step = play(cart({"shop/__init__.py": "", "shop/till.py": "class Till:\n    def pay(self):\n        return 1\n"}))
    step.pdb("b cart.py:4 if price > 1\ntbreak shop.till.Till.pay\nb average, len(items) > 1\nb total (cart.py:2)")
    shown = step.pdb("ignore 4 1\ndisable 3").text
    rows = shown[shown.index("Breakpoints:\n") :].splitlines()[1:]
    assert rows == [
        "  1: cart.py:4 if price > 1",
        "  2 (temporary): shop/till.py:3",
        "  3 (disabled): cart.py:9 if len(items) > 1",
        "  4 (ignored 1 times): cart.py:2",
    ]
    for row in rows:
        assert "is already at" in step.pdb(f"b {row.strip()}").text
    assert step.pdb("cl").ok
    again = step.pdb("\n".join(f"b {row.strip()}" for row in rows)).state["breakpoints"]
    assert [(row["file"], row["line"], row["condition"]) for row in again] == [
        ("cart.py", 4, "price > 1"), ("shop/till.py", 3, None), ("cart.py", 9, "len(items) > 1"), ("cart.py", 2, None),
    ]  # fmt: skip
    assert "cart.py:3000 has no code" in step.pdb("b cart.py:3000").text
    assert "`b total` stops in each call" in step.pdb("b cart.py:1").text


def test_a_failing_test_outside_the_command_is_debugged_and_what_is_gone_is_said(play: Play) -> None:
    step = play(cart(test_command="python -m pytest -q -p no:cacheprovider tests"))
    step("create", path="my_test.py", content="from cart import total\n\ndef test_len():\n    assert total([]) == 0\n")
    step("eval", test="my_test.py::test_len")
    assert step.pdb("b my_test.py:4\nc\nc\nc").state["function"] == "test_len"
    step("bash", command="[[ -n $BASH_VERSION ]] && sed -i 's/test_len/test_size/' my_test.py")
    assert "not found, so not run: my_test.py::test_len" in step.pdb("cl\nc").text


def test_breakpoints_that_are_lost_are_told(play: Play) -> None:
    test = """
        import multiprocessing, sys
        import pytest
        from area import size

        @pytest.fixture
        def traced():
            sys.settrace(lambda *event: None)

        def test_fixture(traced):
            assert size(1) == 1

        def test_own():
            sys.settrace(lambda *event: None)
            size(2)
            sys.settrace(None)

        def test_child():
            child = multiprocessing.get_context("fork").Process(target=size, args=(3,))
            child.start()
            child.join()
    """
    step = play(make_task({"area.py": "def size(x):\n    return x\n", "tests/test_area.py": test}))
    first = step.pdb("b size\nc", test="python -m pytest -q tests")
    assert first.state["locals"] == {"x": "1"} and "it is set again" in first.text
    rest = step.pdb("c")
    assert "set a trace function of its own" in rest.text and "started another process" in rest.text
    assert rest.state["outcomes"] == {
        f"tests/test_area.py::test_{name}": "passed" for name in ("fixture", "own", "child")
    }
    assert "breakpoint 1 (area.py:2) was not reached" not in rest.text
    unreached = step.pdb("tbreak test_area.py:9\nc\nc\nc\nc", test="python -c 'print(1)'").text
    assert "breakpoint 1 (area.py:2) was not reached in this run" in unreached


def test_a_step_past_the_end_of_a_thread_says_where_it_is_and_reads_no_clock(play: Play) -> None:
    code = """
        import threading, time
        time.monotonic = time.time = lambda: 0
        time.sleep = None
        go = threading.Event()
        def first():
            x = 1
        def second():
            go.wait(9)
            y = 2
        two = threading.Thread(target=second, name="two")
        two.start()
        one = threading.Thread(target=first, name="one")
        one.start()
        one.join()
        go.set()
        two.join()
    """
    step = play(make_task({"run.py": code}))
    step.pdb("b first\nb run.py:9\nc", test="python run.py")
    landed = step.pdb("n\nn\nn")
    assert "stopped in thread two, no longer in thread one, because thread one has ended" in landed.text
    assert landed.state["thread"] == "two"


def test_causes_of_an_exception_can_be_looked_at(play: Play) -> None:
    code = "def load(key):\n    return {}[key]\n\n\ndef get(key):\n    try:\n        load(key)\n"
    code += "    except KeyError as error:\n        raise ValueError(key) from error\n"
    step = play(make_task({"store.py": code, "tests/test_a.py": "from store import get\ndef test(): get('x')\n"}))
    stop = step.pdb("c")
    assert (
        "> 0 ValueError: x\n      at store.py:9 in get\n  1 KeyError: 'x'\n      at store.py:2 in load\n" in stop.text
    )
    cause = step.pdb("exceptions 1\np key")
    assert (cause.state["line"], cause.state["exception"]) == (2, "KeyError: 'x'") and "'x'" in cause.text
    assert "there is no exception here" in step.pdb("tbreak store.py:7\nrestart\nc\nexceptions").text


def test_an_error_in_a_root_conftest_is_stopped_at(play: Play) -> None:
    step = play(cart({"conftest.py": "import helper\n", "helper.py": "def go():\n    return [].x\n\n\ngo()\n"}))
    assert "conftest.py failed at helper.py:2: AttributeError" in step("snapshot").text
    stop = step.pdb("c")
    assert (stop.state["event"], stop.state["file"], stop.state["line"]) == ("post_mortem", "helper.py", 2)
    assert step.pdb("b helper.py:5\nrestart\nc").state["event"] == "line", "breakpoints stop while it is imported"


@pytest.mark.parametrize("options", ["--ff --nf --sw", "--cache-clear --pdb --lf", "-x -q -W error --strict-markers"])
def test_the_options_of_a_project_leave_the_tools_whole(play: Play, options: str) -> None:
    settings = f"[pytest]\naddopts = {options}\n"
    step = play(cart({"pytest.ini": settings}, test_command="python -m pytest -q"))
    assert step.pdb("b total\nc").state["function"] == "total"
    assert "1 call" in step("calls", place="total").text
    assert "assert 5 == 6" in step("snapshot").text


def test_values_of_subclasses_are_shown(play: Play) -> None:
    test = """
        import datetime

        class Money(int):
            def __repr__(self): return 1 / 0

        class Word(str): pass

        class Day(datetime.date): pass

        class Missing(Exception):
            def __init__(self, key):
                super().__init__(key)
                self.code = 3

        def test():
            money, word, day, missing, error = Money(5), Word("a"), Day(2020, 1, 2), Missing("b"), KeyError("k")
            assert word == "b"
    """
    stop = play(make_task({"tests/test_a.py": test})).pdb("c")
    assert stop.state["locals"] == {
        "money": "<Money 5>",
        "word": "<Word 'a'>",
        "day": "<Day Day(2020, 1, 2)>",
        "missing": "<Missing('b') code=3>",
        "error": "KeyError('k')",
    }


def test_what_a_command_ignores_is_said_beside_it(play: Play) -> None:
    code = "def low(n):\n    return n\n\n\ndef high(n):\n    return low(n)\n\n\nfor n in range(9):\n    high(n)\n"
    step = play(make_task({"run.py": code, "tests/test_a.py": "def test(): pass"}))
    stop = step.pdb("b low ;; c 3", test="python run.py")
    assert "[c takes no argument: 3 was ignored; `ignore N 3` passes breakpoint N that often]\n> " in stop.text
    assert stop.state["locals"] == {"n": "0"}, "the first time"
    for command, ignored in {"s 2": "2", "n x": "x", "r 1": "1", "ll 1, 3": "1, 3", "a b": "b", "rv 1": "1"}.items():
        assert f"[{command[:2].strip()} takes no argument: {ignored} was ignored]" in step.pdb(command).text
    assert "was ignored" not in step.pdb("c # to the next call").text
    calls = [line for line in step.pdb("w 2").text.splitlines() if line[:2] in ("> ", "  ")]
    assert [line.partition(")")[2] for line in calls if "run.py" in line] == ["high()", "low()"]
    for command, error in {
        "w x": "*** the number of calls to show is an integer, not x",
        "u x": "*** Invalid frame count (x)",
        "ignore 1 soon": "a number of hits (at most 999999999), as in ignore 1 3, not 1 soon",
        "enable": "*** enable needs numbers of breakpoints: enable 1 2",
        "disable": "*** disable needs numbers of breakpoints: disable 1 2",
        "unalias nothing": "*** there is no alias nothing",
        "l 1 2": "*** Error in argument: '1 2'",
    }.items():
        assert error in step.pdb(command).text
    assert step.pdb("n; n; n").text.count("(Pdb) n\n") == 3


def test_a_breakpoint_on_a_function_of_one_line_stops_in_its_calls(play: Play) -> None:
    code = "class A:\n    def run(self): return 2\n\ndef f(größe): return größe\n"
    test = "from shop import A, f\ndef test():\n    assert f(1) + A().run() == 4\n"
    step = play(make_task({"shop.py": code, "tests/test_a.py": test}))
    stop = step.pdb("b f\nb A.run\nc")
    assert (stop.state["line"], stop.state["locals"]) == (4, {"größe": "1"})
    assert "  1: shop.py:f\n  2: shop.py:A.run" in stop.text
    assert step.pdb("länge = größe\nlänge").text.endswith("\n1"), "and not the command l"
    assert step.pdb("c").state["function"] == "A.run"
    again = step.pdb("restart\nc")
    assert again.state["locals"] == {"größe": "1"} and "is already at" in step.pdb("b shop.py:f").text


def test_subtests_expected_failures_and_errors_of_collection_are_named_as_pytest_names_them(play: Play) -> None:
    test = """
        import pytest, unittest

        class Halves(unittest.TestCase):
            def test_all(self):
                for number in (2, 3):
                    with self.subTest(number=number):
                        assert number % 2 == 0

        @pytest.mark.xfail
        def test_later():
            assert 0
    """
    step = play(make_task({"tests/test_a.py": test}))
    ended = step.pdb("c\nc").text
    assert "tests/test_a.py::Halves::test_all: failed" in ended and "1 test passed" not in ended
    assert step("snapshot", test="test_later").text == "tests/test_a.py::test_later: xfailed\nNothing failed."
    assert "xfailed" in step.pdb("c", test="test_later").text
    broken = play(make_task({"shop.py": "def f(:\n", "tests/test_a.py": "import shop\n"})).pdb("c").text
    assert "tests/test_a.py failed\nSyntaxError: invalid syntax (shop.py, line 1)\n" in broken
