"""The repair agent in repositories that are larger, or laid out otherwise, than what it reads at first."""

from __future__ import annotations

import textwrap

import pytest

from stackrank.env.task import Task
from stackrank.extensions.repair import Repair
from stackrank.extensions.repair.localise import frames
from stackrank.patches.contents import Link
from tests.fixtures.agents import play_real
from tests.fixtures.env import make_task

RATES = """
    def clamp(value, low, high):
        return max(low, min(high, value))


    def share(part, whole):
        return clamp(part / (whole + 1), 0.0, 1.0)
"""
TESTS = """
    from desk import answer


    def test_half():
        assert answer("share", 1, 2) == 0.5


    def test_none():
        assert answer("share", 0, 2) == 0.0
"""
DESK = """
    from importlib import import_module


    def answer(name, *numbers):
        return getattr(import_module('rates'), name)(*numbers)
"""


def crowded(count: int) -> Task:
    """A program whose fault is in a module that no test names, among many others."""
    others = {f"pool/a{number}.py": f"def f{number}(x):\n    return x + {number}\n" for number in range(count)}
    desk = "from importlib import import_module\n\n\ndef answer(name, *numbers):\n"
    desk += "    return getattr(import_module('pool.rates'), name)(*numbers)\n"
    return make_task(
        {**others, "pool/__init__.py": "", "pool/rates.py": RATES, "desk.py": desk, "tests/test_desk.py": TESTS}
    )


@pytest.mark.slow
def test_files_that_failing_tests_execute_are_read_whatever_names_them() -> None:
    outcome, steps = play_real(crowded(40), Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved
    viewed = [step.action.arguments["path"] for step in steps if step.action and step.action.tool == "view"]
    assert viewed[-1] == "pool/rates.py"


@pytest.mark.slow
@pytest.mark.parametrize("tools", ["debug", "trace", "rewrite"])
@pytest.mark.parametrize("link", ["src/pool", "vendor/pool"])
def test_a_package_that_is_a_link(tools: str, link: str) -> None:
    folder = "rooms/numbers"
    task = make_task(
        {
            f"{folder}/__init__.py": "",
            f"{folder}/rates.py": RATES,
            link: Link(b"../rooms/numbers"),
            "tests/test_rates.py": TESTS.replace("from desk import answer", "from pool.rates import share").replace(
                'answer("share", ', "share("
            ),
        },
        test_command=f"python -m pytest -q -p no:cacheprovider -o pythonpath={link.partition('/')[0]}",
    )
    outcome, _ = play_real(task, Repair(), tools)
    assert outcome.score is not None and outcome.score.resolved
    assert f"a/{folder}/rates.py" in outcome.score.diff


@pytest.mark.slow
@pytest.mark.parametrize("package", ["zoo", "p/zoo"])
def test_the_folder_of_the_failing_tests_is_listed_first(package: str) -> None:
    """A listing of the whole repository leaves out what is in its many folders."""
    names = [f"{'p/' if '/' in package else ''}a{number}" for number in range(9)]
    others = {f"{name}/src/m{number}.py": "x = 1\n" for name in names for number in range(400)}
    tests = TESTS.replace("from desk import answer", "from rates import share").replace('answer("share", ', "share(")
    files = {f"{package}/src/rates.py": RATES, f"{package}/tests/test_rates.py": tests}
    command = f"python -m pytest -q -p no:cacheprovider -o pythonpath={package}/src {package}/tests"
    outcome, _steps = play_real(make_task({**others, **files}, test_command=command), Repair(), "rewrite")
    assert outcome.score is not None and outcome.score.resolved


@pytest.mark.slow
@pytest.mark.parametrize("lines", [1500, 3300, 6100])
def test_a_long_file_is_read_because_failing_tests_execute_it(lines: int) -> None:
    """The file is not the likeliest by its name, and has more pages than are read of others."""
    long = f"{textwrap.dedent(RATES)}\n" + "".join(f"X{number} = {number}\n" for number in range(lines))
    desk = DESK.replace("import_module('rates')", "import_module('book')")
    task = make_task({"book.py": long, "desk.py": desk, "tests/test_desk.py": TESTS})
    outcome, _steps = play_real(task, Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved


def test_frames_follow_links() -> None:
    text = "src/pool/rates.py:7: in share\npool/rates.py:3: ZeroDivisionError\nsrc/pools/rates.py:1: in f\n"
    links = {"src/pool": "rooms/numbers", "pool": "src/pool"}
    assert frames(text, ["rooms/numbers/rates.py"], links) == [("rooms/numbers/rates.py", 7)]


SUMS = """
    def weigh(first, second, third):
        low = first * 2 + second - third + 7
        high = second * 5 - first + third * 3
        middle = low * high - third + first * 4
        return middle + low - high


    def add_up(count):
        total = 0
        for number in range(count):
            total += number
        return total
"""
FAST = """
    def test_weigh():
        assert weigh(1, 2, 3) == 141
        assert weigh(2, 5, 1) == 388
        assert weigh(0, 1, 4) == 59
"""
SLOW = """
    def test_add_up():
        assert add_up(1_600_000) == 1_279_999_200_000
"""


@pytest.mark.slow
@pytest.mark.parametrize("tests", [SLOW + FAST, FAST + SLOW])
def test_a_passing_test_that_takes_long_does_not_shorten_the_search(tests: str) -> None:
    task = make_task({"sums.py": SUMS, "tests/test_sums.py": "    from sums import add_up, weigh\n\n" + tests})
    outcome, _steps = play_real(task, Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved


@pytest.mark.slow
@pytest.mark.parametrize("returned", ["low - high", "high - low - 1", "high + low"])
def test_a_fix_may_let_tests_run_far_longer_than_they_did_when_they_failed(returned: str) -> None:
    tests = """
        from span import gap


        def test_gap():
            assert gap(2, 5) == 3


        def test_sum():
            assert gap(7, 9) == 2
            assert sum(gap(1, n) for n in range(600_000)) == 179_999_100_000
    """
    program = f"def gap(low, high):\n    return {returned}\n"
    outcome, _steps = play_real(make_task({"span.py": program, "tests/test_span.py": tests}), Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved


@pytest.mark.slow
def test_a_passing_test_that_cannot_run_twice_refutes_no_change() -> None:
    """The debugger runs tests again in a process that has run them."""
    program = "ABOVE = []\n\ndef is_above(value, least):\n    return value > least\n"
    tests = """
        from levels import ABOVE, is_above

        def test_once():
            assert is_above(3, 2) and not ABOVE
            ABOVE.append(3)

        def test_never():
            assert not is_above(1, 2)

        def test_least():
            assert is_above(2, 2)
    """
    outcome, _steps = play_real(make_task({"levels.py": program, "tests/test_levels.py": tests}), Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved
