"""Values as observations show them: what an object holds, without running any code of the program."""

from __future__ import annotations

import asyncio
import collections
import functools
import io
import itertools
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest

from stackrank.env.sandbox.guest.debugging.values import safe_locals, shown


class Node:
    def __init__(self, size: int) -> None:
        self.size = size


class Watchful:
    """Notices every access."""

    accesses: ClassVar[list[str]] = []

    def __getattribute__(self, name: str) -> Any:
        Watchful.accesses.append(name)
        raise RuntimeError(name)

    def __repr__(self) -> str:
        Watchful.accesses.append("repr")
        return ""


class Disguised:
    """Says that it is another class."""

    @property
    def __class__(self) -> Any:
        Watchful.accesses.append("class")
        return str


def _rows() -> Iterator[int]:
    yield 1


def _paused() -> Iterator[int]:
    rows = _rows()
    next(rows)
    return rows


async def _nothing() -> None:
    pass


NODE = Node(3)
POINT = collections.namedtuple("POINT", "x y")
HELD: dict[str, tuple[Callable[[], Any], str]] = {
    "proxy": (lambda: weakref.proxy(NODE), "<weakproxy to Node>"),
    "dead proxy": (lambda: weakref.proxy(Node(1)), "<weakproxy to nothing any more>"),
    "reference": (lambda: weakref.ref(NODE), "<ReferenceType of <Node size=3>>"),
    "dead reference": (lambda: weakref.ref(Node(1)), "<ReferenceType to nothing any more>"),
    "keys": ({"a": NODE}.keys, "<dict_keys of {'a': <Node size=3>}>"),
    "read-only": (lambda: types.MappingProxyType({"a": 1}), "<mappingproxy of {'a': 1}>"),
    "iterator": (lambda: iter([1, 2]), "<list_iterator of [1, 2]>"),
    "pairs": (lambda: enumerate([5]), "<enumerate of <list_iterator of [5]>>"),
    "counter": (lambda: itertools.count(7), "<count>"),
    "items": (lambda: iter({"a": 1}.items()), "<dict_itemiterator of {'a': 1}>"),
    "partial": (lambda: functools.partial(int, base=4), "<partial func=<type int>, args=(), keywords={'base': 4}>"),
    "slice": (lambda: slice(1, None, 2), "<slice of 1, None, 2>"),
    "text": (lambda: io.StringIO("abc"), "<StringIO of 'abc'>"),
    "bound": (lambda: [1].append, "<builtin_function_or_method of [1]>"),
    "function": (lambda: len, "<built-in len>"),
    "dots": (lambda: ..., "Ellipsis"),
    "named tuple": (lambda: POINT(1, [2]), "<POINT x=1, y=[2]>"),
    "new generator": (_rows, "<generator _rows, not started>"),
    "paused generator": (_paused, "<generator _rows, paused at test_values.py:49>"),
    "finished generator": (lambda: [rows := _rows(), list(rows)][0], "<generator _rows, finished>"),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_objects_of_built_in_types_show_what_they_hold(name: str) -> None:
    make, text = HELD[name]
    assert shown(make()) == text


def test_coroutines_say_where_they_are() -> None:
    coroutine = _nothing()
    assert shown(coroutine) == "<coroutine _nothing, not started>"
    asyncio.run(coroutine)
    assert shown(coroutine) == "<coroutine _nothing, finished>"


def test_no_code_of_the_program_runs() -> None:
    watchful = Watchful()
    values = [watchful, Disguised(), weakref.proxy(watchful), {1: watchful}.items(), iter([Disguised()])]
    texts = [shown(value) for value in values] + [str(safe_locals({"x": value})) for value in values]
    assert Watchful.accesses == [] and all("Watchful" in text or "Disguised" in text for text in texts)
