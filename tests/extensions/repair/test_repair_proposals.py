"""What the repair agent adds to the operators: hints of failures, combinations, insertions, repairs of syntax."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from stackrank.env.mutation.operators.catalogue import OPERATORS
from stackrank.env.mutation.source import ParsedFile
from stackrank.extensions.repair import arguments, combine, donors, syntax
from stackrank.extensions.repair.localise import Suspicion, functions_of
from stackrank.extensions.repair.omissions import omissions
from stackrank.extensions.repair.symptoms import Symptoms


def source(text: str, **options: Any) -> ParsedFile:
    return ParsedFile("a.py", textwrap.dedent(text).lstrip("\n"), **options)


def test_a_variable_without_a_value() -> None:
    parsed = source("def f(x):\n    for y in x:\n        z = y\n    return z\n")
    message = "UnboundLocalError: cannot access local variable 'z' where it is not associated with a value"
    texts = [
        mutation.apply(parsed.text)
        for context in parsed.contexts
        for mutation in Symptoms((message,), "").mutations(context)
    ]
    assert "def f(x):\n    z = None\n    for y in x:\n        z = y\n    return z\n" in texts


def test_the_same_change_in_lines_that_look_alike() -> None:
    parsed = source("def f(w, h):\n    a = g(w + 1)\n    b = g(h + 1)\n    return a, b\n")
    singles = [c for context in parsed.contexts for operator in OPERATORS for c in operator(context)]
    texts = [mutation.apply(parsed.text) for mutation in combine.alike(singles, {"a.py": parsed.text})]
    assert "def f(w, h):\n    a = g(w)\n    b = g(h)\n    return a, b\n" in texts


def test_pairs_do_not_overlap() -> None:
    text = "def f(a, b):\n    return a < b and b < 3\n"
    parsed = source(text)
    singles = [c for context in parsed.contexts for operator in OPERATORS for c in operator(context)]
    suspicion = Suspicion(functions_of("a.py", text), [], set(), {"f"})
    pairs = combine.pairs(singles, suspicion, 500)
    assert "def f(a, b):\n    return a <= b and b <= 3\n" in [pair.apply(text) for pair in pairs]
    for pair in pairs:
        first, second = pair.edits
        assert first.end <= second.start


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f(x, is_open: bool):\n    return g(x, closed=is_open)\n", {"not is_open"}),
        (
            "class A:\n    done = False\n\n    def f(self):\n        b = self.done\n        self.d = b\n",
            {"not self.done"},
        ),
        ("def f(x) -> bool:\n    ...\n\ndef g(x):\n    return f(x)\n", {"not f(x)"}),
        ("def f(x, is_open):\n    return g(x, *is_open)\n", set()),
        ("def f(s):\n    at = s.rfind('-')\n    if at > 0:\n        return g(s, at)\n", {"at + 1", "at - 1"}),
        ("def f(self, n):\n    self.n -= 1\n    return self.n\n", {"self.n + 1", "self.n - 1"}),
        ("def f(a, b):\n    return g(a) or a == b\n", set()),
    ],
)
def test_what_is_left_out_where_a_value_is_handed_on(text: str, expected: set[str]) -> None:
    edits = [mutation.edits[0].text for context in source(text).contexts for mutation in omissions(context)]
    assert set(edits) == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("shelf.get(isbn) is None", "shelf.get(isbn, -1) is None"),
        ("shelf.get(isbn) + rest.get(isbn, 4)", "shelf.get(isbn, 4) + rest.get(isbn, 4)"),
        ("getattr(shelf, 'rows')", "getattr(shelf, 'rows', None)"),
        ("next(row for row in shelf)", "next((row for row in shelf), None)"),
        ("shelf.pop(isbn,)", "shelf.pop(isbn, None,)"),
        ("seek(shelf, rest)", "seek(shelf, rest, isbn=isbn)"),
        ("Rows(shelf)", "Rows(shelf, rest=rest)"),
    ],
)
def test_what_a_call_lacks(call: str, expected: str) -> None:
    parsed = source(
        "class Rows:\n    def __init__(self, shelf, rest=()):\n        ...\n\n\n"
        f"def seek(shelf, rest, *, isbn=None, key=1):\n    ...\n\n\ndef f(shelf, rest, isbn):\n    return {call}\n"
    )
    texts = {m.apply(parsed.text) for context in parsed.contexts for m in arguments.lacking_arguments(context)}
    assert parsed.text.replace(call, expected) in texts and len(texts) <= arguments.MOST


@pytest.mark.parametrize("call", ["shelf.get()", "shelf.pop(0)", "get(isbn)", "seek(*shelf)", "seek(isbn, key=3)"])
def test_what_lacks_nothing_is_left_alone(call: str) -> None:
    parsed = source(f"def seek(isbn, key=2):\n    ...\n\n\ndef f(shelf, isbn, key):\n    return {call}\n")
    assert not [m for context in parsed.contexts for m in arguments.lacking_arguments(context)]


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("return low, (high)", "return (high), low"),
        ("for low, high in zip(b, a):", "for high, low in zip(b, a):"),
        ("return f(1, low=(a, ), high=b)", "return f(1, low=b, high=(a, ))"),
        ("return {(a, ()): low}", "return {((), a): low}"),
        ("return isinstance(a, (low, high))", ""),
        ("return a in (low, high)", ""),
        ("return a, *b", ""),
        ("return low, low", ""),
    ],
)
def test_neighbours_are_exchanged_where_their_order_matters(wrong: str, right: str) -> None:
    body = wrong + ("\n        pass" if wrong.endswith(":") else "")
    parsed = source(f"def f(a, b, low, high):\n    {body}\n")
    texts = {m.apply(parsed.text) for context in parsed.contexts for m in arguments.exchanges(context)}
    assert texts == ({parsed.text.replace(wrong, right)} if right else set())


@pytest.mark.parametrize(
    ("text", "is_flag"),
    [
        ("def f(x, ready=False):\n    if ready:\n        g(x)\n", True),
        ("def f(self):\n    if self.ready:\n        self.ready = not self.g\n", True),
        ("def f(ready: bool):\n    return 1 if not ready else 2\n", True),
        ("def f(ready):\n    if ready:\n        ready = True\n", False),
        ("def f(self):\n    self.ready = False\n    self.ready, x = g()\n    if self.ready:\n        x()\n", False),
        ("def f(ready=False):\n    for ready in g():\n        if ready:\n            h()\n", False),
    ],
)
def test_what_is_always_true_or_false_is_not_compared_with_none(text: str, is_flag: bool) -> None:
    texts = [c.apply(text) for context in source(text).contexts for operator in OPERATORS for c in operator(context)]
    assert any("None" in changed for changed in texts) != is_flag


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ("min(x, -1)", ["min(-1, a / b)", "max(0, min(-1, a / b))"]),
        ("max(7, min(9, x))", ["max(7, min(9, a / b))", "max(7, a / b)", "min(9, a / b)", "max(0, min(9, a / b))"]),
        ("max(x, y)", []),
    ],
)
def test_a_missing_limit_is_one_that_the_file_has_or_0_or_1(limits: str, expected: list[str]) -> None:
    parsed = source(f"def f(a, b):\n    return a / b\n\n\ndef g(x, y):\n    return {limits}\n")
    texts = {mutation.apply(parsed.text) for mutation in donors.limits(parsed)}
    always = ["max(0, a / b)", "min(1, a / b)", "max(0, min(1, a / b))"]
    assert {parsed.text.replace("a / b", text) for text in (*always, *expected)} <= texts
    assert parsed.text.replace("a / b", "max(b, a / b)") not in texts


@pytest.mark.parametrize(("wrong", "right"), [("rate // 10", "rate // 100"), ("rate * 60", "rate * 3600")])
def test_the_factor_of_another_unit(wrong: str, right: str) -> None:
    parsed = source(f"def f(rate):\n    return {wrong} + 7\n")
    texts = {mutation.apply(parsed.text) for mutation in donors.units(parsed)}
    assert parsed.text.replace(wrong, right) in texts and all("+ 7" in text for text in texts)


def test_a_missing_call_of_an_own_method() -> None:
    parsed = source(
        """
        class A:
            def put(self, key, value):
                self.data[key] = value

            def drop(self, key):
                del self.data[key]
        """
    )
    texts = [mutation.apply(parsed.text) for mutation in donors.insertions(parsed)]
    assert any("value):\n        self.drop(key)\n        self.data[key] = value" in text for text in texts)


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("<", ">"), (">=", "<="), ("==", "!="), ("not in", "in"), ("is", "is not"), ("is not", "is")],
)
def test_the_opposite_of_a_comparison_is_among_the_first_tries(wrong: str, right: str) -> None:
    parsed = source(f"def f(self, shelf, row):\n    if self.key {wrong} shelf[row]:\n        shelf[row] = self.key\n")
    found = [c for context in parsed.contexts for operator in OPERATORS for c in operator(context) if c.line == 2]
    found.sort(key=lambda mutation: -mutation.prior)
    assert parsed.text.replace(f" {wrong} ", f" {right} ") in [mutation.apply(parsed.text) for mutation in found[:4]]


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


@pytest.mark.parametrize(("broken", "fixed"), BROKEN)
def test_syntax(broken: str, fixed: str) -> None:
    texts = [mutation.apply(broken) for mutation in syntax.repairs("a.py", broken)]
    assert all(syntax.problem(text) is None for text in texts)
    assert fixed in texts[:6]


@pytest.mark.parametrize("text", ["", "x = 1\n", "def f(:\n" * 3, "\0", ")" * 50, "'''"])
def test_syntax_that_is_sound_or_beyond_repair(text: str) -> None:
    assert all(syntax.problem(mutation.apply(text)) is None for mutation in syntax.repairs("a.py", text))
