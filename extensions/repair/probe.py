"""Code that the agent runs in a program that the debugger has stopped inside a pytest test. It uses only the standard
library and syntax that old versions of Python know.

`spectrum()` runs the tests again and reports which lines failing and passing tests execute. `trials()` changes
functions of the stopped program, as a debugger allows, and runs the tests again on them. Both work in a forked copy of
the process, so that the program itself stays where it is.

How long tests may run is counted in steps. Clocks end only what is blocked: a deadlock, which uses no processor, or a
loop inside C code, which uses much of it.
"""

# ruff: noqa: PTH109, PTH123, PTH113, PTH118, PTH120

import contextlib
import functools
import gc
import importlib.util
import json
import os
import re
import select
import signal
import sys
import threading
import time
import tokenize
from collections.abc import Callable, Iterable, Iterator
from typing import Any

STEP_UNIT = 20_000
STEPS_PER_EFFORT = 1_000_000
MOST_STEPS = 20_000_000
"""If the failing tests together take more steps, the stopped program is not used."""
LONG_STEPS = 1_000_000
"""A passing test that takes more steps is left out: only the check of a change outside of the program runs it."""
MOST_LONG = 10
"""With more passing tests that are left out, those behind them are left out, too."""
SPARE_STEPS = 200_000
"""A candidate may take this many steps more than `MOST_GROWTH` times those of all tests."""
MOST_GROWTH = 15
"""Tests that fail stop at their first failed assertion; once they pass, they run much further."""
SPECTRUM_PATIENCE_S = 30.0
LEAST_SHARE = 0.02
"""A process that has used less than this share of the time of one processor is blocked."""
MOST_PATIENCE = 3
"""The seconds of the processor that a process may use, as a multiple of those after which it may be blocked."""
FEW_FAILING = 5
"""A candidate after which so many failing tests still fail is not tried with the others."""
MOST_FURTHER = 10
"""The most files that are reported without having been named."""
_TEST_FILE = re.compile(r"(^|/)(tests?/|test_[^/]*$|conftest\.py$|site-packages/)|_test\.py$")

real_file = functools.lru_cache(maxsize=None)(os.path.realpath)
"""Returns a file's path without links: a program may be imported through some."""


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


def workspace(item: Any, paths: list[str]) -> str:
    """Return the folder below which these files are: where pytest was started, or one above; tests may go elsewhere."""
    started = getattr(item.config, "invocation_params", None)
    folder = os.path.realpath(str(started.dir) if started is not None else os.getcwd())
    while folder != os.sep and not all(os.path.isfile(os.path.join(folder, path)) for path in paths):
        folder = os.path.dirname(folder)
    return folder


@functools.lru_cache(maxsize=None)  # noqa: UP033 (of Python 3.9)
def own_runner() -> Any:
    """Return pytest's runner, loaded anew: plug-ins replace parts of the other one while they run the stopped test."""
    spec: Any = importlib.util.find_spec("_pytest.runner")
    runner: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(runner)
    runner.check_interactive_exception = lambda *_: False  # no debugger here
    return runner


def run_item(item: Any) -> tuple[bool, str]:
    """Run one test again; return whether it passed, and how it failed in one line."""
    if hasattr(item, "_initrequest"):
        item._initrequest()
    failures = []
    for report in own_runner().runtestprotocol(item, log=False, nextitem=None):
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            failures.append(str(crash.message if crash is not None else report.longrepr))
    # Addresses differ from run to run, and the message must not.
    return not failures, re.sub(r"0x[0-9a-f]+", "0x...", "".join(failures))[:200]


def settle(item: Any) -> None:
    """End the set-up of the test that is stopped, so that others can run."""
    # The debugger stands in for `sys.settrace`, and would set its own trace function again for each test.
    debugger = getattr(sys.settrace, "__self__", None)
    if debugger is not None and hasattr(debugger, "stop_tracing"):
        debugger.stop_tracing()
    sys.settrace(None)
    threading.settrace(None)
    item.config.option.tbstyle = "line"
    state = item.session._setupstate
    try:
        state.teardown_exact(None)
    except TypeError:
        state.teardown_exact(item, None)
    except Exception:
        pass


def skip_shrinking() -> None:
    """Let Hypothesis look for no smaller example of a failure: it takes most of the time, and tells nothing here."""
    if settings := getattr(sys.modules.get("hypothesis"), "settings", None):
        phases, skipped = vars(settings)["phases"], ("shrink", "explain")
        kept = lambda own: [phase for phase in phases.__get__(own) if phase.name not in skipped]  # noqa: E731
        type.__setattr__(settings, "phases", property(kept, getattr(phases, "__set__", None)))


def is_blocked(pid: int, elapsed_s: float, patience_s: float) -> bool:
    """Whether a process has hardly used the processor in this time, or too much of it; taking long is no sign."""
    if elapsed_s < patience_s:
        return False
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    used_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used_s < LEAST_SHARE * elapsed_s or used_s > MOST_PATIENCE * patience_s


def rows_of_copy(work: Callable[[], Iterable[Any]], patience_s: float) -> tuple[list[Any], bool]:
    """Return what `work` yields in a forked copy, until the copy ends, and whether it was blocked so long."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 1)
            os.dup2(null, 2)
            for row in work():
                payload = json.dumps(row).encode() + b"\n"
                while payload:
                    payload = payload[os.write(writer, payload) :]
        except BaseException:
            pass
        finally:
            os._exit(0)
    os.close(writer)
    chunks, started, blocked = [], time.monotonic(), False
    while not blocked:
        if not select.select([reader], [], [], patience_s / 4)[0]:
            blocked = is_blocked(pid, time.monotonic() - started, patience_s)
            continue
        chunk = os.read(reader, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    os.close(reader)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return [json.loads(line) for line in b"".join(chunks).split(b"\n")[:-1]], blocked


def count_steps(root: str, limit: int, hits: set[tuple[str, int]] | None = None) -> Callable[[], int]:
    """Count steps from here on: calls of functions, and lines that run in files of the workspace.

    Steps are the same on every machine, and seconds are not. The process ends after `limit` steps. `hits` gets files
    and lines of the workspace that run. Returns a function that ends this and returns the number.
    """
    steps, inside = 0, root + os.sep

    # It runs for every line of a test: functions that it calls would take most of the time.
    def count(frame: Any, event: str, argument: Any) -> Any:
        nonlocal steps
        if event == "line" or event == "call":
            steps += 1
            if steps > limit:
                os._exit(0)
            file = frame.f_code.co_filename
            if event == "call" and not file.startswith(inside):
                return None
            if hits is not None:
                hits.add((file, frame.f_lineno))
        return count

    def stop() -> int:
        sys.settrace(None)
        threading.settrace(None)
        return steps

    threading.settrace(count)  # for all threads that begin later
    sys.settrace(count)
    return stop


def spectrum(paths: list[str], failing: list[str]) -> Any:
    """Return the lines that the tests execute, and how much work the tests are; None if it is too much.

    lines: path -> [[line, failing tests that execute it, passing ones], ...] for lines with any failing test, in the
        files `paths` and in those other files of the program, the most suspicious first, that failing tests execute
    effort: 1 if the longest test takes few steps, up to 4 if it takes many
    steps: how many steps all tests take, rounded up: the answer has to be the same in every run
    kept: the passing tests that are little work, as ranges [first, after the last] of all that pass; not those that
        fail here although nothing is changed, such as a test that cannot run twice
    """
    if (item := find_item()) is None:
        return None
    root = workspace(item, paths)
    names = {real_file(os.path.join(root, path)): path for path in paths}
    to_fix, passing = split(every_item(item), failing)

    def measure(tests: list[Any], limit: int, total: int) -> Iterator[Any]:
        """Yield whether each test passes, its steps and lines; end if it takes over `limit`, or all over `total`."""
        settle(item)
        hits: set[tuple[str, int]] = set()
        for test in tests:
            hits.clear()
            stop = count_steps(root, min(limit, total), hits)
            try:
                passes, _ = run_item(test)
            finally:
                steps = stop()
            total -= steps
            yield [passes, steps, sorted({(path_in(real_file(file), root, names), line) for file, line in hits})]

    rows, _ = rows_of_copy(lambda: measure(to_fix, MOST_STEPS, MOST_STEPS), SPECTRUM_PATIENCE_S)
    if len(rows) < len(to_fix):
        return None
    kept: list[list[int]] = []
    first, copies, left, blocked = 0, 0, MOST_STEPS - sum(steps for _, steps, _ in rows), False
    while first < len(passing) and copies <= MOST_LONG and left > 0 and not blocked:
        tests = passing[first:]
        more, blocked = rows_of_copy(lambda t=tests, n=left: measure(t, LONG_STEPS, n), SPECTRUM_PATIENCE_S)  # type: ignore[misc]
        for number, (passes, _, _) in enumerate(more, start=first):
            if passes and kept and kept[-1][1] == number:
                kept[-1][1] += 1
            elif passes:
                kept.append([number, number + 1])
        rows += more
        left -= sum(steps for _, steps, _ in more)
        first, copies = first + len(more) + 1, copies + 1
    counts: dict[str, dict[int, list[int]]] = {}
    for number, (_, _, hits) in enumerate(rows):
        for path, line in hits:
            counts.setdefault(path, {}).setdefault(line, [0, 0])[number >= len(to_fix)] += 1
    lines = {
        path: in_failing
        for path, by_line in counts.items()
        if path and (in_failing := [[line, *count] for line, count in sorted(by_line.items()) if count[0]])
    }
    further = sorted({*lines} - {*paths}, key=lambda path: (-suspicion(lines[path], len(failing)), path))
    reported = {path: lines[path] for path in [*paths, *further[:MOST_FURTHER]] if path in lines}
    all_steps = [steps for _, steps, _ in rows]
    effort = min(1 + max(all_steps, default=0) // STEPS_PER_EFFORT, 4)
    return {"lines": reported, "effort": effort, "steps": STEP_UNIT * (1 + sum(all_steps) // STEP_UNIT), "kept": kept}


def split(tests: list[Any], failing: list[str]) -> tuple[list[Any], list[Any]]:
    """Return the tests that fail and those that pass."""
    return [test for test in tests if test.nodeid in failing], [test for test in tests if test.nodeid not in failing]


def path_in(file: str, root: str, names: dict[str, str]) -> str:
    """Return the path of a file in the workspace, which `names` may know; empty for one of tests, or outside."""
    if file not in names:
        path = os.path.relpath(file, root)
        names[file] = "" if path.startswith(os.pardir) or _TEST_FILE.search(path) else path
    return names[file]


def suspicion(rows: list[Any], total: int) -> float:
    """Return Ochiai's coefficient of the most suspicious of these lines. `total`: the failing tests."""
    return max(float(failing / (total * (failing + passing)) ** 0.5) for _, failing, passing in rows)


def units(code: Any, path: str = "") -> tuple[dict[str, Any], list[Any]]:
    """Return qualified name -> code of each outermost function, and the module and its classes without them."""
    functions: dict[str, Any] = {}
    frame: list[Any] = [code.co_code, code.co_names]
    for const in code.co_consts:
        if not hasattr(const, "co_code"):
            frame.append(const)
            continue
        name = path + "." + const.co_name
        while name in functions:
            name += "'"
        if const.co_flags & 1:  # optimised: a function, not a class body
            functions[name] = const
        else:
            inner, inner_frame = units(const, name)
            functions.update(inner)
            frame.append(inner_frame)
    return functions, frame


_LIVING: dict[str, dict[tuple[str, int], list[Any]]] = {}


def functions_of(name: str) -> dict[tuple[str, int], list[Any]]:
    """Return (function's name, first line) -> the living function objects of a file."""
    if not _LIVING:
        gc.unfreeze()  # what a program or one of its libraries has frozen is not listed
        for candidate in gc.get_objects():
            if type(candidate) is type(functions_of):
                code = candidate.__code__
                by_place = _LIVING.setdefault(real_file(code.co_filename), {})
                by_place.setdefault((code.co_name, code.co_firstlineno), []).append(candidate)
    return _LIVING.get(name, {})


@functools.lru_cache(maxsize=None)  # noqa: UP033 (of Python 3.9)
def original(name: str) -> Any:
    """Return the text of a file and what `units` returns of it."""
    with tokenize.open(name) as file:
        text = file.read()
    return text, units(compile(text, name, "exec", dont_inherit=True))


def change(name: str, edits: list[Any], imports: list[str]) -> bool:
    """Change the functions of one file in this process; return False if more than function bodies differ."""
    text, (old, old_rest) = original(name)
    for start, end, new in sorted(edits, reverse=True):
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


def trials(candidates: list[Any], failing: list[str], effort: int, steps: int, kept: list[list[int]]) -> Any:
    """Try each candidate (path, edits, imports), with tests that are so much work (see `spectrum`).

    Return {"results": [...], "messages": [...]}. A result is [failing tests that pass, passing ones that fail], or if a
    few failing tests all fail, the index of the message of the first. If the tests do not end, it is None, or [failing
    tests that passed until then, None] if no other failed until then.
    """
    if (item := find_item()) is None:
        return None
    root = workspace(item, sorted({path for path, _, _ in candidates}))
    names = {path: real_file(os.path.join(root, path)) for path, _, _ in candidates}
    for name in names.values():  # once for all copies
        functions_of(name)
        original(name)
    to_fix, passing = split(every_item(item), failing)
    apart = -(-len(to_fix) // FEW_FAILING)  # the first few come from all of them
    to_fix = [test for first in range(apart) for test in to_fix[first::apart]]
    to_keep = [test for first, end in kept for test in passing[first:end]]
    results: list[Any] = []
    messages: list[str] = []
    for path, edits, imports in candidates:

        def work(path: str = path, edits: list[Any] = edits, imports: list[str] = imports) -> Iterator[Any]:
            try:
                if not change(names[path], edits, imports):
                    yield "cold"
                    return
            except (SyntaxError, ValueError):
                yield "invalid"
                return
            settle(item)
            skip_shrinking()
            count_steps(root, SPARE_STEPS + MOST_GROWTH * steps)
            fixed, message = 0, ""
            for number, test in enumerate(to_fix):
                if number == FEW_FAILING and not fixed:
                    break
                passed, failure = run_item(test)
                fixed += passed
                message = message or failure
                yield None if message else [fixed, None]
            broken = sum(not run_item(test)[0] for test in to_keep) if fixed else 0
            yield [fixed, broken] if fixed else message

        result = next(reversed(rows_of_copy(work, 1.0 + effort)[0]), None)
        if isinstance(result, str):
            if result not in messages:
                messages.append(result)
            result = messages.index(result)
        results.append(result)
    return {"results": results, "messages": [message[:80] for message in messages]}
