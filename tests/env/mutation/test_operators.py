"""What the operators propose, for small programs and for real ones."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path
from typing import Any

import pytest

from stackrank.env import mutation
from stackrank.env.mutation.operators.catalogue import OPERATORS
from stackrank.env.mutation.source import ParsedFile


def source(text: str, **options: Any) -> ParsedFile:
    return ParsedFile("a.py", textwrap.dedent(text).lstrip("\n"), **options)


def proposed(text: str, **options: Any) -> dict[str, str]:
    """Changed text -> kind, for everything that the operators propose."""
    parsed = source(text, **options)
    kinds: dict[str, str] = {}
    for context in parsed.contexts:
        for operator in OPERATORS:
            for candidate in operator(context):
                kinds.setdefault(candidate.apply(parsed.text), candidate.kind)
    return kinds


def fixing_kind(broken: str, fixed: str, **options: Any) -> str | None:
    """The kind of the proposal that turns `broken` into `fixed`; None if there is none."""
    return proposed(broken, **options).get(textwrap.dedent(fixed).lstrip("\n"))


FIXES = [
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

FIXES += [
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
    ("broken", "fixed", "kind"), FIXES, ids=[f"{kind}-{n}" for n, (_, _, kind) in enumerate(FIXES)]
)
def test_proposals(broken: str, fixed: str, kind: str) -> None:
    assert fixing_kind(broken, fixed) == kind


def test_a_coroutine_that_is_not_awaited() -> None:
    broken = "async def f(a):\n    if a.ready():\n        return 1\n"
    fixed = "async def f(a):\n    if await a.ready():\n        return 1\n"
    assert fixing_kind(broken, fixed) is None
    assert fixing_kind(broken, fixed, coroutines=frozenset({"ready"})) == "await"


def test_a_method_that_is_not_called() -> None:
    broken = "def f(x):\n    return all(y.ready for y in x)\n"
    fixed = broken.replace("ready", "ready()")
    assert fixing_kind(broken, fixed) is None
    assert fixing_kind(broken, fixed, methods=frozenset({"ready"})) == "not called"


def test_a_deep_copy_brings_its_import() -> None:
    broken = '"""Doc."""\nfrom __future__ import annotations\nimport os\n\ndef f(x):\n    return dict(x)\n'
    fixed = broken.replace("import os", "from copy import deepcopy\nimport os").replace("dict(x)", "deepcopy(x)")
    assert fixing_kind(broken, fixed) == "deep copy"


def test_docstrings_annotations_and_imports_are_left_alone() -> None:
    documented = '''
        """Counts 1 < 2."""
        import os

        def f(x: dict[str, int] = 3) -> list[0]:
            """True for 1 + 1."""
            return x
    '''
    for text in proposed(documented):
        assert '"""Counts 1 < 2."""\nimport os' in text.replace("from copy import deepcopy\n", "")
        assert '"""True for 1 + 1."""' in text and "x: dict[str, int]" in text and "-> list[0]" in text


@pytest.mark.slow
@pytest.mark.parametrize("path", ["operators/expressions.py", "operators/statements.py", "source.py"])
def test_proposals_for_real_code_change_only_what_they_name(path: str) -> None:
    text = (Path(mutation.__path__[0]) / path).read_text(encoding="utf-8")
    parsed = ParsedFile("x.py", text)
    count = invalid = 0
    for context in parsed.contexts:
        for operator in OPERATORS:
            for proposal in operator(context):
                count += 1
                changed = proposal.apply(text)
                first = min(edit.start for edit in proposal.edits)
                assert proposal.imports or changed[:first] == text[:first]
                invalid += count % 20 == 0 and not parses(changed)
    assert count > 200 and invalid / (count / 20) < 0.05


def parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
