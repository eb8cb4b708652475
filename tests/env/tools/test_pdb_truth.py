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
