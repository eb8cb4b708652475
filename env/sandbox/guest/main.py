"""The resident program of a sandbox: answers requests, one at a time, until the channel closes.

Each sandbox starts it, and one for a verdict needs little of it: rarely used parts are imported when they are used.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple

from .commands import PLAIN, entry_point, pytest_run
from .files import Refused, Workspace, empty
from .framing import ChannelClosed, FdChannel
from .launcher import Launcher
from .output import Told
from .processes import (
    KEPT,
    CannotStart,
    Child,
    descendants,
    kill_tree,
    protect_self,
    reap,
)

if TYPE_CHECKING:
    from .debugger import Debugger
    from .servers import Servers
    from .terminal import Terminal

Reply = Tuple[Dict[str, Any], bytes]
QUICKLY_WALKED = 1000
"""How many files of a workspace can be looked at in a few milliseconds."""
REPORT_LIMIT = 16 << 20
"""The most bytes of a test run's report that are passed on; the code under test can write there too."""


class Guest:
    """The resident program: one method `do_NAME` for each request."""

    def __init__(self, zip_fd: int, lifeline: int = -1, warm: Optional[Tuple[int, int]] = None) -> None:
        """`warm`: the socket and the process id of a warm Python that is already running."""
        self._workspace = Workspace("/")
        self._programs = Launcher(zip_fd, lifeline, warm)
        self._debuggers: Dict[str, Debugger] = {}
        self._lifeline = lifeline
        self._opened: Optional[Terminal] = None
        self._programs.make_room = self._end_terminal
        self._running: Optional[Servers] = None

    def do_hello(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Set the workspace, the environment and the limits of all later commands."""
        os.makedirs(request["root"], exist_ok=True)
        self._workspace = Workspace(request["root"])
        os.chdir(self._workspace.root)
        confined = self._programs.prepare(self._workspace.root, request["env"], dict(request["limits"]))
        return {
            "root": self._workspace.root,
            "python": self._programs.python,
            "version": list(sys.version_info[:3]),
            "confined": confined,
        }, b""

    def do_ping(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Show that the guest is alive."""
        return {}, b""

    # ---- files

    def do_put(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Fill the workspace, whose content then becomes the baseline."""
        if request["fresh"]:
            empty(self._workspace.root)
            # Process 1 is alone in its sandbox; elsewhere these folders are shared with others.
            if os.getpid() == 1:
                for folder in filter(os.path.isdir, ("/tmp", "/dev/shm")):
                    empty(folder)
        self._workspace.put(body, request["built"])
        if request["built"]:
            self._programs.end_warm()  # only now are the workspace's packages on its path
        self._programs.expect(body)
        return {}, b""

    def do_read(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Return a file's content."""
        return {}, self._workspace.read(request["path"])

    def do_resolve(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Return where a path really leads, relative to the workspace."""
        return {"path": self._workspace.relative(self._workspace.resolve(request["path"]))}, b""

    def do_edit(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Replace lines of a file."""
        text = body.decode("utf-8")
        reply, content = self._workspace.edit(request["path"], text, request["start"], request["end"], request["check"])
        self._notice(reply["changed_files"])
        return reply, content

    def do_restore(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Write these bytes to a file, or remove it."""
        changed = self._workspace.restore(request["path"], None if request["gone"] else body)
        self._notice(changed)
        return {"changed_files": changed}, b""

    def do_list(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Return the entries below a directory."""
        return self._workspace.listing(request["path"], request["depth"], request["limit"]), b""

    def do_search(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Return the lines that match a regular expression."""
        found = self._workspace.search(
            request["pattern"], request["path"], request["glob"], request["limit"], request["ignore_case"]
        )
        return found, b""

    def do_changes(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Return what differs from the baseline."""
        return self._workspace.changes()

    # ---- programs

    def do_prepare(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Have the warm Python ready before it is needed."""
        return {"warm": self._programs.warm.prepare()}, b""

    def do_run(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Run a shell command. `changed_files`: see `Workspace.news`."""
        command = request["command"]
        reply, out = self._programs.run(lambda output: self._programs.command(command, output), request)
        reply["changed_files"] = self._workspace.news()
        self._notice(reply["changed_files"])
        return reply, out

    def do_test(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Run the test command. If it is pytest, `report` has its raw, authenticated lines."""
        found = pytest_run(request["command"])
        if found is None:
            return self.do_run(request, body)
        report_read, report_write = os.pipe()
        key_read = os.memfd_create("key")  # holds any size, unlike a pipe
        os.write(key_read, body)
        os.lseek(key_read, 0, os.SEEK_SET)
        chunks: List[bytes] = []

        def take(data: bytes) -> None:
            if sum(map(len, chunks)) < REPORT_LIMIT:
                chunks.append(data)

        score = request["score"]
        mode = "canaries" if request["canaries"] else "blind" if score else "shown"
        program = ["pytest", str(report_write), mode, *found.arguments]
        program += ["--maxfail=0"] if request["every"] else []
        # A blind run has failures on purpose, and pytest's own tracebacks take longer than most tests.
        program += ["--tb=native"] if score else []
        plain = found.folder == "." and not found.variables
        # If nothing was forked yet, a forked process is as clean as one that is started.
        warm = plain and (not score or self._programs.untouched)

        def start(output: int) -> Child:
            try:
                return self._programs.own(
                    program, key_read, output, report_write, warm=warm, around=found, expected=not score
                )
            finally:
                os.close(report_write)
                os.close(key_read)

        reply, output = self._programs.run(start, request, {report_read: take})
        reply["changed_files"] = [] if score else self._workspace.news()
        reply["report"] = b"".join(chunks).decode("ascii", "replace")
        return reply, output

    def do_follow(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Run a program under an observer; `records` is what the observer reported. See `guest.laboratory`."""
        found = pytest_run(request["command"])
        around = PLAIN if found is None else found
        entry = entry_point(request["command"]) if found is None else ["pytest", *found.arguments]
        report_read, report_write = os.pipe()
        told = Told()
        asked = {**request["spec"], "entry": entry, "root": self._workspace.root}
        given = os.memfd_create("spec")
        os.write(given, json.dumps(asked).encode())
        os.lseek(given, 0, os.SEEK_SET)
        program = ["laboratory", str(report_write), self._workspace.root]
        warm = around.folder == "." and not around.variables

        def start(output: int) -> Child:
            try:
                return self._programs.own(program, given, output, report_write, warm=warm, around=around)
            finally:
                os.close(report_write)
                os.close(given)

        reply, output = self._programs.run(start, request, {report_read: told.take})
        reply["changed_files"] = self._workspace.news() if len(self._workspace) <= QUICKLY_WALKED else []
        reply["records"], reply["unsound"] = told.records()
        return reply, output

    # ---- the debugger

    def _launch_debugger(self, socket_fd: int, output_fd: int) -> Child:
        null = os.open(os.devnull, os.O_RDONLY)
        try:
            program = ["pdb", str(socket_fd), self._workspace.root]
            return self._programs.own(program, null, output_fd, socket_fd, warm=True)
        finally:
            os.close(null)

    def do_debug(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Carry out pdb commands."""
        from .debugger import Debugger

        entry = entry_point(request["entry"])
        name = request["session"]
        debugger = self._debuggers.setdefault(name, Debugger(self._workspace, self._launch_debugger))
        try:
            asked = request["only"], request["timeout_s"], request["value_limit"]
            reply = debugger.act(body.decode("utf-8"), entry, *asked)
        except CannotStart as error:
            raise Refused(str(error)) from None
        # A debugger step takes a millisecond. If looking at the files takes many, that is left to the next request.
        reply["changed_files"] = self._workspace.news() if len(self._workspace) <= QUICKLY_WALKED else []
        return reply, b""

    def do_end_debug(self, request: Dict[str, Any], body: bytes) -> Reply:
        """End a session of the debugger and forget its breakpoints."""
        debugger = self._debuggers.pop(request["session"], None)
        if debugger is not None:
            debugger.close()
        return {}, b""

    def _notice(self, changed: List[Tuple[str, Optional[int], str]]) -> None:
        for debugger in self._debuggers.values():
            debugger.notice(changed)

    # ---- the terminal

    @property
    def _terminal(self) -> Terminal:
        if self._opened is None:
            from .terminal import Terminal

            self._opened = Terminal(self._programs.shell, self._lifeline)
        return self._opened

    def _end_terminal(self) -> bool:
        why = "its programs had used up all processes of the sandbox"
        return self._opened is not None and self._opened.close(why)

    def do_terminal(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Type into the terminal and wait; see `Terminal.act`. `restart`: use a new terminal."""
        if request["restart"]:
            self._terminal.close()
        limits = {name: request[name] for name in ("timeout_s", "silence_s", "cap")}
        try:
            reply, output = self._terminal.act(request["typed"], request["until"], **limits)
        except CannotStart as error:
            raise Refused(str(error)) from None
        reply["changed_files"] = [] if reply["event"] == "output" else self._workspace.news()
        self._notice(reply["changed_files"])
        return reply, output

    # ---- servers

    @property
    def _servers(self) -> Servers:
        if self._running is None:
            from .servers import Servers

            self._running = Servers(self._lifeline)
        return self._running

    def do_serve(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Start a server, or restart it if it is running; `prefix`: the folder of its packages."""
        self._servers.stop(request["name"])
        child = self._programs.server(request["argv"], request["env"], request["prefix"])
        self._servers.add(request["name"], child)
        return {}, b""

    def do_exchange(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Send bytes to a server and return the lines that it answers; see `Server.exchange`."""
        reply, out = self._servers.exchange(request["name"], body, request["timeout_s"], request["cap"])
        reply["changed_files"] = self._workspace.news()
        self._notice(reply["changed_files"])
        return reply, out

    def do_stop(self, request: Dict[str, Any], body: bytes) -> Reply:
        """End a server and everything that it started."""
        self._servers.stop(request["name"])
        return {}, b""

    # ---- life

    def serve(self, channel: FdChannel) -> None:
        """Answer requests until the channel closes."""
        while True:
            request, body = channel.receive()
            reply: Dict[str, Any]
            try:
                handler: Optional[Callable[[Dict[str, Any], bytes], Reply]] = getattr(self, "do_" + request["op"], None)
                if handler is None:
                    raise ValueError("unknown request %r" % request["op"])
                reply, out = handler(request, body)
                reply["ok"] = True
            except Refused as error:
                reply, out = {"ok": False, "refused": str(error)}, b""
            except (OSError, MemoryError) as error:
                # The agent caused the state of the workspace; before the agent acts, the sandbox itself is at fault.
                kind = "failed" if request["op"] in ("hello", "prepare") else "refused"
                reply, out = {"ok": False, kind: "%s: %s" % (type(error).__name__, error)}, b""
            except Exception:
                import traceback

                reply, out = {"ok": False, "bug": traceback.format_exc()}, b""
            if request["op"] in ("put", "edit", "restore", "run", "test", "follow", "terminal", "exchange"):
                for debugger in self._debuggers.values():
                    debugger.files_may_have_changed = True
            reply["id"] = request.get("id")
            channel.send(reply, out)
            reap()


def main(zip_fd: int, warm: Optional[Tuple[int, int]] = None) -> None:
    """Run the resident program. Requests and replies are frames on descriptors 0 and 1. Does not return."""
    gc.freeze()  # imported modules stay anyway
    gc.enable()
    protect_self()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = _private(0), _private(1)
    channel = FdChannel(requests, replies)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(null, fd)
    try:
        Guest(zip_fd, requests, warm).serve(channel)
    except ChannelClosed:
        pass
    finally:
        KEPT.clear()
        kill_tree(descendants(os.getpid()))
        os._exit(0)  # nothing is left for Python's own shutdown to do


def _private(fd: int) -> int:
    # A descriptor with a high number that is closed on exec, so that no child inherits the channel.
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)
