"""Hooks put into code tell what `sys.settrace` tells, and the program does what it did."""

from __future__ import annotations

import contextlib
import gc
import io
import itertools
import sys
import textwrap
import traceback
import types
from typing import Any

import pytest

from stackrank.env.sandbox.guest.debugging.observers.insertion import Inserter, usable
from stackrank.env.sandbox.guest.debugging.observers.tracing import (
    CALLS,
    ENDS,
    LINES,
    RAISES,
    Observer,
    Own,
    SetTracer,
    Traceback,
    Tracer,
)
from tests.fixtures.env import Play, make_task

pytestmark = pytest.mark.skipif(not usable(), reason="hooks are put into code of Python 3.11 only")

PROGRAMS = {
    "exceptions": """
        import contextlib
        def f(a):
            try:
                if a == 0: raise OSError("0")
                elif a == 1: return {}["k"]
                elif a == 2:
                    try:
                        raise OSError("in")
                    except KeyError:
                        pass
                elif a == 3:
                    try: 1 / 0
                    except ZeroDivisionError as e:
                        raise
                elif a == 4:
                    try: 1 / 0
                    except ZeroDivisionError as e:
                        raise OSError("new") from e
                elif a == 5:
                    with contextlib.suppress(KeyError), open("/dev/null"):
                        {}[1]
                    return 5
                elif a == 6:
                    for i in range(3):
                        try: continue
                        finally: print(i)
                elif a == 7:
                    try:
                        try:
                            1 / 0
                        finally:
                            a = 1
                            a = 2
                    except ZeroDivisionError: a = 3
                else:
                    try:
                        try: int("x")
                        except ValueError as e:
                            int("y")
                    except ValueError as f:
                        raise SystemExit
            finally:
                print("end", a)
        def groups():
            try:
                raise ExceptionGroup("g", [ValueError(1), KeyError(2)])
            except* ValueError as e:
                print("v")
            except* KeyError:
                print("k")
        groups()
        for a in range(9):
            try: f(a)
            except BaseException as e: print(type(e), e.__traceback__.tb_next.tb_lineno)
        assert (1 ==
                2), a
    """,
    "generators": """
        import asyncio
        def gen(n):
            try:
                for i in range(n):
                    x = yield i
            except ValueError:
                yield -1
            finally:
                print("closed")
        def outer():
            r = yield from gen(2)
            return [r for r in (yield from gen(1) or ()) or ()]
        list(outer())
        one = gen(5); next(one); one.close()
        two = gen(5); next(two); print(two.throw(ValueError())); del two
        async def pause(n):
            await asyncio.sleep(0)
            async with asyncio.Lock():
                return n
        async def several():
            for i in range(3):
                yield i
                await asyncio.sleep(0)
        async def main():
            found = [x async for x in several()]
            async for each in several(): found.append(each)
            return found, await asyncio.gather(pause(1), pause(2))
        print(asyncio.run(main()))
    """,
    "lines": """
        import functools, threading
        def again(n): return 1 if n < 2 else n * again(n - 1)
        def deco(fn):
            @functools.wraps(fn)
            def inner(*a, **k):
                return fn(*a, **k)
            return inner
        class C:
            b = [i for i in range(3)]
            def m(self, **k): return self
            def n(self, x, y=0): return self
            @property
            def p(self): return self.b
            def __enter__(self): return self
            def __exit__(self, *a):
                return True
        @deco
        @deco
        def decorated(
            x,
            y=2,
        ):
            "doc"
            return x + \\
                y
        (C()
            .m(x=1)
            .n(1,
               y=2)
            .m(z=3 if C else
               4))
        with C() as c, \\
                C():
            c.p
            raise KeyError
        def match(x):
            match x:
                case [a, b]: return 1
                case {"k": v}:
                    return v
                case str() if len(x) > 2: return 3
                case _:
                    pass
        def loops(t=0):
            while t < 5: t += 1
            while True:
                t += 1
                if t > 8: break
            for k in range(3): t += k
            else:
                t += 1
            return (t +
                    len([each for each in range(t)
                         if each % 2]))
        def closure():
            n = 0
            def more():
                nonlocal n
                n += 1
                return n
            return more
        for v in ([1, 2], {"k": 1}, "abc", 3): match(v)
        print(again(10), decorated(1), loops(), closure()(), (lambda x: x +
            1)(2), decorated.__doc__)
        one = threading.Thread(target=loops); one.start(); one.join()
    """,
    # Arguments of more than a byte, jumps over more than 65,535 instructions, a region as long.
    "long": "def f(n):\n  for k in range(3):\n    try:\n"
    + "".join(f"      v{i % 8} = [{i}, n{' + n' * 200}] if n % 3 else {{{i}: n}}\n" for i in range(150))
    + "      if n == 2: raise KeyError(n)\n    except KeyError: continue\n    while n > 5: n -= 1\n"
    + "  return v7\nfor i in range(3): print(f(i))\n",
}


class _All(Observer):
    """Writes down all that it is told."""

    def __init__(self, events: int) -> None:
        self.wanted = events
        self.told: list[tuple[Any, ...]] = []

    def interest(self, code: types.CodeType) -> int:
        return self.wanted

    def _tell(self, kind: str, frame: types.FrameType, *details: Any) -> None:
        self.told.append((kind, frame.f_code.co_qualname, *details))

    def entered(self, frame: types.FrameType) -> None:
        self._tell("entered", frame, sorted(frame.f_locals) * (frame.f_code.co_name != "<module>"))

    def line(self, frame: types.FrameType) -> None:
        self._tell("line", frame, frame.f_lineno)

    def left(self, frame: types.FrameType, value: Any) -> None:
        self._tell("left", frame, type(value).__name__)

    def yielded(self, frame: types.FrameType, value: Any) -> None:
        self._tell("yielded", frame, type(value).__name__)

    def unwound(self, frame: types.FrameType, error: BaseException | None) -> None:
        self._tell("unwound", frame, type(error).__name__)

    def raised(self, frame: types.FrameType, error: BaseException, line: int, traceback: Traceback) -> None:
        self._tell("raised", frame, type(error).__name__, line)


def followed(kind: type[Tracer], source: str, events: int) -> tuple[list[tuple[Any, ...]], object, str]:
    """What the observer is told; the program's traceback; what it printed."""
    observer = _All(events)
    code = compile(source, "/program/p.py", "exec", dont_inherit=True)
    tracer = kind(observer, Own("/program"))
    if isinstance(tracer, Inserter):
        code = tracer.instrumented(code)
    printed, failure = io.StringIO(), None
    old_tracer = sys.gettrace()
    with contextlib.redirect_stdout(printed):
        tracer.start()
        try:
            exec(code, {"__name__": "program"})
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)[1:]
            failure = (repr(error), [(frame.lineno, frame.name, frame.colno) for frame in frames])
        finally:
            tracer.stop()
            sys.settrace(old_tracer)
    return observer.told, failure, printed.getvalue()


@pytest.mark.parametrize("name", PROGRAMS)
def test_hooks_tell_what_settrace_tells(name: str) -> None:
    source = textwrap.dedent(PROGRAMS[name])
    wholes = [
        sum(combination) for n in range(1, 5) for combination in itertools.combinations((CALLS, ENDS, LINES, RAISES), n)
    ]
    for events in wholes if name != "long" else (CALLS | ENDS | LINES | RAISES,):
        ours, theirs = (followed(kind, source, events) for kind in (Inserter, SetTracer))
        assert ours[1:] == theirs[1:]
        assert len(ours[0]) > 4 or events == RAISES
        # Where C code takes it for the end of a loop, `sys.settrace` tells it once more.
        records = [[record for record in rows if record[2:3] != ("StopIteration",)] for rows in (ours[0], theirs[0])]
        assert records[0] == records[1], f"{events=}"


class _Later(_All):
    """Wants nothing now of what there are hooks for."""

    def ever(self, code: types.CodeType) -> int:
        return RAISES

    def interest(self, code: types.CodeType) -> int:
        return 0


@pytest.mark.parametrize("kind", [_Later, _All])
def test_no_exception_is_kept_alive(kind: type[_All]) -> None:
    source = """
    import weakref
    class Own(Exception): pass
    def f():
        try:
            try: raise Own
            except KeyError: pass
        finally: len("x")
    try: f()
    except Own as error: found = weakref.ref(error)
    """
    tracer = Inserter(kind(RAISES), Own("/program"))
    names: dict[str, Any] = {"__name__": "program"}
    code = compile(textwrap.dedent(source), "/program/p.py", "exec", dont_inherit=True)
    tracer.start()
    try:
        exec(tracer.instrumented(code), names)
        gc.collect()
        assert names["found"]() is None
    finally:
        tracer.stop()


def test_an_unused_generator_and_a_loop_that_ends() -> None:
    """Where the two differ: `sys.settrace` takes what closes a generator for another value that it gives."""
    source = "def gen():\n    yield 1\none = gen()\nnext(one)\none.close()\n"
    records = followed(Inserter, source, ENDS)[0]
    assert records[:2] == [("yielded", "gen", "int"), ("unwound", "gen", "GeneratorExit")]


@pytest.mark.parametrize("expected", [RAISES, ENDS, RAISES | ENDS, CALLS | ENDS | LINES | RAISES])
def test_generators_that_end_where_the_stack_does_are_closed(expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a hook cannot be called for there must not become an exception of the program's."""
    failed: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: failed.append(repr(unraisable.exc_value)))
    source = textwrap.dedent("""
        def gen(n):
            try:
                yield n
            finally:
                closed.append(n)
        def down(n):
            one = gen(n)
            next(one)
            try:
                down(n + 1)
            except RecursionError:
                pass
        closed = []
        down(0)
        print(len(closed) > 50, len(closed) == len(set(closed)))
    """)
    records, failure, printed = followed(Inserter, source, expected)
    assert (failed, failure, printed) == ([], None, "True True\n") and records


def test_what_has_no_hooks_is_followed_otherwise(play: Play) -> None:
    files = {
        "late.py": """
            import os
            def late():
                code = compile("def made(n):\\n    return n + 1\\n", os.path.abspath("text.py"), "exec")
                names = {}
                exec(code, names)
                return names["made"](2)
        """,
        "text.py": "def made(n):\n    return n + 1\n",
        "plain.py": "def plain(n):\n    return n\n",
        "tests/test_looks.py": """
            def test_looks():
                import plain
                assert not any(map(callable, plain.plain.__code__.co_consts))
                assert plain.plain(5)
        """,
        "tests/test_late.py": "import late\ndef test_late():\n    assert late.late() == 4\n",
        "tests/test_deep.py": """
            import sys
            def down(n):
                return down(n + 1)
            def test_deep():
                try:
                    down(0)
                except RecursionError:
                    pass
                assert up(3) == 1
            def up(n):
                return n
        """,
    }
    step = play(make_task(files))
    assert "#1: n = 2" in step("trace", place="text.py:2", code="n", test="test_late").text
    assert "made(n=2) -> 3" in step("calls", place="made", test="test_late").text
    observation = step("calls", place="plain", test="test_looks")
    assert "plain(n=5) -> 5" in observation.text and "passed" in observation.text
    deep = step("calls", place="up", test="test_deep")
    assert "up(n=3) -> 3" in deep.text and "assert 3 == 1" in deep.text
    command = step("trace", place="plain.py:2", code="n", test="python -c 'import plain; plain.plain(8)'")
    assert "#1: n = 8" in command.text


@pytest.mark.parametrize(
    ("source", "hooked"),
    [
        ("class Ledger:\n    trace = []\n    def add(self):\n        self.trace.append(self.profile)\n", True),
        ("def f():\n    dis = 1\n    return dis\nimport json.trace\n", True),
        ("def f():\n    def g():\n        import pdb\n", False),
        ("from coverage.misc import human\n", False),
        ("import os, cProfile as c\n", False),
        ("def f(g):\n    return g.__code__.co_consts\n", False),
    ],
)
def test_names_alone_look_at_nothing(source: str, hooked: bool) -> None:
    """A module is followed by hooks unless it imports what looks at code, or asks code for what hooks change."""

    class Functions(Observer):
        def interest(self, code: types.CodeType) -> int:
            return CALLS

    inserter = Inserter(Functions(), Own("/program"))
    inserter.instrumented(compile(source, "/program/m.py", "exec"))
    assert inserter.counts is hooked
