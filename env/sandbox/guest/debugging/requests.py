"""The requests of debugging tools: pdb, observers, the terminal, servers that run alongside, and branches.

A verdict uses none of them.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Dict, Optional

from ..core.files import Refused
from ..core.processes import CannotStart, Child
from ..core.requests import ChangedFiles, CoreRequests, Reply, Request
from ..testing.requests import NO_VERDICT, TestProgram, run_tests
from .entry_point import Program, program_of

if TYPE_CHECKING:
    from .pdb.debugger import Debugger
    from .pdb.watch import Watch
    from .servers import Servers
    from .terminal import Terminal

MOST_OF_FAILURES = 1 << 20
"""The most bytes that are reported of the failures in one run of the tests."""
QUICKLY_WALKED = 1000
"""How many files of a workspace can be looked at in a few milliseconds."""
_MAY_CHANGE_FILES = frozenset(("put", "edit", "restore", "run", "test", "eval", "follow", "terminal", "exchange"))


class DebuggingRequests:
    """One method `do_NAME` for each request. The module of a tool is imported when the tool is first used."""

    def __init__(self, core: CoreRequests) -> None:
        self._core = core
        self._debuggers: Dict[str, Debugger] = {}
        self._watch: Optional[Watch] = None
        self._opened: Optional[Terminal] = None
        self._running: Optional[Servers] = None
        core.on_edit.append(self._notice)
        core.on_answer.append(self._answered)
        core.launcher.make_room = self._end_terminal

    def _notice(self, changed: ChangedFiles) -> None:
        for debugger in self._debuggers.values():
            debugger.notice(changed)

    def _answered(self, name: str) -> None:
        if name in _MAY_CHANGE_FILES:
            for debugger in self._debuggers.values():
                debugger.files_may_have_changed = True

    def _quick_news(self) -> ChangedFiles:
        """Return what changed. In a large workspace, where that takes long, the next request reports it instead."""
        from .pdb.watch import Watch

        workspace = self._core.workspace
        if len(workspace) > QUICKLY_WALKED:
            return []
        self._watch = self._watch or Watch(workspace.root)
        return workspace.news() if self._watch.may_have_changed() else []

    # ---- observers

    def do_follow(self, request: Request, body: bytes) -> Reply:
        """Run a program under an observer (see `observers.laboratory`). The body begins with `records` bytes of its
        report."""
        from .observers.records import RecordCollector

        entry, folder, variables = program_of(request["command"])
        report_read, report_write = os.pipe()
        collector = RecordCollector()
        root = self._core.workspace.root
        spec = {**request["spec"], "entry": entry, "root": root}
        spec_fd = os.memfd_create("spec")
        os.write(spec_fd, json.dumps(spec).encode())
        os.lseek(spec_fd, 0, os.SEEK_SET)
        program = ["laboratory", root]
        launcher = self._core.launcher

        def start(output_fd: int) -> Child:
            try:
                return launcher.own(
                    program, spec_fd, output_fd, (report_write,), warm=True, folder=folder, variables=variables
                )
            finally:
                os.close(report_write)
                os.close(spec_fd)

        reply, output = launcher.run(start, request, {report_read: collector.take})
        reply["changed_files"] = self._quick_news()
        records, reply["whole"] = collector.records()
        reply["records"] = len(records)
        return reply, records + output

    def do_eval(self, request: Request, body: bytes) -> Reply:
        """Run the tests for somebody who works on them, and report where they fail (see `observers.failing`).

        The answer is that of the request `test`; its body begins with `records` bytes of the report. No verdict asks.
        """
        from .observers.records import RecordCollector

        collector = RecordCollector(MOST_OF_FAILURES)
        read, write = os.pipe()
        extra = TestProgram("eval", [self._core.workspace.root], write, {read: collector.take})
        reply, output = run_tests(self._core, {**request, **NO_VERDICT}, body, extra)
        records, reply["whole"] = collector.records()
        reply["records"] = len(records)
        return reply, records + output

    # ---- pdb

    def _launch_debugger(self, program: Program, socket_fd: int, output_fd: int) -> Child:
        null = os.open(os.devnull, os.O_RDONLY)
        try:
            argv, (_, folder, variables) = ["pdb", self._core.workspace.root], program
            return self._core.launcher.own(
                argv, null, output_fd, (socket_fd,), warm=True, folder=folder, variables=variables
            )
        finally:
            os.close(null)

    def do_debug(self, request: Request, body: bytes) -> Reply:
        """Carry out pdb commands."""
        from .pdb.debugger import Debugger

        program = program_of(request["entry"])
        name = request["session"]
        if name not in self._debuggers:
            self._debuggers[name] = Debugger(self._core.workspace, self._launch_debugger)
        debugger = self._debuggers[name]
        only, timeout_s, value_limit = request["only"], request["timeout_s"], request["value_limit"]
        test = request["test"]
        try:
            reply = debugger.act(body.decode("utf-8"), program, test, only, timeout_s, value_limit)
        except CannotStart as error:
            raise Refused(str(error)) from None
        reply["changed_files"] = self._quick_news()
        return reply, b""

    def do_end_debug(self, request: Request, body: bytes) -> Reply:
        """End a session of the debugger and forget its breakpoints."""
        debugger = self._debuggers.pop(request["session"], None)
        if debugger is not None:
            debugger.close()
        return {}, b""

    # ---- the terminal

    @property
    def _terminal(self) -> Terminal:
        if self._opened is None:
            from .terminal import Terminal, start_shell

            launcher = self._core.launcher
            self._opened = Terminal(lambda slave: start_shell(launcher, slave), self._core.lifeline)
        return self._opened

    def _end_terminal(self) -> bool:
        reason = "its programs had used up all processes of the sandbox"
        return self._opened is not None and self._opened.close(reason)

    def do_terminal(self, request: Request, body: bytes) -> Reply:
        """Type into the terminal and wait; see `Terminal.act`. `restart`: use a new terminal."""
        if request["restart"]:
            self._terminal.close()
        limits = {name: request[name] for name in ("timeout_s", "silence_s", "cap")}
        try:
            reply, output = self._terminal.act(request["typed"], request["until"], **limits)
        except CannotStart as error:
            raise Refused(str(error)) from None
        reply["changed_files"] = [] if reply["event"] == "output" else self._core.workspace.news()
        self._core.report_edit(reply["changed_files"])
        return reply, output

    # ---- branches

    def do_footprint(self, request: Request, body: bytes) -> Reply:
        """Identify what programs have left behind; see `footprint`. `pid`: the last process id."""
        from .footprint import footprint, use_pids

        return {"left": footprint(self._core.workspace.root), "pid": use_pids(0)}, b""

    def do_use_pids(self, request: Request, body: bytes) -> Reply:
        """Use up process ids, as programs did that do not run here."""
        from .footprint import use_pids

        use_pids(request["until"])
        return {}, b""

    # ---- servers

    @property
    def _servers(self) -> Servers:
        if self._running is None:
            from .servers import Servers

            self._running = Servers(self._core.launcher, self._core.lifeline)
        return self._running

    def do_serve(self, request: Request, body: bytes) -> Reply:
        """Start a server, or restart it if it is running; `prefix`: the folder of its packages."""
        self._servers.start(request["name"], request["argv"], request["env"], request["prefix"], request["traces"])
        return {}, b""

    def do_exchange(self, request: Request, body: bytes) -> Reply:
        """Send bytes to a server and return the lines that it answers; see `Server.exchange`."""
        reply, output = self._servers.exchange(request["name"], body, request["timeout_s"], request["cap"])
        reply["changed_files"] = self._core.workspace.news()
        self._core.report_edit(reply["changed_files"])
        return reply, output

    def do_stop(self, request: Request, body: bytes) -> Reply:
        """End a server and everything that it started."""
        self._servers.stop(request["name"])
        return {}, b""
