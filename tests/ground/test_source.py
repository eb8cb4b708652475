"""Parsing of Python source."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from stackrank.source import literal, parse_python

SOURCE = "".join(f"def f{n}(a, b=[1, (2, 3)]):\n    return [a + b[{n}](x) for x in a if x]\n" for n in range(50))


@pytest.fixture
def other_threads_run_in_between() -> Iterator[None]:
    """The collector hands over to another thread, as any finaliser written in Python may."""
    threshold = gc.get_threshold()
    gc.set_threshold(50)

    def hand_over(*_: object) -> None:
        time.sleep(0)

    gc.callbacks.append(hand_over)
    yield
    gc.callbacks.remove(hand_over)
    gc.set_threshold(*threshold)


@pytest.mark.usefixtures("other_threads_run_in_between")
def test_threads_may_parse_at_the_same_time() -> None:
    with ThreadPoolExecutor(4) as pool:
        trees = list(pool.map(parse_python, [SOURCE] * 8))
    assert all(len(tree.body) == 50 for tree in trees)


@pytest.mark.usefixtures("other_threads_run_in_between")
def test_threads_may_read_literals_at_the_same_time() -> None:
    text = f"{[[n, (n, {n: str(n)})] for n in range(500)]}"
    with ThreadPoolExecutor(4) as pool:
        values = list(pool.map(literal, [text] * 16))
    assert all(value[499] == [499, (499, {499: "499"})] for value in values)


def test_literal_from_tree_or_text() -> None:
    (statement,) = parse_python("{'a': [1, -2]}").body
    assert literal(statement.value) == literal("  {'a': [1, -2]}") == {"a": [1, -2]}  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="malformed"):
        literal("f(1)")


def test_invalid_python_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        parse_python("def f(:\n")
