"""The repair agent: parts by themselves, and whole episodes in a real sandbox."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from agents.base import Briefing, GaveUp, SetupError
from agents.episode import Budget, Step, StopReason
from agents.repair import Repair, combine, debugger, donors, syntax
from agents.repair.localise import Suspicion, frames, functions_of, words
from agents.repair.proposals import OPERATORS
from agents.repair.source import Candidate, Change, Source
from agents.repair.symptoms import Symptoms
from env.actions import Observation
from env.task import Task
from env.tools import tool_set
from tests.agents.conftest import play_real
from tests.env.conftest import cart, make_task


def source(text: str, **options: Any) -> Source:
    return Source("a.py", textwrap.dedent(text).lstrip("\n"), **options)


def proposed(text: str, **options: Any) -> dict[str, str]:
    """Changed text -> kind, for everything that the operators propose."""
    given = source(text, **options)
    found: dict[str, str] = {}
    for place in given.places:
        for operator in OPERATORS:
            for candidate in operator(place):
                found.setdefault(candidate.apply(given.text), candidate.kind)
    return found


def mended(before: str, after: str, **options: Any) -> str | None:
    """The kind of the proposal that makes `after` of `before`; None where there is none."""
    return proposed(before, **options).get(textwrap.dedent(after).lstrip("\n"))


# ---- proposals

MENDS = [
    ("def f(x):\n    return x < 3\n", "def f(x):\n    return x <= 3\n", "comparison"),
    ("def f(x):\n    return x + 1\n", "def f(x):\n    return x\n", "off by one"),
    ("def f(x, y):\n    return x - y\n", "def f(x, y):\n    return x + y\n", "operator"),
    ("def f(x, y):\n    return x and y\n", "def f(x, y):\n    return x or y\n", "and/or"),
    ("def f(x):\n    return not x\n", "def f(x):\n    return x\n", "sign"),
    ("def f(x):\n    return range(x)\n", "def f(x):\n    return range(x + 1)\n", "off by one"),
    ("def f(x, y):\n    return x[:y]\n", "def f(x, y):\n    return x[:y + 1]\n", "off by one"),
    ("def f(x):\n    return x.lower()\n", "def f(x):\n    return x.casefold()\n", "confused"),
    ("def f(x, y):\n    return g(x, y)\n", "def f(x, y):\n    return g(y, x)\n", "swapped arguments"),
    ("def f(x, y):\n    return x, x\n", "def f(x, y):\n    return x, y\n", "variable"),
    ("def f(x):\n    return sorted(x)\n", "def f(x):\n    return sorted(x, reverse=True)\n", "order"),
    (
        "def f(x=[]):\n    x.append(1)\n",
        "def f(x=None):\n    if x is None:\n        x = []\n    x.append(1)\n",
        "mutable default",
    ),
    ("def f(n):\n    return [[]] * n\n", "def f(n):\n    return [[] for _ in range(n)]\n", "repeated list"),
    ("def f(a):\n    if b := a > 0:\n        g(b)\n", "def f(a):\n    if (b := a) > 0:\n        g(b)\n", "precedence"),
    ("def f(a):\n    return a.strip('ab')\n", "def f(a):\n    return a.removeprefix('ab')\n", "strip"),
    ("def f(a):\n    return a is 'x'\n", "def f(a):\n    return a == 'x'\n", "identity"),
    (
        "def f(a):\n    for x in a:\n        a.remove(x)\n",
        "def f(a):\n    for x in list(a):\n        a.remove(x)\n",
        "iterate a copy",
    ),
    (
        "def f(a):\n    for x in a:\n        g(x)\n        return x\n",
        "def f(a):\n    for x in a:\n        g(x)\n    return x\n",
        "moved out",
    ),
    (
        "def f():\n    n = 0\n    def g():\n        n += 1\n    return g\n",
        "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    return g\n",
        "scope",
    ),
    (
        "def f():\n    return [lambda: i for i in x]\n",
        "def f():\n    return [lambda i=i: i for i in x]\n",
        "late binding",
    ),
    (
        "def f():\n    try:\n        g()\n    except OSError:\n        a()\n    except TimeoutError:\n        b()\n",
        "def f():\n    try:\n        g()\n    except TimeoutError:\n        b()\n    except OSError:\n        a()\n",
        "hidden handler",
    ),
    (
        "class A:\n    def __exit__(self, *e):\n        return self.close()\n",
        "class A:\n    def __exit__(self, *e):\n        self.close()\n",
        "swallowed exception",
    ),
    (
        "def f(x):\n    while True:\n        break\n",
        "def f(x):\n    while True:\n        continue\n",
        "jump",
    ),
]

MENDS += [
    ("def f(a, b):\n    return a > 0 == b\n", "def f(a, b):\n    return (a > 0) == b\n", "precedence"),
    ("def f(a, b):\n    return a + 1 if b else 0\n", "def f(a, b):\n    return a + (1 if b else 0)\n", "precedence"),
    (
        "def f(x):\n    return max(x, key=lambda y: y[0])\n",
        "def f(x):\n    return max(x, key=lambda y: abs(y[0]))\n",
        "magnitude",
    ),
    ("def f(x):\n    return len(x) / 2\n", "def f(x):\n    return (len(x) - 1) / 2\n", "off by one"),
    (
        "def f():\n    try:\n        g()\n    except (KeyError or OSError):\n        h()\n",
        "def f():\n    try:\n        g()\n    except (KeyError, OSError):\n        h()\n",
        "precedence",
    ),
    (
        "class A:\n    def __add__(self, other):\n        return self\n",
        "class A:\n    def __add__(self, other):\n        return self\n\n    __radd__ = __add__\n",
        "reflected",
    ),
]


@pytest.mark.parametrize(
    ("before", "after", "kind"), MENDS, ids=[f"{kind}-{n}" for n, (_, _, kind) in enumerate(MENDS)]
)
def test_proposals(before: str, after: str, kind: str) -> None:
    assert mended(before, after) == kind


def test_a_coroutine_that_is_not_awaited() -> None:
    before = "async def f(a):\n    if a.ready():\n        return 1\n"
    after = "async def f(a):\n    if await a.ready():\n        return 1\n"
    assert mended(before, after) is None
    assert mended(before, after, coroutines=frozenset({"ready"})) == "await"


def test_a_method_that_is_not_called() -> None:
    before = "def f(x):\n    return all(y.ready for y in x)\n"
    after = before.replace("ready", "ready()")
    assert mended(before, after) is None
    assert mended(before, after, methods=frozenset({"ready"})) == "not called"


def test_a_variable_without_a_value() -> None:
    given = source("def f(x):\n    for y in x:\n        z = y\n    return z\n")
    said = "UnboundLocalError: cannot access local variable 'z' where it is not associated with a value"
    found = [each.apply(given.text) for place in given.places for each in Symptoms((said,), "").changes(place)]
    assert "def f(x):\n    z = None\n    for y in x:\n        z = y\n    return z\n" in found


def test_a_deep_copy_brings_its_import() -> None:
    before = '"""Doc."""\nfrom __future__ import annotations\nimport os\n\ndef f(x):\n    return dict(x)\n'
    after = before.replace("import os", "from copy import deepcopy\nimport os").replace("dict(x)", "deepcopy(x)")
    assert mended(before, after) == "deep copy"


def test_docstrings_annotations_and_imports_are_left_alone() -> None:
    given = '''
        """Counts 1 < 2."""
        import os

        def f(x: dict[str, int] = 3) -> list[0]:
            """True for 1 + 1."""
            return x
    '''
    for text in proposed(given):
        assert '"""Counts 1 < 2."""\nimport os' in text.replace("from copy import deepcopy\n", "")
        assert '"""True for 1 + 1."""' in text and "x: dict[str, int]" in text and "-> list[0]" in text


@pytest.mark.parametrize("name", ["expressions", "statements", "search", "source", "flow"])
def test_every_proposal_changes_only_its_places(name: str) -> None:
    """On real code: proposals apply, most of them parse, and none loses what it does not touch."""
    from pathlib import Path

    text = (Path(donors.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
    given = Source("x.py", text)
    count = wrong = 0
    for place in given.places:
        for operator in OPERATORS:
            for candidate in operator(place):
                count += 1
                new = candidate.apply(text)
                first = min(change.start for change in candidate.changes)
                assert candidate.imports or new[:first] == text[:first]
                wrong += count % 20 == 0 and syntax.problem(new) is not None
    assert count > 200 and wrong / (count / 20) < 0.05


def test_the_same_change_in_lines_that_look_alike() -> None:
    given = source("def f(w, h):\n    a = g(w + 1)\n    b = g(h + 1)\n    return a, b\n")
    singles = [c for place in given.places for operator in OPERATORS for c in operator(place)]
    together = [each.apply(given.text) for each in combine.alike(singles, {"a.py": given.text})]
    assert "def f(w, h):\n    a = g(w)\n    b = g(h)\n    return a, b\n" in together


def test_pairs_do_not_overlap() -> None:
    text = "def f(a, b):\n    return a < b and b < 3\n"
    given = source(text)
    singles = [c for place in given.places for operator in OPERATORS for c in operator(place)]
    suspicion = Suspicion(functions_of("a.py", text), [], set(), {"f"})
    pairs = combine.pairs(singles, suspicion, 500)
    assert "def f(a, b):\n    return a <= b and b <= 3\n" in [pair.apply(text) for pair in pairs]
    for pair in pairs:
        one, other = pair.changes
        assert one.end <= other.start


def test_a_missing_call_of_an_own_method() -> None:
    given = source(
        """
        class A:
            def put(self, key, value):
                self.data[key] = value

            def drop(self, key):
                del self.data[key]
        """
    )
    texts = [each.apply(given.text) for each in donors.insertions(given)]
    assert any("value):\n        self.drop(key)\n        self.data[key] = value" in text for text in texts)


# ---- files that do not parse

BROKEN = [
    ("def f(x)\n    return x\n", "def f(x):\n    return x\n"),
    ("A = [\n    1,\n    2,\n\n\ndef f():\n    return A\n", "A = [\n    1,\n    2,\n]\n\n\ndef f():\n    return A\n"),
    ("A = {\n    'a': {\n        'b': 1,\n}\n", "A = {\n    'a': {\n        'b': 1,\n    },\n}\n"),
    ("x = f(1, a=2, 3)\n", "x = f(1, 3, a=2)\n"),
    ("x = (1, 2))\n", "x = (1, 2)\n"),
    ("if x = 3:\n    y = 1\n", "if x == 3:\n    y = 1\n"),
    ("def f():\n    x = 1\n     y = 2\n", "def f():\n    x = 1\n    y = 2\n"),
    ("x = 'abc\ny = 2\n", "x = 'abc'\ny = 2\n"),
    ("D = {\n    'a': 1\n    'b': 2,\n}\n", "D = {\n    'a': 1,\n    'b': 2,\n}\n"),
    ("def f():\n    await g()\n", "async def f():\n    await g()\n"),
]


@pytest.mark.parametrize(("before", "after"), BROKEN)
def test_syntax(before: str, after: str) -> None:
    found = [each.apply(before) for each in syntax.repairs("a.py", before)]
    assert all(syntax.problem(text) is None for text in found)
    assert after in found[:6]


@pytest.mark.parametrize("text", ["", "x = 1\n", "def f(:\n" * 3, "\0", ")" * 50, "'''"])
def test_syntax_that_is_sound_or_beyond_repair(text: str) -> None:
    assert all(syntax.problem(each.apply(text)) is None for each in syntax.repairs("a.py", text))


# ---- localising


def test_frames_are_those_of_known_files() -> None:
    text = (
        "shop/cart.py:34: in total\n    x\n/usr/lib/python/x.py:3: in y\n"
        'E     File "/workspace/shop/tax.py", line 5\nshop/cart.py:41: KeyError\nother.py:1: in z\n'
    )
    assert frames(text, ["shop/cart.py", "shop/tax.py"]) == [
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
    seen = Symptoms(("TypeError: 'NoneType' object is not iterable",), "")
    assert seen.factor("None") > 1 == seen.factor("comparison")
    given = source("def f(self, x):\n    return x.amount * 2\n")
    known = Symptoms(seen.messages, "", {"x": "<Item>", "x.amount": "None"})
    best = max((c for place in given.places for c in known.changes(place)), key=lambda each: each.prior)
    assert "if x.amount is None:" in best.apply(given.text)


def test_what_pdb_would_take_for_two_commands_is_not_asked() -> None:
    assert not debugger.can_be_asked(Candidate("a.py", (Change(0, 1, "';;'"),), "x", 1.0, 1))
    assert debugger.can_be_asked(Candidate("a.py", (Change(0, 1, "1"),), "x", 1.0, 1))


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
    first = Observation("E  x", state={"tests": {"passed": 0, "failed": 1, "ids": ids}})
    agent.begin(Briefing("t", "It fails.", "pytest", tool_set("full"), 50), first)
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


@pytest.mark.parametrize("tools", ["rewrite", "debug"])
def test_mends_a_boundary(tools: str) -> None:
    outcome, steps = play_real(bank(), Repair(), tools)
    assert outcome.stop_reason is StopReason.SOLVED
    assert outcome.score is not None and outcome.score.resolved
    assert "+        return amount <= self.balance" in outcome.score.diff
    used = {step.action.tool for step in steps if step.action}
    assert ("pdb" in used) is (tools == "debug")
    assert used <= set(tool_set(tools).tools)
    assert outcome.usage.cost_usd == 0.0
    assert outcome.wall_s < 20


@pytest.mark.parametrize("tools", ["rewrite", "debug"])
def test_the_same_seed_does_the_same(tools: str) -> None:
    first = play_real(bank(), Repair(), tools, seed=3)
    again = play_real(bank(), Repair(), tools, seed=3)
    assert log(first[1]) == log(again[1])


@pytest.mark.parametrize("tools", ["rewrite", "debug"])
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
    assert outcome.wall_s < 20


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
