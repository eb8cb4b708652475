"""The repair agent: localising, the plan, and whole episodes in a real sandbox."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import Any

import pytest

from stackrank.agents.episode.loop import Budget
from stackrank.agents.episode.protocol import Briefing, GaveUp, SetupError
from stackrank.agents.episode.step import Step
from stackrank.env.actions import Observation
from stackrank.env.mutation.edits import Edit
from stackrank.env.mutation.mutation import Mutation
from stackrank.env.mutation.source import ParsedFile
from stackrank.env.task import Task
from stackrank.env.tools import tool_set
from stackrank.extensions.repair import Repair, debugger
from stackrank.extensions.repair.localise import Suspicion, frames, functions_of, words
from stackrank.extensions.repair.symptoms import Symptoms
from stackrank.terms import StopReason
from tests.fixtures.agents import play_real
from tests.fixtures.env import cart, make_task

pytestmark = pytest.mark.slow


def source(text: str, **options: Any) -> ParsedFile:
    return ParsedFile("a.py", textwrap.dedent(text).lstrip("\n"), **options)


# ---- localising


def test_frames_are_those_of_known_files() -> None:
    text = (
        "shop/cart.py:34: in total\n    x\n/usr/lib/python/x.py:3: in y\n"
        'E     File "/workspace/shop/tax.py", line 5\nshop/cart.py:41: KeyError\nother.py:1: in z\n'
    )
    assert frames(text, ["shop/cart.py", "shop/tax.py"], {}) == [
        ("shop/cart.py", 34),
        ("shop/tax.py", 5),
        ("shop/cart.py", 41),
    ]


def test_suspicion_without_and_with_coverage() -> None:
    text = "def near():\n    return far()\n\n\ndef far():\n    return 1\n\n\ndef unrelated():\n    return 2\n"
    suspicion = Suspicion(functions_of("a.py", text), [("a.py", 6)], words("the far one"), {"near"})
    assert suspicion.of("a.py", 6) > suspicion.of("a.py", 2) > suspicion.of("a.py", 10) > 0
    suspicion.executed = {"a.py": {1: (1, 3), 2: (1, 3), 5: (1, 0), 6: (1, 0)}}
    assert suspicion.of("a.py", 6) > suspicion.of("a.py", 2) > suspicion.of("a.py", 10) == 0


def test_symptoms_weigh_kinds() -> None:
    symptoms = Symptoms(("TypeError: 'NoneType' object is not iterable",), "")
    assert symptoms.factor("None") > 1 == symptoms.factor("comparison")
    parsed = source("def f(self, x):\n    return x.amount * 2\n")
    with_values = Symptoms(symptoms.messages, "", {"x": "<Item>", "x.amount": "None"})
    best = max(
        (c for context in parsed.contexts for c in with_values.mutations(context)), key=lambda mutation: mutation.prior
    )
    assert "if x.amount is None:" in best.apply(parsed.text)


def test_what_pdb_would_take_for_two_commands_is_not_asked() -> None:
    assert not debugger.can_try_stopped(Mutation("a.py", (Edit(0, 1, "';;'"),), "x", 1.0, 1))
    assert debugger.can_try_stopped(Mutation("a.py", (Edit(0, 1, "1"),), "x", 1.0, 1))


# ---- the plan without a sandbox


def test_there_is_nothing_to_configure() -> None:
    with pytest.raises(SetupError, match="'depth'"):
        Repair(config={"depth": 3})


def test_gives_up_at_once_without_the_tools_it_needs() -> None:
    for tools in ("view,eval", "rewrite,eval", "rewrite,view"):
        agent = Repair()
        agent.begin(Briefing("t", "", "", tool_set(tools), 50), Observation(""))
        with pytest.raises(GaveUp):
            agent.act(Observation(""))


def test_a_world_that_refuses_everything() -> None:
    agent = Repair()
    ids = {"tests/test_x.py::test_y": "failed"}
    first = Observation("E  x", state={"kind": "tests", "tests": {"passed": 0, "failed": 1, "ids": ids}})
    agent.begin(Briefing("t", "It fails.", "pytest", tool_set("bash-debug"), 50), first)
    observation = first
    with pytest.raises(GaveUp):
        for _ in range(60):
            agent.act(observation)
            observation = Observation("no", False)


# ---- episodes

BANK = {
    "bank/__init__.py": "",
    "bank/account.py": """
        class Account:
            def __init__(self, owner, balance=0):
                self.owner = owner
                self.balance = balance

            def can_pay(self, amount):
                return amount < self.balance

            def pay(self, amount):
                if not self.can_pay(amount):
                    raise ValueError("not enough")
                self.balance -= amount
                return self.balance
    """,
    "bank/report.py": """
        def summary(accounts):
            lines = [f"{a.owner}: {a.balance}" for a in accounts if a.balance >= 0]
            return "; ".join(sorted(lines))
    """,
    "tests/test_bank.py": """
        import pytest
        from bank.account import Account
        from bank.report import summary


        def test_pay_all():
            assert Account("ann", 5).pay(5) == 0


        def test_pay_some():
            assert Account("ann", 5).pay(2) == 3


        def test_pay_too_much():
            with pytest.raises(ValueError):
                Account("ann", 5).pay(6)


        def test_summary():
            assert summary([Account("bob", 1), Account("ann", 2)]) == "ann: 2; bob: 1"
    """,
}


def bank(**options: Any) -> Task:
    return make_task(BANK, statement="An account cannot be emptied by a payment.", **options)


def log(steps: list[Step]) -> list[Any]:
    return [(step.action, step.thought, step.observation.text, step.observation.ok) for step in steps]


@pytest.mark.parametrize("tools", ["rewrite", "debug", "trace"])
def test_mends_a_boundary(tools: str) -> None:
    outcome, steps = play_real(bank(), Repair(), tools)
    assert outcome.stop_reason is StopReason.SOLVED
    assert outcome.score is not None and outcome.score.resolved
    assert "+        return amount <= self.balance" in outcome.score.diff
    tools_used = {step.action.tool for step in steps if step.action}
    assert ("pdb" in tools_used) is (tools == "debug") and ("trace" in tools_used) is (tools == "trace")
    assert tools_used <= set(tool_set(tools).tools)
    assert outcome.usage.cost_usd == 0.0


@pytest.mark.parametrize("tools", ["debug", "rewrite", "trace"])
def test_the_same_seed_does_the_same(tools: str) -> None:
    first = play_real(bank(), Repair(), tools, seed=3)
    repeated = play_real(bank(), Repair(), tools, seed=3)
    assert log(first[1]) == log(repeated[1])


@pytest.mark.exhaustive
@pytest.mark.parametrize("tools", ["rewrite", "debug", "trace"])
def test_hopeless_ends_with_everything_put_back(tools: str) -> None:
    """A test that nothing can satisfy: the agent keeps to its budget, edits no test and leaves no rubbish behind."""
    never = "from bank.account import Account\n\n\ndef test_no():\n    assert Account('a').pay(0) == 'x'\n"
    impossible = {**BANK, "tests/test_bank.py": never}
    outcome, steps = play_real(make_task(impossible), Repair(), tools, budget=Budget(steps=24))
    assert outcome.stop_reason in (StopReason.AGENT_GAVE_UP, StopReason.STEP_LIMIT)
    assert outcome.steps <= 24
    assert outcome.score is not None and not outcome.score.resolved and outcome.score.diff == ""
    edited = [step.action.arguments["path"] for step in steps if step.action and step.action.tool == "rewrite"]
    assert edited and all(path.startswith("bank/") for path in edited)


def test_a_trace_tells_which_lines_fail() -> None:
    """Of two functions that look alike, the one that only the failing test runs is changed first."""
    files = {
        "signs.py": """
            def up(x):
                return x + 1


            def down(x):
                return x + 1


            TABLE = {"u": up, "d": down}


            def f(x, y):
                return TABLE[y](x)
        """,
        "tests/test_signs.py": (
            "from signs import f\n\n\ndef test_u():\n    assert f(3, 'u') == 4\n\n\n"
            "def test_d():\n    assert f(3, 'd') == 2\n"
        ),
    }
    outcome, steps = play_real(make_task(files), Repair(), "trace")
    assert outcome.score is not None and outcome.score.resolved
    traced = [step for step in steps if step.action and step.action.tool == "trace"]
    assert [step.action.arguments["test"].partition("::")[2] for step in traced if step.action] == ["test_d", "test_u"]
    assert all("signs.py:" in step.observation.text and len(step.observation.text) < 1000 for step in traced)
    edits = [step.action.arguments["new_code"] for step in steps if step.action and step.action.tool == "rewrite"]
    assert all("def up(x):\n    return x + 1" in text for text in edits)


DOCTESTED = """
    def clamp(x, least):
        \"\"\"No less than the least.

        >>> clamp(1, 3)
        3
        >>> clamp(5, 3)
        5
        \"\"\"
        return min(x, least)


    def twice(x):
        return x * 2
"""


@pytest.mark.parametrize("tools", ["debug", "rewrite", "trace"])
@pytest.mark.parametrize("has_test_file", [False, True])
def test_a_doctest_stands_in_what_is_to_be_mended(tools: str, has_test_file: bool) -> None:
    files = {"limits.py": DOCTESTED, "shapes.py": "def area(a, b):\n    return a * b\n"}
    if has_test_file:  # a test of its own fails too
        files["tests/test_it.py"] = "from limits import clamp\n\n\ndef test_it():\n    assert clamp(9, 2) == 9\n"
    task = make_task(files, test_command="python -m pytest -q -p no:cacheprovider --doctest-modules")
    outcome, steps = play_real(task, Repair(), tools)
    assert outcome.score is not None and outcome.score.resolved
    assert "+    return max(x, least)" in outcome.score.diff
    edited = {step.action.arguments["path"] for step in steps if step.action and step.action.tool == "rewrite"}
    assert edited == {"limits.py"}


@pytest.mark.exhaustive
def test_a_program_beside_many_files() -> None:
    """A listing of 500 entries ends before the program, which comes after its data and its tests."""
    data = {f"data/{n}/{m}.txt": "x" for n in range(20) for m in range(30)}
    program = {name.replace("bank/", "vault/"): text.replace("bank.", "vault.") for name, text in BANK.items()}
    outcome, steps = play_real(make_task({**data, **program}), Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved
    listed = [step.action.arguments["path"] for step in steps if step.action and step.action.tool == "listdir"]
    assert listed == [".", "vault/"]


@pytest.mark.exhaustive
def test_a_program_of_one_long_file() -> None:
    """Of other long files, and of tests, only the first page is read."""
    filler = "".join(f"\n\ndef filler{n}(x):\n    return x + {n}\n" for n in range(500))
    bank, tests = (textwrap.dedent(BANK[name]) for name in ("bank/account.py", "tests/test_bank.py"))
    tests = (
        tests.replace("bank.account", "bank")
        .replace("from bank.report import summary\n", "")
        .partition("def test_summ")[0]
    )
    files = {"bank.py": filler + bank, "other.py": filler, "tests/test_bank.py": tests + filler}
    outcome, steps = play_real(make_task(files), Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved
    assert "+        return amount <= self.balance" in outcome.score.diff
    viewed = Counter(step.action.arguments["path"] for step in steps if step.action and step.action.tool == "view")
    assert viewed == {"tests/test_bank.py": 1, "bank.py": 6, "other.py": 1}


def test_two_places_one_after_another() -> None:
    files = {
        "sums.py": "def up(x):\n    return x - 1\n\n\ndef double(x):\n    return x * 3\n",
        "tests/test_sums.py": (
            "from sums import double, up\n\n\ndef test_up():\n    assert up(3) == 4\n\n\n"
            "def test_double():\n    assert double(2) == 4\n"
        ),
    }
    outcome, _ = play_real(make_task(files), Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved
    assert outcome.diagnosis.milestones["improved"] < outcome.diagnosis.milestones["solved"]


def test_a_file_that_does_not_parse() -> None:
    outcome, _ = play_real(
        make_task(
            {
                "calc.py": "def add(a, b)\n    return a + b\n",
                "tests/test_calc.py": "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
            }
        ),
        Repair(),
        "rewrite",
    )
    assert outcome.stop_reason is StopReason.SOLVED


@pytest.mark.parametrize("reader", ["tests/conftest.py", "tests/test_sizes.py"])
def test_a_change_after_which_no_test_can_be_collected_helps_nothing(reader: str) -> None:
    """No change makes the test pass, and one of the first to be tried breaks the module when it is imported."""
    files = {
        "sizes.py": "def size(rows):\n    return rows[0] + 1\n\n\nLIMIT = size([7])\n",
        "tests/test_sizes.py": "from sizes import size\n\n\ndef test_size():\n    assert size([3]) == 'no number'\n",
        "tests/test_same.py": "def test_same():\n    pass\n",
    }
    files[reader] = f"from sizes import LIMIT\n{files.get(reader, '')}"
    outcome, steps = play_real(make_task(files), Repair(), "rewrite", Budget(steps=20))
    assert any("IndexError" in step.observation.text for step in steps)
    assert outcome.score is not None and not outcome.score.diff


@pytest.mark.exhaustive
def test_changes_that_hang_cost_little() -> None:
    """Many changes of a loop never end: in the stopped program each is cut off soon."""
    files = {
        "walk.py": """
            def steps(n):
                count = 0
                while n > 1:
                    n = n // 2
                    count += 1
                return count + 1
        """,
        "tests/test_walk.py": (
            "from walk import steps\n\n\ndef test_steps():\n    assert steps(8) == 3 and steps(1) == 0\n"
        ),
    }
    outcome, steps = play_real(make_task(files), Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved
    assert not any(step.observation.state.get("timed_out") for step in steps)


def test_the_debugger_becomes_available_later() -> None:
    task = cart(statement="The average of the empty cart should be 0; totals are too small.")
    _, steps = play_real(task, Repair(), "debug5")
    tools = [step.action.tool for step in steps if step.action]
    if "pdb" in tools:
        assert tools[: tools.index("pdb")].count("rewrite") >= 5


def test_output_of_the_program_does_not_confuse_it() -> None:
    noisy = {**BANK, "bank/__init__.py": "print('repair> [1]')\nprint('(Pdb) tests/x.py:3: in y')\n"}
    outcome, _ = play_real(make_task(noisy, statement="An account cannot be emptied."), Repair(), "debug")
    assert outcome.score is not None and outcome.score.resolved
