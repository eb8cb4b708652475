"""What observations show: short ones, some tests alone, and read-only files as they were."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stackrank.env.task import Limits
from stackrank.env.tools import find_tool, tool_names
from stackrank.env.tools.base import ToolError
from stackrank.env.tools.debugging.following import Frame, frames_text
from stackrank.env.tools.run_tests import command_for, parse_test_ids
from stackrank.env.tools.shown import MOST_OF_A_FILE, MOST_SHOWN, fold_repeats, strip_padding
from tests.fixtures.env import Play, cart

LONG = "\n".join(f"value_{number} = {number}  # a needle in a line that is longer" for number in range(900)) + "\n"


def most_shown(tool: str) -> int:
    """The most characters of an observation, unless its agent asks for more."""
    return MOST_OF_A_FILE if tool in ("bash", "view") else MOST_SHOWN


def test_no_observation_is_long_unless_it_is_asked_for(play: Play) -> None:
    many = {f"data/part_{number:04}.txt": "x\n" for number in range(900)}
    step = play(cart({"long.py": LONG, **many}))
    page = step("view", path="long.py")
    last = page.state["lines"][1]
    assert len(page.text) < MOST_OF_A_FILE and f"start={last + 1} shows the next lines" in page.text and last > 50
    assert step("view", path="long.py", start=last + 1).state["lines"][0] == last + 1
    assert step("view", path="long.py", start=1, end=300).state["lines"] == [1, 300], "named lines are asked for"
    for tool, arguments in (
        ("grep", {"pattern": "needle"}),
        ("listdir", {"path": "data"}),
        ("bash", {"command": "seq 5000"}),
        ("view", {"path": "data"}),
    ):
        short = step(tool, **arguments)
        assert len(short.text) <= most_shown(tool) and ("more" in short.text or "left out" in short.text), tool
        assert len(step(tool, **arguments, limit=9000).text) > len(short.text), tool
    # The largest limit shows as much as it says, and nobody is told to ask for more than that.
    assert "seq" not in (whole := step("bash", command="seq 11500", limit=60_000).text) and "omitted" not in whole
    longest = step("bash", command="seq 15000", limit=60_000).text
    assert len(longest) > 55_000 and "ask for a part of it" in longest and "limit above" not in longest


def test_a_command_that_is_killed_names_the_task_s_limit(play: Play) -> None:
    step = play(replace(cart(), limits=Limits(timeout_s=0.5)))
    for asked in ({}, {"timeout_s": 300}):
        assert "[still running after 0.5 s, the task's limit: killed" in step("bash", command="sleep 20", **asked).text
    assert "[still running after 0.3 s: killed" in step("bash", command="sleep 20", timeout_s=0.3).text


HOSTILE = """
import sys
class Value:
    def __init__(self, n):
        self.n, self.text, self.more = n, "x" * 20_000, [list(range(900)) for _ in range(20)]
    def __repr__(self):
        return "V" * 9_000 + str(self.n)
    def __getattr__(self, name):
        raise AttributeError(name * 500)
def deep(n, value):
    a = b = c = d = value
    if not n:
        print("p" * 20_000, *range(3_000), sep=chr(10))
        raise ValueError("no " * 3_000 + chr(10) * 500 + "e" * 20_000)
    return deep(n - 1, value)
"""
WRONG = (
    "import pytest, hostile"
    + """
@pytest.mark.parametrize("text", ["p" * 300 + str(n) for n in range(9)])
def test_hostile(text):
    names = {text * 9 + str(n): hostile.Value(n) for n in range(9)}
    locals().update(names)
    hostile.deep(30, hostile.Value(1))
"""
)
LINES = "needle" + "n" * 5_000 + "\n"


def test_no_tool_shows_more_than_is_asked_for_whatever_the_program_does(play: Play) -> None:
    many = {f"many/{'folder_' * 20}{n}/{'file_' * 20}{n}.txt": LINES for n in range(60)}
    files = {"hostile.py": HOSTILE, "tests/test_hostile.py": WRONG, "long.txt": LINES * 100, **many}
    step = play(cart(files, test_command="python -m pytest -q -p no:cacheprovider tests/test_hostile.py"))
    test_file = "tests/test_hostile.py"
    calls: list[tuple[str, dict[str, object]]] = [
        ("eval", {}),
        ("eval", {"verbose": True, "test": test_file}),
        ("view", {"path": "long.txt"}),
        ("view", {"path": "many"}),
        ("view", {"path": "n" * 90_000}),
        ("listdir", {"depth": 9}),
        ("grep", {"pattern": "needle"}),
        ("grep", {"pattern": "(" * 9_000}),
        ("bash", {"command": "head -c 40000 /dev/urandom; seq 9000; cat long.txt"}),
        ("terminal", {"text": "cat long.txt; seq 3000"}),
        ("terminal", {"text": "x" * 9_000}),
        ("pdb", {"command": "c\nw\np value\npp vars(value)\np locals()\nll"}),
        ("pdb", {"command": "\n".join([f"b hostile.py:{n}, '{'c' * 900}'" for n in range(9, 15)])}),
        ("pdb", {"command": "p " + "y" * 9_000}),
        ("debug", {"command": "c\nw\np value\npp vars(value)\np locals()\nll"}),
        ("trace", {"place": "deep", "code": "value\nn\nlocals()", "count": 20}),
        ("trace", {"place": "z" * 9_000}),
        ("trace", {"exception": "ValueError", "condition": "("}),
        ("inspect", {"place": "deep", "code": "value\nlocals()\n'x' * 90000"}),
        ("inspect", {"place": "z" * 9_000}),
        ("calls", {"place": "deep"}),
        ("calls", {"place": "deep", "hit": 5}),
        *(("snapshot", {"show": show}) for show in ("frames", "steps", "tree", "difference")),
        ("snapshot", {"back": 3}),
        ("rewrite", {"path": "long.txt", "start": 3, "end": 40, "new_code": LINES * 30}),
        ("str_replace", {"path": "long.txt", "old_str": "q" * 9_000, "new_str": ""}),
        ("insert", {"path": "long.txt", "line": 3, "new_str": LINES * 90}),
        ("create", {"path": "a/" + "b" * 200 + ".py", "content": "(" * 90_000}),
        ("undo", {}),
        ("nothing" * 9_000, {}),
        ("view", {"x" * 90_000: 1}),
    ]
    tools = {
        name
        for name in tool_names()
        if find_tool(name).name not in ("submit", "investigate", "answer", "program", "branch")
    }
    assert tools <= {name for name, _ in calls}, "a new tool is asked here too"
    for name, arguments in calls:
        text = step(name, **arguments).text
        assert 0 < len(text) <= most_shown(name), (name, arguments, len(text))


def test_a_file_is_named_once_and_a_source_shown_once(play: Play) -> None:
    test = """import cart, pytest
@pytest.mark.parametrize("last", [3, 4, 5])
def test_sums(last):
    several = [1, 2]
    assert cart.total([*several, last]) == last
"""
    step = play(cart({"tests/test_sums.py": test}, test_command="python -m pytest -q -p no:cacheprovider tests"))
    text = step("grep", pattern="def (total|average)", path="cart.py").text
    assert text.startswith("cart.py\n") and text.count("cart.py") == 1 and ": def total" in text
    output = step("eval", test="tests/test_sums.py").text
    assert output.count("several = [1, 2]") == 1 and output.count("    [as above]\n>       assert cart.total") == 2
    assert fold_repeats(output) == output


def test_a_program_that_prints_nothing_but_indented_lines_costs_little() -> None:
    """If each of them were looked at from all others, this would take hours."""
    output = "    x\n" * 500_000
    assert fold_repeats(output) == output


def test_some_tests_alone(play: Play) -> None:
    step = play(cart())
    single = step("eval", test="tests/test_cart.py::test_total")
    assert "1 failed" in single.text and "test_average" not in single.text and "Use -v" not in single.text
    assert "test_cart.py::test_total FAILED" in step("eval", verbose=True).text
    step("rewrite", path="cart.py", start=5, end=5, new_code="    return result - (len(items) == 2)")
    green = step("eval", test="tests/test_cart.py::test_total")
    assert "1 passed" in green.text and not green.state["solved"] and not step.env.over, "the others are still red"
    assert green.state["tests"]["ids"]["tests/test_cart.py::test_average"] == "failed"
    assert "no tests ran" in step("eval", test="tests/test_cart.py::test_nothing").text


def test_what_pytest_fills_its_lines_up_with_is_not_shown(play: Play) -> None:
    ruled = "    print('=' * 20, 'sums', '=' * 20)\n"
    heading = f"{'=' * 20} sums {'=' * 20}"
    code = f"import cart\n\n\ndef test_sums():\n{ruled}    assert cart.total([2, 3]) == 9\n"
    step = play(cart({"tests/test_sums.py": code}, test_command="python -m pytest -q -p no:cacheprovider tests"))
    text = step("eval", test="tests/test_sums.py").text
    assert "\nF [100%]\n=== FAILURES ===\n___ test_sums ___\n" in text and "=== short test summary info ===" in text
    assert f"\n{heading}\n" in text and "assert cart.total([2, 3]) == 9" in text, "what the program prints is its own"
    assert strip_padding(text) == text, "so a recording with the filling and one without it can be compared"
    assert "_" * 20 in step("bash", command="python -m pytest -q tests").text


def test_a_long_difference_is_shown_whole_where_it_is_asked_for(play: Play) -> None:
    words = [f"word number {number}" for number in range(30)]
    test = f"import cart\n\n\ndef test_words():\n    assert {words} == {words[1:]}\n"
    step = play(cart({"tests/test_words.py": test}, test_command="python -m pytest -q -p no:cacheprovider tests"))
    arguments = {"test": "tests/test_words.py", "limit": 20_000}
    assert "word number 17'," not in step("eval", **arguments).text.partition("AssertionError")[2]
    full = step("eval", **arguments, verbose=True).text.partition("Full diff")[2]
    assert all(f"'{word}'," in full for word in words), "a -q of the test command does not take it back"
    short = step.pdb("c", test="tests/test_words.py::test_words").text
    assert "AssertionError" in short and "Use -v" not in short, "no observation names an option that cannot be given"


def test_read_only_files_are_put_back_before_a_program_is_run(play: Play) -> None:
    step = play(cart())
    step("bash", command="echo 'def test_total(): pass' > tests/test_cart.py")
    observation = step("eval")
    assert "tests/test_cart.py is read-only: your change to it was undone first" in observation.text
    assert "2 failed" in observation.text and not observation.state["solved"]
    assert "was undone first" not in step("eval").text
    step("bash", command="rm tests/test_cart.py")
    stop = step.pdb("c")
    assert "was undone first" in stop.text and "test_total failed" in stop.text


def test_names_of_tests_and_the_command_for_them() -> None:
    assert parse_test_ids("t/a.py::x t/b.py::y[p q], t/c.py", ()) == ["t/a.py::x", "t/b.py::y[p q]", "t/c.py"]
    assert parse_test_ids("t/b.py::y[p r.py::z]", ["t/b.py::y[p r.py::z]"]) == ["t/b.py::y[p r.py::z]"]
    task = cart(test_command="cd tests && X=1 python -m pytest -q -p no:cacheprovider -k t test_cart.py | tail -3")
    command = command_for(task, ["test_cart.py::test_total"], True)
    assert command == (
        "cd tests && X=1 python -m pytest -q -p no:cacheprovider -k t --verbosity=2 test_cart.py::test_total"
    )
    odd = cart({"-a/x_test.py": ""}, test_command="python -m pytest ./-a/x_test.py")
    assert command_for(odd, ["-a/x_test.py::test_x"], False) == "python -m pytest ./-a/x_test.py::test_x"
    with pytest.raises(ToolError, match="accepts neither test ids"):
        command_for(cart(test_command="make check"), ["a"], False)


def test_a_large_object_is_told_in_the_innermost_frame() -> None:
    large, second = f"<Grid rows=[{'1, ' * 40}]>", f"<Grid rows=[{'2, ' * 40}]>"

    def frame(line: int, **names: str) -> Frame:
        location = {"file": "grid.py", "line": line, "function": "f", "source": "f()", "skipped": 0}
        return Frame(**location, locals=names)  # type: ignore[typeddict-item]

    text = frames_text([frame(1, self=second, n="1"), frame(2, self=large, n="1"), frame(3, self=large, n="1")], 2500)
    assert text.count(large) == text.count(second) == 1 and text.count("n = 1") == 3
    assert text.index("(as below)") < text.index(large)
