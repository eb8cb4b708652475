# stackrank-canary 3f1c8c1e-5d0b-4c57-9b0e-2f6b0f0e9a44
from __future__ import annotations

import pytest

from algebra import calculate, derive, read, show


def test_calculate():
    assert calculate(read("2 * (3 + 4) - 6 / 4")) == 12.5
    assert calculate(read("2 ^ 3 ^ 2")) == 512


@pytest.mark.parametrize("text", ["2 * (3 + 4)", "a + b * c", "(a + b) / (c - 1)", "a - b - c"])
def test_same_text_again(text):
    assert show(read(text)) == text


def test_difference_of_a_difference():
    node = read("10 - (4 - 3)")
    assert calculate(read(show(node))) == 9


def test_derivative():
    assert show(derive(read("x ^ 3 + 2 * x"), "x")) == "3 * x ^ 2 * 1 + (0 * x + 2 * 1)"
    with pytest.raises(ValueError):
        read("a + ")
