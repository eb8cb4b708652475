"""Operators that plant faults that show late."""

from __future__ import annotations

import pytest

from stackrank.env.benchmarks.python_project.pytest_command import TestCommand
from stackrank.env.sandbox.client import Sandbox
from stackrank.extensions.authoring.inject.candidates import find_candidates
from stackrank.extensions.authoring.inject.deep_operators import DEEP
from stackrank.extensions.authoring.inject.operators import OPERATORS
from stackrank.extensions.authoring.inject.reach import Reach
from stackrank.extensions.authoring.inject.verify import LEFT, Project, verify

DEEP_CASES = {
    "forgotten-reset": ("def f(self):\n    self.seen = []\n    return self.seen\n", "    pass\n"),
    "key-without-a-part": ("def f(cache, a, b):\n    return cache.get((a, b))\n", "cache.get((a,))"),
    "key-without-an-addend": ("def make_key(a, b):\n    return a + b\n", "return a\n"),
    "other-order": ("def f(self, x):\n    self.hooks.append(x)\n    return x\n", "self.hooks.insert(0, x)"),
    "changed-while-iterating": ("def f(d):\n    for k in list(d.keys()):\n        del d[k]\n", "for k in d.keys():"),
    "not-restored": (
        "def f(self):\n    try:\n        self.go()\n    finally:\n        self.on = 0\n",
        "    self.go()\n    self.on = 0\n",
    ),
    "empty-for-none": ("def f(a):\n    return 1 if a is None else a\n", "1 if not a else a"),
    "lost-precision": ("def f(a):\n    return round(a, 2)\n", "int(a)"),
    "shared-for-copied": ("def f(a):\n    return list(a['x'])\n", "return a['x']"),
}


@pytest.mark.parametrize("name", [operator.name for operator in DEEP if operator not in OPERATORS])
def test_deep_operators(name: str) -> None:
    text, expected = DEEP_CASES[name]
    reach = Reach(("t",), (0.0,), (frozenset({0}),), {"a.py": dict.fromkeys(range(1, text.count("\n") + 1), 0)})
    mutants = [mutant for mutant in find_candidates({"a.py": text.encode()}, reach, 0, DEEP) if mutant.operator == name]
    sources = [mutant.source().decode() for mutant in mutants]
    assert any(expected in text for text in sources), sources
    for text in sources:
        compile(text, "a.py", "exec")


def test_a_deep_fault_leaves_nothing_unused() -> None:
    text = DEEP_CASES["key-without-a-part"][0]
    files, command = {"a.py": text.encode()}, TestCommand.of("pytest", {"test_a.py": b""})
    reach = Reach(("t",), (0.0,), (frozenset({0}),), {"a.py": {1: 0, 2: 0}})
    (candidate, *_) = (
        mutant for mutant in find_candidates(files, reach, 0, DEEP) if mutant.operator == "key-without-a-part"
    )
    nowhere = object.__new__(Sandbox)  # nothing is run for it
    assert verify(nowhere, Project(files, command, reach, 30, deep=True), candidate).problem == LEFT
