# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import random

import pytest

from algebra import calculate, derive, read, show
from algebra.nodes import Op


@pytest.mark.parametrize("text", [
    "10 - (4 - 3)", "8 / (4 / 2)", "8 / (4 * 2)", "(a ^ b) ^ c", "a ^ b ^ c", "a ^ (b + 1)", "(a + b) ^ 2", "a - (b + c)", "a + (b + c)",
    "a * (b * c)", "a * (b / c)", "a / b / c", "a / b * c", "(a - b) * (c - (d - e))", "2 ^ (3 * x) ^ 2",
])
def test_only_brackets_that_are_needed(text):
    assert show(read(text)) == text


@pytest.mark.parametrize("text, shown", [
    ("((a))", "a"), ("(a + b) + c", "a + b + c"), ("(a * b) + c", "a * b + c"), ("a ^ (b ^ c)", "a ^ b ^ c"), ("(a / b) / c", "a / b / c"),
    ("(a ^ 2) * b", "a ^ 2 * b"), ("a - (b * c)", "a - b * c"),
])
def test_needless_brackets_go(text, shown):
    assert show(read(text)) == shown


def test_any_formula_there_and_back():
    chance = random.Random(4)

    def make(depth):
        if depth == 0 or chance.random() < 0.2:
            return chance.choice([1, 2, 3, "x", "y"])
        return Op(chance.choice("+-*/^"), make(depth - 1), make(depth - 1))

    for _ in range(300):
        node = make(4)
        assert read(show(node)) == node


def test_derivative_of_a_quotient():
    node = derive(read("x / (x - 1)"), "x")
    assert show(node) == "(1 * (x - 1) - x * (1 - 0)) / (x - 1) ^ 2"
    assert calculate(read(show(node)), x=3) == calculate(node, x=3)


def test_errors():
    for text in ("(a", "a b", "a)", "", "$"):
        with pytest.raises(ValueError):
            read(text)


def test_formulas_as_trees():
    assert show(Op("-", 10, Op("-", 4, 3))) == "10 - (4 - 3)"
    assert show(Op("/", 8, Op("*", 4, 2))) == "8 / (4 * 2)"
    assert show(Op("^", Op("^", "a", 2), 3)) == "(a ^ 2) ^ 3"


def test_results_after_printing():
    assert calculate(read(show(Op("-", 10, Op("-", 4, 3))))) == 9
    assert calculate(read(show(Op("^", Op("^", 2, 3), 2)))) == 64
    assert calculate(read(show(Op("/", 12, Op("/", 6, 2))))) == 4
