"""The debugger as an agent uses it."""

from __future__ import annotations

import pytest

from stackrank.env.actions import Observation
from tests.fixtures.env import Play, cart, make_task


def place(observation: Observation) -> tuple[object, ...]:
    return tuple(observation.state.get(key) for key in ("file", "line", "function"))


def test_of_a_deep_stack_the_frames_around_the_current_one_are_reported(play: Play) -> None:
    task = make_task(
        {
            "deep.py": "def f(n):\n    if n:\n        return f(n - 1)\n    return 0\n",
            "t.py": "import deep\ndeep.f(99)\n",
        }
    )
    stop = play(task).pdb("b deep.py:4\nc", test="python t.py")
    assert stop.state["depth"] == 101
    assert len(stop.state["stack"]) == 24 and stop.state["stack"][-1]["current"]


def test_an_error_says_where_in_the_program_it_was_raised(play: Play) -> None:
    files = {"broken.py": "def f(x):\n    global x\n", "sums.py": "def half(x):\n    return 1 / x\n\n\nhalf(1)\n"}
    step = play(make_task({**files, "tests/test_a.py": "def test(): 0"}))
    step.pdb("b half\nc", test="python sums.py")
    assert step.pdb("import broken").text.endswith("is parameter and global [at broken.py:2]")
    assert step.pdb("p half(0)").text == "*** ZeroDivisionError: division by zero [at sums.py:2 in half]"
    assert step.pdb("p 1 / 0").text == "*** ZeroDivisionError: division by zero", "what was typed has no place"
    assert step.pdb("p 1 +").text.startswith("*** SyntaxError") and "[at" not in step.pdb("p 1 +").text
    wrong = step.pdb("c\ntests/test_a.py::test")
    assert not wrong.ok and "pass it as `test`" in wrong.text


def test_calls_of_libraries_are_counted_and_a_few_variables_are_shown_whole(play: Play) -> None:
    code = "import asyncio, typing\nname: typing.Any = typing.Dict\nlong = list(range(6)), 'x' * 90, 'y' * 90, 'end'\n"
    code += "async def main():\n    own = long\n    return own\n\n\nasyncio.run(main())\n"
    stop = play(make_task({"run.py": code})).pdb("b run.py:6\nc", test="python run.py")
    calls = next(line for line in stop.text.splitlines() if line.startswith("Calls: "))
    assert calls.startswith("Calls: <module> (run.py:9) > (") and calls.endswith(" library calls) > *main (run.py:6)*")
    assert "'end')\nBreakpoints:" in stop.text, "the end of a value that is longer than one of many may be"
    assert "typing" not in str(stop.state["locals"])
    top = play(make_task({"run.py": code})).pdb("b run.py:9\nc", test="python run.py")
    assert list(top.state["locals"]) == ["long"], "annotations are no values of the program"


def test_what_the_same_call_has_shown_is_not_told_again(play: Play) -> None:
    code = "def f(n):\n    n += 1\n    return n\n\n\nfor each in range(3):\n    f(each)\n"
    step = play(make_task({"run.py": code}))
    stop = step.pdb("b run.py:3\nc\nl\nw\np locals()", test="python run.py")
    assert stop.text.count("return n") == 3, "by c, by l and by w, and not in an excerpt below"
    assert "[run.py:3 in f, depth 2]" in stop.text and "Calls:" not in stop.text and "Locals:" not in stop.text
    assert stop.state["source"] and stop.state["stack"] and stop.state["locals"] == {"n": "1"}, (
        "a trace shows all of it"
    )
    resumed = step.pdb("c").text
    assert "Locals: n = 2" in resumed and "[run.py:3 in f, depth 2]" in resumed, "the same place, another time"
    moved = step.pdb("w\np locals()\nu").text
    assert "Calls: " in moved and "Locals: " in moved, "what was shown was the frame before"
    assert "Calls: " not in step.pdb("p 1").text, "nothing moved"


def test_what_was_asked_for_has_the_room_that_the_rest_leaves(play: Play) -> None:
    step = play(make_task({"run.py": "x = 'a' * 900\nprint(x)\n"}))
    text = step.pdb("n\nn\n" + "p x\n" * 3 + "w", test="python run.py").text
    assert "characters left out" not in text and 2700 < len(text) < 4000


@pytest.mark.parametrize("command", ["SHADE=dark python -m pytest", "cd sub && SHADE='a b' pytest -k 'not other'"])
def test_a_test_command_with_variables_or_a_folder_can_be_debugged(play: Play, command: str) -> None:
    code = "import os\n\n\ndef test_shade():\n    here = os.getcwd()\n    assert os.environ['SHADE'] == here\n"
    stop = play(make_task({"sub/test_a.py": code}, test_command=command)).pdb("c")
    assert (stop.state["file"], stop.state["line"]) == ("sub/test_a.py", 6), stop.text
    assert stop.state["locals"]["here"] == ("'/workspace/sub'" if "cd" in command else "'/workspace'")


def test_a_session(play: Play) -> None:
    step = play(cart())
    first = step.pdb("b cart.py:4, price > 1")
    assert "Breakpoint 1 at" in first.text and "cart.py:4 if price > 1" in first.text
    stop = step.pdb("c")
    assert place(stop) == ("cart.py", 4, "total")
    assert (stop.state["depth"], stop.state["locals"]["price"]) == (2, "2")
    assert [(call["file"], call["line"], call["function"], call["current"]) for call in stop.state["stack"]] == [
        ("tests/test_cart.py", 5, "test_total", False),
        ("cart.py", 4, "total", True),
    ]
    assert [call["current"] for call in step.pdb("u").state["stack"]] == [True, False]
    step.pdb("d")
    assert "   4 ->         result += price" in stop.text
    assert stop.text.count("result += price") == 1, "the current line is shown once"
    assert step.pdb("p price, result").text == "(2, 1)"
    stopped = step.pdb("tbreak 5\nc\np result")
    assert place(stopped) == ("cart.py", 4, "total"), "the conditional breakpoint comes first"
    assert place(step.pdb("cl 1\nc")) == ("cart.py", 5, "total")
    assert step.pdb("p result").text.startswith("6")
    assert place(step.pdb("r")) == ("cart.py", 5, "total")
    assert place(step.pdb("n")) == ("tests/test_cart.py", 5, "test_total"), "a step out stops in the caller"
    failed = step.pdb("c")
    assert failed.state["exception"].startswith("AssertionError")
    assert "tests/test_cart.py::test_total failed" in failed.text
    assert place(failed) == ("tests/test_cart.py", 5, "test_total")
    resumed = step.pdb("c")
    assert place(resumed) == ("tests/test_cart.py", 9, "test_average")
    end = step.pdb("c")
    assert end.state["outcomes"] == {
        "tests/test_cart.py::test_total": "failed",
        "tests/test_cart.py::test_average": "failed",
    }
    assert not end.state["alive"]


def test_until_jump_display_where_list(play: Play) -> None:
    step = play(cart())
    step.pdb("b total")
    assert place(step.pdb("c")) == ("cart.py", 2, "total")
    assert place(step.pdb("until 5")) == ("cart.py", 5, "total")
    assert place(step.pdb("j 3")) == ("cart.py", 3, "total")
    assert "def total(items):" in step.pdb("l").text
    stack = step.pdb("w").text
    assert "test_cart.py(5)test_total()" in stack and "pytest" not in stack
    assert place(step.pdb("u")) == ("tests/test_cart.py", 5, "test_total")
    assert "[1, 2, 3]" in step.pdb("d\na").text
    assert "<class 'list'>" in step.pdb("whatis items").text
    assert "Python code is a command here" in step.pdb("interact").text
    assert "NameError" in step.pdb("p nothing").text
    assert step.pdb("!result = 40\np result").text.endswith("40")


def test_commands_of_a_breakpoint(play: Play) -> None:
    step = play(cart())
    step.pdb("b cart.py:5")
    defined = step.pdb("commands 1\np result * 100\nend")
    assert "(com)" not in defined.text and "runs p result * 100" in defined.text
    assert "600" in step.pdb("c").text
    step("rewrite", path="cart.py", start=1, end=1, new_code="# shifted\ndef total(items):")
    assert "600" in step.pdb("c").text, "they survive a restart"


def test_breakpoints_survive_edits_and_restarts(play: Play) -> None:
    step = play(cart())
    step.pdb("b cart.py:4, price == 2\nb average\ntbreak cart.py:5\nignore 2 1\ndisable 2")
    edited = step("rewrite", path="cart.py", start=1, end=1, new_code="import math\n\n\ndef total(items):")
    assert edited.ok
    restarted = step.pdb("c")
    assert restarted.state["restarted"] and "cart.py changed" in restarted.text
    table = {row["number"]: row for row in restarted.state["breakpoints"]}
    assert place(restarted) == ("cart.py", 7, "total")
    assert (table[1]["line"], table[1]["condition"]) == (7, "price == 2")
    assert (table[2]["line"], table[2]["enabled"], table[2]["ignore"]) == (12, False, 1)
    assert (table[3]["line"], table[3]["temporary"]) == (8, True)
    resumed = step.pdb("restart\nc")
    assert place(resumed) == ("cart.py", 7, "total")


def test_an_edit_by_any_means_is_noticed(play: Play) -> None:
    step = play(cart())
    step.pdb("b total\nc")
    assert not step.pdb("p 1").state.get("restarted")
    step("bash", command="sed -i 's/result - 1/result/' cart.py")
    assert "cart.py changed" in step.pdb("p items").text
    step("bash", command="cat cart.py")
    assert not step.pdb("p items").state.get("restarted")


def test_edited_data_restarts_the_program_and_data_it_writes_does_not(play: Play) -> None:
    program = (
        "from pathlib import Path\nlimit = Path('limit.txt').read_text()\nPath('log.txt').write_text(limit)\nend = 1\n"
    )
    step = play(make_task({"main.py": program, "limit.txt": "7\n", "tests/test_a.py": "def test_a(): assert 0\n"}))
    assert step.pdb("b main.py:4\nc\np limit", test="python main.py").ok
    step("eval")
    assert "restarted" not in step.pdb("p limit").text
    assert step("rewrite", path="limit.txt", new_code="8\n").ok
    resumed = step.pdb("c\np limit")
    assert "limit.txt changed" in resumed.text and "'8" in resumed.text
    assert step("bash", command="echo 9 > limit.txt").ok
    resumed = step.pdb("c\np limit")
    assert "limit.txt changed" in resumed.text and "'9" in resumed.text


def test_restart_is_lazy(play: Play) -> None:
    step = play(cart())
    step("create", path="other.py", content="x = 1\n")  # starts the process that parses files
    step.pdb("b total\nc")
    count = step("bash", command="pgrep -c python || true").text
    step("rewrite", path="cart.py", start=5, end=5, new_code="    return result")
    assert step("bash", command="pgrep -c python || true").text == count
    assert step.pdb("p items").state["restarted"]


def test_entry_point_that_does_not_work(play: Play) -> None:
    files: dict[str, bytes | str] = {
        "broken.py": "def f(:\n",
        "fails.py": "1 / 0\n",
        "tests/test_a.py": "def test(): 0\n",
    }
    step = play(make_task(files))
    for entry, message in {
        "python missing.py": "No such file or directory: 'missing.py'",
        "python -m missing": "No module named missing",
        "python -m pytest tests/missing.py": "missing.py",
        "./program": "nothing was run, as there is no test program",
        "test and more": "is neither a test nor a Python program",
        "python -m pytest 'unclosed": "cannot be debugged",
        "python broken.py": "SyntaxError",
        "python fails.py": "ZeroDivisionError",
    }.items():
        wrong = step.pdb("c", entry)
        assert message in wrong.text
        assert not wrong.state.get("timed_out")
        assert "Traceback" not in wrong.text and "guest" not in wrong.text
        assert step("view", path="fails.py").ok


def test_script_with_arguments_and_empty_input(play: Play) -> None:
    script = """
        import sys

        print("args", sys.argv)
        answer = sys.stdin.readline()
        print("got", repr(answer))
    """
    step = play(make_task({"tool.py": script, "tests/test_a.py": "def test(): pass\n"}))
    first = step.pdb("n", "python tool.py --fast 'a b'")
    assert place(first) == ("tool.py", 1, "<module>")
    end = step.pdb("c")
    assert "args ['tool.py', '--fast', 'a b']" in end.text and "got ''" in end.text
    assert "the program read from standard input, which is empty (EOF)" in end.text
    assert end.state["exit"] == 0


def test_what_the_program_prints_is_apart(play: Play) -> None:
    script = "print('(Pdb) ')\nprint('--Return--')\nx = 1\n"
    step = play(make_task({"tool.py": script, "tests/test_a.py": "def test(): pass\n"}))
    step.pdb("n", "python tool.py")
    printed = step.pdb("n")
    assert printed.text.endswith("The program printed:\n(Pdb)") or "The program printed:\n(Pdb)" in printed.text
    assert place(printed) == ("tool.py", 2, "<module>")


def test_import_error_of_a_test_file(play: Play) -> None:
    step = play(make_task({"mod.py": "VALUE = 1 / 0\n", "tests/test_a.py": "import mod\n\n\ndef test(): pass\n"}))
    stop = step.pdb("c")
    assert place(stop) == ("mod.py", 1, "<module>")
    assert stop.state["exception"].startswith("ZeroDivisionError")


def test_a_program_stays_while_it_is_paused_and_what_starts_is_said(play: Play) -> None:
    step = play(cart({"tool.py": "import sys\nfrom cart import total\nprint(sys.argv[1:])\nsys.exit('bad options')\n"}))
    first = step.pdb("n")
    assert "started: the tests that failed last, tests/test_cart.py::test_total" in first.text
    assert place(step.pdb("n", "tool.py --fast")) == ("tool.py", 1, "<module>")
    assert "started" not in step.pdb("n", "tool.py --fast").text, "the same one goes on"
    step("rewrite", path="cart.py", start=1, end=1, new_code="# moved\ndef total(items):")
    assert "started: python tool.py --fast" in step.pdb("n").text
    end = step.pdb("c")
    assert "['--fast']" in end.text and "bad options" in end.text
    assert "started: the tests that failed last" in step.pdb("n").text, "the named program has ended"
    assert place(step.pdb("n", "tests/test_cart.py::test_average")) == ("tests/test_cart.py", 9, "test_average")
    code = step.pdb("n\nn", "python -c 'import cart; x = cart.total([5])\ny = x'")
    assert place(code) == ("<command line>", 2, "<module>") and "x = 4" in code.text
    refused = step.pdb("c", "make all")
    assert not refused.ok and "neither a test nor a Python program" in refused.text
    assert step.pdb("p x").text == "4"


def test_it_starts_in_the_tests_that_failed_last(play: Play) -> None:
    tests = """
        from cart import total


        def test_empty():
            assert total([1]) == 0


        def test_sum():
            assert total([1, 2]) == 3
    """
    step = play(cart({"tests/test_cart.py": tests}))
    stop = step.pdb("b total\nc")
    assert stop.state["locals"] == {"items": "[1, 2]"}, "test_empty passes, and is not run"
    assert step.pdb("c\nc").state["outcomes"] == {"tests/test_cart.py::test_sum": "failed"}
    every = step.pdb("c", "python -m pytest")
    assert every.state["locals"] == {"items": "[1]"}
    step("rewrite", path="cart.py", start=5, end=5, new_code="    return result - (len(items) == 1)")
    step.pdb("cl\nq")
    assert "the test that ran passed: tests/test_cart.py::test_sum]" in step.pdb("c").text
    every = step.pdb("c", "tests").text
    assert "all 2 tests that ran passed: tests/test_cart.py::test_empty, tests/test_cart.py::test_sum]" in every


def test_code_of_several_lines_is_carried_out_as_one(play: Play) -> None:
    step = play(cart())
    step.pdb("b cart.py:5\nc")
    text = step.pdb("def twice(x):\n    return x * 2\np twice(result)\nn = 5\np n\np [each > n for each in items]")
    assert text.state["line"] == 5, "neither `return` nor `n` moved the program"
    assert text.text.splitlines() == [
        *("(Pdb) !def twice(x):", "...       return x * 2"),
        *("(Pdb) p twice(result)", "12", "(Pdb) !n = 5", "(Pdb) p n", "5"),
        *("(Pdb) p [each > n for each in items]", "[False, False, False]"),
    ]
    assert step.pdb("!x = input()").text.endswith("EOFError: EOF when reading a line")
    assert step.pdb("p result").text == "6", "the program's input is not the debugger's"


def test_breakpoints_of_many_kinds(play: Play) -> None:
    step = play(cart())
    defined = step.pdb("b total\ncommands 1\np items\nc\nend")
    assert "NameError" not in defined.text
    for _ in range(2):
        passed = step.pdb("restart\nc")
        assert "[1, 2, 3]" in passed.text and place(passed)[2] == "test_total", "`c` goes on after a restart too"
    assert step.pdb("cl").text == "Deleted breakpoint 1 at /workspace/cart.py:2\nNo breakpoints."
    refused = step.pdb("b cart.py:4, price >")
    assert "is not a Python expression" in refused.text and not refused.state["breakpoints"]
    wrong = step.pdb("b cart.py:4, prise > 1\nrestart\nc")
    assert "the condition prise > 1 of a breakpoint raised NameError" in wrong.text and wrong.state["line"] == 4
    step("rewrite", path="cart.py", start=2, end=2, new_code="    breakpoint()\n    result = 0")
    assert place(step.pdb("cl\nc")) == ("cart.py", 3, "total"), "the program's own breakpoint() stops here too"


def test_what_is_shown_is_short_and_the_same_for_every_model(play: Play) -> None:
    deep = "def f(n):\n    row = list(range(9999))\n    return f(n - 1) if n else 0\n\n\nf(300)\n"
    step = play(make_task({"deep.py": deep, "tests/test_a.py": "def test(): pass\n"}))
    stop = step.pdb("b deep.py:3, n == 0\nc", "deep.py")
    assert stop.state["kind"] == "debugger" and "Locals: n = 0; row = [0, 1, 2, 3, 4, 5, ... 9999 in all]" in stop.text
    assert "Calls: ... > f (deep.py:3) x23 > *f (deep.py:3)*" in stop.text
    assert "the call above 299 more times" in step.pdb("w").text
    value = step.pdb("p row\np n")
    assert len(value.text) < 1200 and "characters omitted" in value.text and value.text.endswith("(Pdb) p n\n0")
    assert len(step("pdb", command="p row", limit=60_000).text) > 14_000
    assert len(step.pdb("for each in row: print(each, 'x' * 50)").text) < 4000
    assert step.pdb("q").state["kind"] == "debugger"


def test_a_file_may_be_named_by_the_end_of_its_path(play: Play) -> None:
    code = "def price(n):\n    n += 1\n    return n\n"
    test = "from shop import cart\n\n\ndef test(): assert cart.price(1) == 3\n"
    files = {"shop/__init__.py": "", "shop/cart.py": code, "shop/a/x.py": "y = 1\n", "shop/b/x.py": "y = 1\n"}
    step = play(make_task({**files, "tests/test_a.py": test}))
    assert place(step.pdb("b cart.py:3\nc")) == ("shop/cart.py", 3, "price")
    assert place(step.pdb("cl\nb cart.py:price\nrestart\nc")) == ("shop/cart.py", 2, "price")
    assert "did you mean shop/a/x.py or shop/b/x.py" in step.pdb("b x.py:1").text


def test_a_breakpoint_that_cannot_be_set_says_what_may_be_meant(play: Play) -> None:
    code = "class Cart:\n    def total(self):\n        return 1\n\n\ndef other():\n    return 2\n"
    step = play(make_task({"cart.py": code, "tests/test_a.py": "import cart\ndef test(): assert cart.other() > 2\n"}))
    assert "did you mean Cart.total" in step.pdb("b Cart.totl").text
    assert "did you mean cart.py" in step.pdb("b crt.py:3").text
    assert "cart.py:4 has no code; the nearest lines with code are 3 and 6" in step.pdb("b cart.py:4").text
    stop = step.pdb("b Cart.total\nb other\nc")
    assert "did you mean" not in stop.text and place(stop) == ("cart.py", 7, "other")


def test_a_breakpoint_on_a_function_with_overloads_is_set_where_it_runs(play: Play) -> None:
    code = "import typing\nfrom typing import overload\n\n\nclass Bag:\n    @overload\n"
    code += "    def add(self, x: int) -> int: ...\n"
    code += "\n    @typing.overload\n    def add(self, x: str) -> str: ...\n\n    def add(self, x):\n        return x\n"
    code += "\n\nBag().add(1)\n"
    stop = play(make_task({"bag.py": code})).pdb("b Bag.add\nc", test="python bag.py")
    assert place(stop) == ("bag.py", 13, "Bag.add")
    assert "several places" not in stop.text
