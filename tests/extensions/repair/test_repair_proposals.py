"""What the repair agent proposes: changes of sound code, repairs of syntax."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from stackrank.env.mutation.operators.catalogue import OPERATORS
from stackrank.env.mutation.source import ParsedFile
from stackrank.extensions.repair import combine, donors, syntax
from stackrank.extensions.repair.localise import Suspicion, functions_of
from stackrank.extensions.repair.symptoms import Symptoms


def source(text: str, **options: Any) -> ParsedFile:
    return ParsedFile("a.py", textwrap.dedent(text).lstrip("\n"), **options)


def proposed(text: str, **options: Any) -> dict[str, str]:
    """Changed text -> kind, for everything that the operators propose."""
    given = source(text, **options)
    found: dict[str, str] = {}
    for context in given.contexts:
        for operator in OPERATORS:
            for candidate in operator(context):
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
    found = [each.apply(given.text) for context in given.contexts for each in Symptoms((said,), "").mutations(context)]
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["expressions", "statements", "search", "source", "flow"])
def test_every_proposal_changes_only_its_places(name: str) -> None:
    """On real code: proposals apply, most of them parse, and none loses what it does not touch."""
    from pathlib import Path

    text = (Path(donors.__file__).parent / f"{name}.py").read_text(encoding="utf-8")
    given = ParsedFile("x.py", text)
    count = wrong = 0
    for context in given.contexts:
        for operator in OPERATORS:
            for candidate in operator(context):
                count += 1
                new = candidate.apply(text)
                first = min(change.start for change in candidate.edits)
                assert candidate.imports or new[:first] == text[:first]
                wrong += count % 20 == 0 and syntax.problem(new) is not None
    assert count > 200 and wrong / (count / 20) < 0.05


def test_the_same_change_in_lines_that_look_alike() -> None:
    given = source("def f(w, h):\n    a = g(w + 1)\n    b = g(h + 1)\n    return a, b\n")
    singles = [c for context in given.contexts for operator in OPERATORS for c in operator(context)]
    together = [each.apply(given.text) for each in combine.alike(singles, {"a.py": given.text})]
    assert "def f(w, h):\n    a = g(w)\n    b = g(h)\n    return a, b\n" in together


def test_pairs_do_not_overlap() -> None:
    text = "def f(a, b):\n    return a < b and b < 3\n"
    given = source(text)
    singles = [c for context in given.contexts for operator in OPERATORS for c in operator(context)]
    suspicion = Suspicion(functions_of("a.py", text), [], set(), {"f"})
    pairs = combine.pairs(singles, suspicion, 500)
    assert "def f(a, b):\n    return a <= b and b <= 3\n" in [pair.apply(text) for pair in pairs]
    for pair in pairs:
        one, other = pair.edits
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
