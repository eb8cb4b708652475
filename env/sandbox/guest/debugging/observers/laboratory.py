"""Runs a program under an observer and reports what it saw: this is the program behind trace, calls and snapshot.

The report is JSON, one record per line, on a descriptor of its own. Each record is written as soon as it is made, so
that everything seen so far is left if the program dies. What the program prints is not part of the report.
"""

from __future__ import annotations

import contextlib
import json
import os
import pdb
import runpy
import signal
import sys
import threading
import types
from typing import Any, Dict, Generator, List, Optional, Tuple

from ...core.files import Refused
from ...core.framing import take_input
from ...testing.shadows import forget_shadowed
from ..choice import Collected, choose, file_of, outcome_of
from ..exceptions import exit_status, reported_error
from ..places import Names
from .calls import CallsObserver
from .hits import HitsObserver
from .insertion import Inserter, usable
from .inspection import InspectObserver
from .report_stream import Report, Storyteller
from .steps import PathObserver, StepsObserver
from .tracing import Monitor, Observer, Own, SetTracer, Tracer
from .tree import TreeObserver

OBSERVERS = {
    "trace": HitsObserver,
    "inspect": InspectObserver,
    "calls": CallsObserver,
    "steps": StepsObserver,
    "tree": TreeObserver,
    "path": PathObserver,
}


def main(argv: List[str]) -> int:
    """`argv` is [report descriptor, root]; standard input holds the specification as JSON, see `Session`."""
    report = Report(int(argv[0]))
    setup = take_input()
    code = 1
    try:
        session = Session(json.loads(setup), report, argv[1])
        code = session.run()
        session.finish("finished", code)
    except Refused as error:
        report.write("refused", text=str(error))
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(code)  # threads of the program may still run


class Session:
    """One run of a program under an observer.

    The specification: `entry` (["pytest", *arguments], ["-m", module, ...], ["-c", code, ...] or [script, ...]),
    `test` (an id, the beginning of one, a name, a file; empty: all that the entry runs), `first_failure` (whether the
    first failure ends the run), `mode` (see `OBSERVERS`; empty: only failures are reported), and what that observer
    expects.
    """

    def __init__(self, spec: Dict[str, Any], report: Report, root: str) -> None:
        self._spec = spec
        self._report = report
        self._root = root
        self._own = Own(root)
        self._teller = Storyteller(self._own, Names(), report)
        self._processes = 0
        self._notes: List[str] = []
        self._failures = 0
        self._pid = os.getpid()
        self._exit = os._exit
        self._over = threading.Lock()
        self._tracer: Optional[Tracer] = None
        self._following = False
        self._observer: Any = None
        if spec["mode"]:
            self._observer = OBSERVERS[spec["mode"]](spec, self._teller)
            self._observer.stop_now = self.stop_now
            self._tracer = self._observer.tracer = tracer(self._observer, self._own)

    # ---- how the run ends

    def finish(self, ending: str, code: int) -> None:
        """Report the end of the run, once."""
        if os.getpid() != self._pid or not self._over.acquire(False):
            return
        notes = list(dict.fromkeys(self._notes))
        if self._tracer is not None and self._following:
            self._tracer.stop()
            notes += [self._tracer.lost] if self._tracer.lost else []
        if self._processes:
            observed = (
                "another process, which was" if self._processes == 1 else "%d processes, which were" % self._processes
            )
            notes.append("the program started %s not followed" % observed)
        if self._observer is not None:
            self._observer.finish()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        self._report.write("end", how=ending, exit=code & 0xFF, notes=notes, others=self._processes)

    def stop_now(self, ending: str) -> None:
        """End the program here: what was asked for has been seen."""
        self.finish(ending, 0)
        self._exit(0)

    def _interrupted(self, number: int, frame: Optional[types.FrameType]) -> None:
        """Report where the program is when the time is up, and end it."""
        threads = sys._current_frames()
        current = (threading.main_thread().ident, threading.get_ident())
        idents = sorted(ident for ident in threads if ident not in current)
        places = [self._teller.stack(frame)]
        places += [self._teller.stack(threads[ident]) for ident in idents]
        frames = next(filter(None, places), [])
        self._report.write("interrupted", test=self._teller.test, frames=frames)
        self.finish("interrupted", 1)
        self._exit(1)

    def _ends_itself(self, status: int) -> None:
        """Take the place of `os._exit` for the program: report where it was called, then exit."""
        if os.getpid() == self._pid and not self._over.locked():
            frames = self._teller.stack(sys._getframe(1))
            self._report.write("exited", status=status & 0xFF, frames=frames)
            self.finish("os._exit", status)
        self._exit(status)

    def _forked(self) -> None:
        """Stop following in a child that the program forked."""
        if self._tracer is not None and self._following:
            self._tracer.stop()
        self._report.close()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    def _audit(self, event: str, arguments: Tuple[Any, ...]) -> None:
        if event in ("os.fork", "os.forkpty", "subprocess.Popen", "os.posix_spawn") and os.getpid() == self._pid:
            self._processes += 1
        elif event == "exec" and self._tracer is not None and isinstance(arguments[0], types.CodeType):
            self._tracer.runs(arguments[0])

    # ---- the run

    def run(self) -> int:
        """Run the program to its end. Returns its exit status. Raises Refused."""
        entry: List[str] = self._spec["entry"]
        setattr(os, "_exit", self._ends_itself)  # noqa: B010
        os.register_at_fork(after_in_child=self._forked)
        if self._tracer is not None:
            self._tracer.prepare()
        sys.addaudithook(self._audit)
        signal.signal(signal.SIGINT, self._interrupted)
        sys.path[0] = os.getcwd()
        forget_shadowed(sys.path[0])
        if entry[0] == "pytest" or entry[:2] == ["-m", "pytest"]:
            return self._run_pytest(entry[2:] if entry[0] == "-m" else entry[1:])
        return self._run_program(entry)

    def _follow(self) -> None:
        if self._tracer is not None and not self._following:
            self._following = True
            self._tracer.start()

    def _pass_breakpoints(self) -> None:
        """Pass over the program's own `breakpoint()`: nobody is there to answer a debugger."""
        sys.breakpointhook = pdb.set_trace = self._met_breakpoint

    def _met_breakpoint(self, *arguments: Any, **options: Any) -> None:
        self._notes.append("breakpoint() in the program was passed over")

    def _run_program(self, entry: List[str]) -> int:
        self._pass_breakpoints()
        try:
            if entry[0] == "-m":
                sys.argv = list(entry[1:])
                self._follow()
                runpy.run_module(entry[1], run_name="__main__", alter_sys=True)
            elif entry[0] == "-c":
                from ..pdb.programs import as_file, main_module

                sys.argv = ["-c", *entry[2:]]
                code = compile(entry[1], as_file(entry[1]), "exec")
                self._follow()
                if isinstance(self._tracer, Inserter):
                    code = self._tracer.instrumented(code)
                exec(code, main_module(code.co_filename, None, None).__dict__)
            else:
                if not os.path.isfile(entry[0]):
                    raise Refused("no file %s" % entry[0])
                sys.argv = list(entry)
                sys.path[0] = os.path.dirname(os.path.abspath(entry[0]))
                self._follow()
                runpy.run_path(os.path.abspath(entry[0]), run_name="__main__")
        except SystemExit as error:
            return exit_status(error)
        except Refused:
            raise
        except BaseException as error:
            self._failed("", error)
            return 1
        return 0

    def _failed(self, test: str, error: BaseException) -> None:
        """Report a failure with the frames of its traceback, as they were left."""
        self._failures += 1
        place = self._observer.where_raised(error) if self._observer is not None else None
        self._teller.failure(test, error, place)

    def _run_pytest(self, arguments: List[str]) -> int:
        import pytest

        from ...testing import pytest_determinism
        from ..project_options import conftest_errors, project_options

        outer = self
        collecting = False
        wanted_test: str = self._spec["test"]
        file = file_of(self._root, wanted_test)
        collected = Collected()

        class Followed:
            @pytest.hookimpl(hookwrapper=True, tryfirst=True)
            def pytest_cmdline_main(self, config: Any) -> Generator[None, Any, None]:
                if file:
                    config.args = [file]
                if wanted_test:
                    config.option.keyword = config.option.markexpr = ""
                if outer._spec["first_failure"]:
                    config.option.maxfail = 1
                if wanted_test:
                    collected.begin(config)
                yield

            @pytest.hookimpl(trylast=True)
            def pytest_configure(self, config: Any) -> None:
                # The report tells the outcome; pytest's own output would drown what the program prints.
                terminal = config.pluginmanager.getplugin("terminalreporter")
                if terminal is not None:
                    terminal._tw._file = open(os.devnull, "w")  # noqa: SIM115
                outer._pass_breakpoints()

            @pytest.hookimpl(hookwrapper=True, tryfirst=True)
            def pytest_collection(self, session: Any) -> Generator[None, Any, None]:
                nonlocal collecting
                collecting = True
                begin()
                yield

            @pytest.hookimpl(hookwrapper=True, trylast=True)
            def pytest_collection_modifyitems(self, session: Any, items: List[Any]) -> Generator[None, Any, None]:
                yield
                if not wanted_test:
                    return
                collected.end(session.config)
                try:
                    chosen_ids = choose([item.nodeid for item in items], wanted_test)
                    outer._notes += collected.leave_out_failures(session)
                except Refused as error:
                    chosen_ids = set()
                    if not collected.failures:
                        outer._report.write("refused", text=str(error))
                    outer._notes += collected.explain(wanted_test, error)
                    for name, failure in collected.failures:
                        outer._failed(name, failure)
                items[:] = [item for item in items if item.nodeid in chosen_ids]

            @pytest.hookimpl(hookwrapper=True, tryfirst=True)
            def pytest_runtest_protocol(self, item: Any) -> Generator[None, Any, None]:
                outer._teller.test = item.nodeid
                if outer._observer is not None:
                    outer._observer.begin_test()
                outer._follow()
                yield
                outer._teller.test = ""

            def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
                error = reported_error(call.excinfo.value)
                if wanted_test and isinstance(node, pytest.Collector):
                    collected.failures.append((node.nodeid, error))
                else:
                    outer._failed(node.nodeid, error)

            def pytest_runtest_logreport(self, report: Any) -> None:
                if report.when == "call" or report.outcome != "passed":
                    seconds = round(report.duration, 6)
                    outer._report.write("test", test=report.nodeid, outcome=outcome_of(report), seconds=seconds)

        def begin() -> None:
            if getattr(self._observer, "from_import", False):
                self._follow()

        def conftest_failed(name: str, error: BaseException) -> None:
            if not collecting:  # else pytest reports it as the failure of a folder
                outer._failed(name, error)

        with conftest_errors(begin, conftest_failed):
            return int(pytest.main(["-s", *arguments], plugins=[Followed(), project_options(), pytest_determinism]))


def tracer(observer: Observer, is_own: Own) -> Tracer:
    """Return the fastest tracer that this Python supports."""
    if hasattr(sys, "monitoring"):
        return Monitor(observer, is_own)
    return Inserter(observer, is_own) if usable() else SetTracer(observer, is_own)
