"""The debugging program: it runs pytest, a script or a module under pdb and reports to the guest."""

from __future__ import annotations

import bdb
import builtins
import contextlib
import linecache
import os
import pdb
import runpy
import socket
import sys
import traceback
import types
from typing import Any, Generator, List

from ...core.files import Refused
from ...testing.ids import path_of
from ...testing.prepared import plugin as searched
from ...testing.prepared import prepared
from ...testing.shadows import forget_shadowed
from ..choice import Collected, choose, outcome_of
from ..exceptions import exit_status, reported_error
from .control import Control, EmptyInput
from .pdb_child import Debugger


def main(argv: List[str]) -> int:
    """Debug a program: `argv` is [socket descriptor, root]; the rest comes as the first line over the socket."""
    sock = socket.socket(fileno=int(argv[0]))
    sock.set_inheritable(False)
    control = Control(sock)
    setup = control.request()
    sys.stdin = EmptyInput(control)
    debugger = Debugger(control, argv[1])
    debugger.restore(setup["breakpoints"])
    if setup["entry"][0].endswith(".py"):
        debugger.entry_file = setup["entry"][0]
    try:
        code = run(debugger, setup["entry"], setup["test"], setup["only"])
    except bdb.BdbQuit:
        code = 0
    except BaseException as error:
        code = 1
        control.write("".join(traceback.format_exception_only(type(error), error)))
    debugger.stop_tracing()
    table = debugger.breakpoint_table()
    debugger.say_unreached(table)
    control.send({"ended": "finished", "exit": code, "breakpoints": table, "tests": debugger.outcomes()})
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(0)


def run(debugger: Debugger, entry: List[str], test: str, only: List[str]) -> int:
    """Run ["pytest", *arguments], ["-m", module, ...], ["-c", code, ...] or [script, ...] under the debugger.

    `test`: the tests to run, as an agent names them; if it is empty, `only` has their ids, and if pytest finds none of
    those, it runs all. Returns the exit status.
    """
    sys.path[0] = os.getcwd()
    forget_shadowed(sys.path[0])
    if entry[0] == "pytest" or entry[:2] == ["-m", "pytest"]:
        return _run_pytest(debugger, entry[2:] if entry[0] == "-m" else entry[1:], test, only)
    debugger.wait_at_start()
    sys.breakpointhook = pdb.set_trace = debugger.breakpoint_hook
    try:
        if entry[0] == "-m":
            sys.argv = list(entry[1:])
            _, spec, code = runpy._get_module_details(entry[1])  # type: ignore[attr-defined]
            sys.argv[0] = code.co_filename
            module = main_module(code.co_filename, spec.parent, spec)
        elif entry[0] == "-c":
            sys.argv = ["-c", *entry[2:]]
            code = compile(entry[1], as_file(entry[1]), "exec")
            module = main_module(code.co_filename, None, None)
        else:
            sys.argv = list(entry)
            sys.path[0] = os.path.dirname(os.path.abspath(entry[0]))
            with open(entry[0], "rb") as file:
                code = compile(file.read(), os.path.abspath(entry[0]), "exec")
            module = main_module(code.co_filename, None, None)
        debugger.begin(pause=debugger.pauses_first)
        exec(code, module.__dict__)
    except SystemExit as error:
        debugger.stop_tracing()
        return exit_status(error)
    except Exception as error:
        debugger.stop_tracing()
        if not debugger.post_mortem(error):
            raise
        return 1
    return 0


def main_module(filename: str, package: Any, spec: Any) -> types.ModuleType:
    """Make a new `__main__` module for a program."""
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=filename, __builtins__=builtins, __package__=package, __spec__=spec)
    sys.modules["__main__"] = module
    return module


def as_file(code: str) -> str:
    """Keep code of the command line, so that its lines can be shown and stepped through. Returns its file name."""
    name = os.path.join(os.getcwd(), "<command line>")
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    return name


def _run_pytest(debugger: Debugger, arguments: List[str], test: str, only: List[str]) -> int:
    import pytest

    from ...testing import pytest_determinism
    from ..project_options import conftest_errors, project_options

    begun = collecting = False
    collected = Collected()

    def begin() -> None:
        nonlocal begun
        if not begun:
            begun = True
            debugger.begin(pause=False)

    class UnderDebugger:
        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_cmdline_main(self, config: Any) -> Generator[None, Any, None]:
            config.args = [*config.args, *_missing_files(config, [test] if test else only)]
            collected.begin(config)
            yield

        @pytest.hookimpl(trylast=True)
        def pytest_configure(self, config: Any) -> None:
            # The report tells the outcome; pytest's own output would drown what the program prints.
            terminal = config.pluginmanager.getplugin("terminalreporter")
            if terminal is not None:
                terminal._tw._file = open(os.devnull, "w")  # noqa: SIM115
            sys.breakpointhook = pdb.set_trace = debugger.breakpoint_hook

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection_modifyitems(
            self, session: Any, config: Any, items: List[Any]
        ) -> Generator[None, Any, None]:
            all_items = {item.nodeid: item for item in items}
            yield
            collected.end(config)
            session.collected_items = list(items)  # for agents that run all tests again from inside
            names = {name for name in all_items if name in only or path_of(name) in only}
            failed = [(name, error) for name, error in collected.failures if name in only or not (only or test)]
            absent = [name for name in only if name not in names and not any(_is_in(name, item) for item in names)]
            absent = [name for name in absent if not any(name == path for path, _ in failed)]
            if test:
                try:
                    names = choose(list(all_items), test)
                except Refused as refused:
                    failed = collected.failures
                    notes = (
                        collected.explain(test, refused) if failed else ["nothing was run, as there is %s" % refused]
                    )
                    for note in notes:
                        debugger.say(note)
            for name, error in failed or ([] if names else collected.failures):
                debugger.failed(name, error)
            if names:
                for note in collected.leave_out_failures(session, [name for name, _ in failed]):
                    debugger.say(note)
            if names or test:
                config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in names])
                items[:] = [item for name, item in all_items.items() if name in names]
            if absent:
                instead = "" if names else "; all tests of the command run instead"
                debugger.say("not found, so not run: %s%s" % (", ".join(absent[:5]), instead))

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_collection(self, session: Any) -> Generator[None, Any, None]:
            nonlocal collecting
            collecting = True
            begin()
            yield

        @pytest.hookimpl(hookwrapper=True, tryfirst=True)
        def pytest_runtest_call(self, item: Any) -> Generator[None, Any, None]:
            debugger.retrace()
            debugger.pause()
            yield
            debugger.retrace()

        def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
            error = reported_error(call.excinfo.value)
            if isinstance(node, pytest.Collector):
                collected.failures.append((node.nodeid, error))
            else:
                debugger.failed(node.nodeid, error)

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.when == "call" or report.outcome != "passed":
                debugger.outcome(report.nodeid, outcome_of(report))

    def conftest_failed(name: str, error: BaseException) -> None:
        if not collecting:  # else pytest reports it as the failure of a folder
            debugger.failed(name, error)

    debugger.wait_at_start()
    arguments = ["-s", *arguments]
    plugins = [UnderDebugger(), project_options(), pytest_determinism, *searched()]
    with prepared(arguments), conftest_errors(begin, conftest_failed):
        return int(pytest.main(arguments, plugins=plugins))


def _is_in(file: str, test: str) -> bool:
    return path_of(test) == file


def _missing_files(config: Any, tests: List[str]) -> List[str]:
    """Return the files of these tests that pytest would not look at, because its arguments do not name them."""
    start = os.path.abspath(str(config.invocation_params.dir))
    named = [os.path.join(start, argument) for argument in config.args if "::" not in argument]
    named = [os.path.normpath(path) for path in named]
    files = []
    for name in dict.fromkeys(map(path_of, tests)):
        path = os.path.normpath(os.path.join(str(config.rootdir), name))
        if os.path.isfile(path) and not any(path == place or path.startswith(place + os.sep) for place in named):
            files.append(path)
    return files
