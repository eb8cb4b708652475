"""Code that the agent runs in a program that the debugger has stopped inside a pytest test. It uses only the standard
library and syntax that old versions of Python know.

`spectrum()` runs the tests again and says which lines each kind of test executes. `trials()` changes functions of the
stopped program, as a debugger allows, and runs the tests again on them. Both work in a forked copy of the process, so
that the program itself stays where it is.
"""

# ruff: noqa: PTH100, PTH123

import contextlib
import gc
import json
import os
import re
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any


def find_item() -> Any:
    """Return the pytest item that is being run, found in the frames below the debugger."""
    frame: Any = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "runtestprotocol":
            return frame.f_locals.get("item")
        frame = frame.f_back
    return None


def every_item(item: Any) -> list[Any]:
    """Return all tests that pytest collected; the debugger may have left out those that passed."""
    return list(getattr(item.session, "collected_items", item.session.items))


def run_item(item: Any) -> tuple[bool, str]:
    """Run one test again; return whether it passed, and how it failed in one line."""
    from _pytest import runner

    if hasattr(item, "_initrequest"):
        item._initrequest()
    failures = []
    for report in runner.runtestprotocol(item, log=False, nextitem=None):
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            failures.append(str(crash.message if crash is not None else report.longrepr))
    # Addresses differ from run to run, and the message must not.
    return not failures, re.sub(r"0x[0-9a-f]+", "0x...", "".join(failures))[:200]


def settle(item: Any) -> None:
    """End the set-up of the test that is stopped, so that others can run."""
    from _pytest import runner

    sys.settrace(None)
    threading.settrace(None)
    # An exception must not stop in the debugger here, and its text should be short.
    runner.check_interactive_exception = lambda *_: False
    item.config.option.tbstyle = "line"
    state = item.session._setupstate
    try:
        state.teardown_exact(None)
    except TypeError:
        state.teardown_exact(item, None)
    except Exception:
        pass


def in_copy(work: Callable[[], Any], cpu_s: float, wall_s: float) -> Any:
    """Return the result of `work` from a forked copy of this process; None if the copy dies or takes too long."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            signal.signal(signal.SIGPROF, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_PROF, cpu_s)
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 1)
            os.dup2(null, 2)
            data = json.dumps(work()).encode()
            while data:
                data = data[os.write(write, data) :]
        except BaseException:
            pass
        finally:
            os._exit(0)
    os.close(write)
    chunks, deadline = [], time.monotonic() + wall_s
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([read], [], [], left)[0]:
            break
        chunk = os.read(read, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    os.close(read)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    try:
        return json.loads(b"".join(chunks))
    except ValueError:
        return None


def spectrum(paths: list[str], failing: list[str]) -> Any:
    """Return path -> [[line, failing tests that execute it, passing ones], ...] for lines with any failing test."""
    item = find_item()
    if item is None:
        return None
    names = {os.path.abspath(path): path for path in paths}

    def work() -> dict[str, Any]:
        settle(item)
        counts: dict[Any, list[int]] = {}
        hits: set[tuple[str, int]] = set()

        def local(frame: Any, event: str, argument: Any) -> Any:
            if event == "line":
                hits.add((frame.f_code.co_filename, frame.f_lineno))
            return local

        def trace(frame: Any, event: str, argument: Any) -> Any:
            if frame.f_code.co_filename not in names:
                return None
            hits.add((frame.f_code.co_filename, frame.f_lineno))
            return local

        slowest = 0.0
        for each in every_item(item):
            hits.clear()
            started = time.monotonic()
            threading.settrace(trace)
            sys.settrace(trace)
            try:
                run_item(each)
            finally:
                sys.settrace(None)
                threading.settrace(None)
            slowest = max(slowest, time.monotonic() - started)
            column = 0 if each.nodeid in failing else 1
            for place in list(hits):
                counts.setdefault(place, [0, 0])[column] += 1
        lines: dict[str, list[Any]] = {}
        for (name, line), (ef, ep) in sorted(counts.items()):
            if ef:
                lines.setdefault(names[name], []).append([line, ef, ep])
        # In whole seconds, because the answer has to be the same in every run.
        return {"lines": lines, "patience": min(1 + int(2.5 * slowest), 4)}

    return in_copy(work, 8.0, 8.0)


def units(code: Any, path: str = "") -> tuple[dict[str, Any], list[Any]]:
    """Return qualified name -> code of each outermost function, and the rest of the module and its classes."""
    found: dict[str, Any] = {}
    rest: list[Any] = [code.co_code, code.co_names]
    for const in code.co_consts:
        if not hasattr(const, "co_code"):
            rest.append(const)
            continue
        name = path + "." + const.co_name
        while name in found:
            name += "'"
        if const.co_flags & 1:  # optimised: a function, not a class body
            found[name] = const
        else:
            inner, inner_rest = units(const, name)
            found.update(inner)
            rest.append(inner_rest)
    return found, rest


_LIVING: dict[str, dict[tuple[str, int], list[Any]]] = {}
_ORIGINAL: dict[str, Any] = {}


def functions_of(name: str) -> dict[tuple[str, int], list[Any]]:
    """Return (function's name, first line) -> the living function objects of a file."""
    if not _LIVING:
        for each in gc.get_objects():
            if type(each) is type(functions_of):
                code = each.__code__
                _LIVING.setdefault(code.co_filename, {}).setdefault((code.co_name, code.co_firstlineno), []).append(
                    each
                )
    return _LIVING.get(name, {})


def change(path: str, changes: list[Any], imports: list[str]) -> bool:
    """Change the functions of one file in this process; return False if more than function bodies differ."""
    name = os.path.abspath(path)
    if name not in _ORIGINAL:
        with open(name, "rb") as file:
            text = file.read().decode("utf-8-sig").replace("\r\n", "\n")
        _ORIGINAL[name] = text, units(compile(text, name, "exec", dont_inherit=True))
    text, (old, old_rest) = _ORIGINAL[name]
    for start, end, new in sorted(changes, reverse=True):
        text = text[:start] + new + text[end:]
    new, new_rest = units(compile(text, name, "exec", dont_inherit=True))
    if list(old) != list(new) or old_rest != new_rest:
        return False
    living = functions_of(name)
    touched = False
    for key, code in old.items():
        if code == new[key]:
            continue
        for function in living.get((code.co_name, code.co_firstlineno), ()):
            for statement in imports:
                exec(statement, function.__globals__)
            function.__code__ = new[key]
            touched = True
    return touched


def trials(candidates: list[Any], failing: list[str], wall_s: float = 2.0) -> Any:
    """Try each candidate (path, changes, imports).

    Return {"results": [...], "messages": [...]}. A result is [failing tests that pass, passing ones that fail]. If no
    failing test passes, it is the index of the message with which the first fails; None if the tests do not end.
    """
    item = find_item()
    if item is None:
        return None
    for path in {path for path, _, _ in candidates}:
        functions_of(os.path.abspath(path))
    bad = [each for each in every_item(item) if each.nodeid in failing]
    good = [each for each in every_item(item) if each.nodeid not in failing]
    results: list[Any] = []
    messages: list[str] = []
    for path, changes, imports in candidates:

        def work(path: str = path, changes: list[Any] = changes, imports: list[str] = imports) -> Any:
            try:
                if not change(path, changes, imports):
                    return "cold"
            except (SyntaxError, ValueError):
                return "invalid"
            settle(item)
            mended, message = 0, ""
            for each in bad:
                passed, said = run_item(each)
                mended += passed
                message = message or said
            broken = sum(not run_item(each)[0] for each in good) if mended else 0
            return [mended, broken] if mended else message

        result = in_copy(work, wall_s / 2, wall_s)
        if isinstance(result, str):
            if result not in messages:
                messages.append(result)
            result = messages.index(result)
        results.append(result)
    return {"results": results, "messages": [message[:80] for message in messages]}
