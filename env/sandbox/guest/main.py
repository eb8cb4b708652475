"""Takes requests, one at a time, until the channel closes."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import traceback
from typing import Any, Callable, Dict, List, Optional, Tuple

from .debugger import Debugger
from .files import Refused, Workspace, empty
from .framing import ChannelClosed, FdChannel
from .processes import KEPT, CannotStart, Child, child_setup, descendants, kill_tree, protect_self, reap, run, spawn
from .seccomp import confine
from .warm import WarmPython

Reply = Tuple[Dict[str, Any], bytes]


class Guest:
    """The resident program: one method `do_NAME` for each request."""

    def __init__(self, zip_fd: int, lifeline: int = -1) -> None:
        self._zip_fd = zip_fd
        self._lifeline = lifeline
        self._env: Dict[str, str] = {}
        self._workspace = Workspace("/")
        self._setup: Callable[[], None] = lambda: None
        self._python = sys.executable
        self._warm = WarmPython(self._launch_warm)
        self._debugger = Debugger(self._workspace, self._launch_debugger)

    def do_hello(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Set the workspace, the environment and the limits of every command to come."""
        os.makedirs(request["root"], exist_ok=True)
        self._workspace = Workspace(request["root"])
        os.chdir(self._workspace.root)
        # The image's own variables (its PATH) below ours.
        self._env = {**os.environ, **request["env"]}
        limits = dict(request["limits"])
        confined = confine() if limits.pop("confine", False) else False
        self._setup = child_setup(**limits)
        self._python = shutil.which("python", path=self._env["PATH"]) or sys.executable
        self._debugger = Debugger(self._workspace, self._launch_debugger)
        return {
            "root": self._workspace.root,
            "python": self._python,
            "version": list(sys.version_info[:3]),
            "confined": confined,
        }, b""

    def do_ping(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Answer."""
        return {}, b""

    # ---- files

    def do_put(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Fill the workspace; what is there then is the baseline."""
        if request["fresh"]:
            empty(self._workspace.root)
            # As process 1 we are alone here; elsewhere these folders are everybody's.
            if os.getpid() == 1:
                for folder in filter(os.path.isdir, ("/tmp", "/dev/shm")):
                    empty(folder)
        self._workspace.put(body, request["built"])
        if request["built"]:
            self._warm.close()  # packages of the workspace are on its path only now
        return {}, b""

    def do_read(self, request: Dict[str, Any], body: bytes) -> Reply:
        """A file's content."""
        return {}, self._workspace.read(request["path"])

    def do_resolve(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Where a path really leads, relative to the workspace."""
        return {"path": self._workspace.relative(self._workspace.resolve(request["path"]))}, b""

    def do_edit(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Replace lines of a file."""
        text = body.decode("utf-8")
        with self._debugger.noticing_edits():
            done = self._workspace.edit(request["path"], text, request["start"], request["end"], request["check"])
        return done, b""

    def do_list(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Entries below a directory."""
        return self._workspace.listing(request["path"], request["depth"], request["limit"]), b""

    def do_search(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Lines that match."""
        found = self._workspace.search(
            request["pattern"], request["path"], request["glob"], request["limit"], request["ignore_case"]
        )
        return found, b""

    def do_changes(self, request: Dict[str, Any], body: bytes) -> Reply:
        """What differs from the baseline."""
        return self._workspace.changes()

    # ---- programs

    def do_prepare(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Have the warm Python ready before it is needed."""
        return {"warm": self._warm.prepare()}, b""

    def do_run(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Run a shell command."""
        argv = ["/bin/sh", "-c", request["command"]]
        with self._debugger.noticing_edits():
            return self._run(lambda output: self._spawn(argv, stdin=subprocess.DEVNULL, output=output), request)

    def do_test(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Run the test command. Where it is pytest, `report` has its raw, authenticated lines."""
        arguments = pytest_arguments(request["command"])
        if arguments is None:
            return self.do_run(request, body)
        report_read, report_write = os.pipe()
        key_read = os.memfd_create("key")  # of any size, unlike a pipe
        os.write(key_read, body)
        os.lseek(key_read, 0, os.SEEK_SET)
        chunks: List[bytes] = []
        score = request["score"]
        program = ["pytest", str(report_write), "score" if score else "show", *arguments]

        def start(output: int) -> Child:
            try:
                return self._start(program, key_read, output, report_write, warm=not score)
            finally:
                os.close(report_write)
                os.close(key_read)

        reply, output = self._run(start, request, {report_read: chunks.append})
        reply["report"] = b"".join(chunks).decode("ascii", "replace")
        return reply, output

    def _run(
        self,
        start: Callable[[int], Child],
        request: Dict[str, Any],
        watch: Optional[Dict[int, Callable[[bytes], None]]] = None,
    ) -> Reply:
        timeout_s, cap = request["timeout_s"], request["cap"]
        try:
            result = run(start, timeout_s=timeout_s, cap=cap, watch=watch, lifeline=self._lifeline)
        except CannotStart as error:
            raise Refused(str(error)) from None
        output = result.pop("output")
        return result, output

    def _start(self, program: List[str], stdin: int, output: int, fd: int, warm: bool) -> Child:
        """Start one of our own programs (see `guest.child`), which reports to `fd`: forked where possible."""
        if warm:
            forked = self._warm.fork(program, [stdin, output, output, fd])
            if forked is not None:
                return forked
        return self._spawn_own(program, stdin, output, (fd,))

    def _spawn_own(self, program: List[str], stdin: int, output: int, pass_fds: Tuple[int, ...]) -> Child:
        # A descriptor of its own: the package's is closed on exec.
        package = os.dup(self._zip_fd)
        try:
            argv = [self._python, "/proc/self/fd/%d" % package, *program]
            return self._spawn(argv, stdin=stdin, output=output, pass_fds=(*pass_fds, package))
        finally:
            os.close(package)

    def _spawn(self, argv: List[str], stdin: int, output: int, pass_fds: Tuple[int, ...] = ()) -> Child:
        return spawn(
            argv,
            cwd=self._workspace.root,
            env=self._env,
            stdin=stdin,
            stdout=output,
            stderr=output,
            pass_fds=pass_fds,
            preexec_fn=self._setup,
        )

    # ---- the debugger

    def _launch_warm(self, socket_fd: int) -> Child:
        return self._spawn_own(["warm", str(socket_fd)], subprocess.DEVNULL, subprocess.DEVNULL, (socket_fd,))

    def _launch_debugger(self, socket_fd: int, output_fd: int) -> Child:
        null = os.open(os.devnull, os.O_RDONLY)
        try:
            program = ["pdb", str(socket_fd), self._workspace.root]
            return self._start(program, null, output_fd, socket_fd, warm=True)
        finally:
            os.close(null)

    def do_debug(self, request: Dict[str, Any], body: bytes) -> Reply:
        """Carry out pdb commands."""
        entry = entry_point(request["entry"])
        try:
            return self._debugger.act(body.decode("utf-8"), entry, request["explicit"], request["timeout_s"]), b""
        except CannotStart as error:
            raise Refused(str(error)) from None

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
                # Of the sandbox, never of the agent: the host makes an exception of it.
                reply, out = {"ok": False, "failed": "%s: %s" % (type(error).__name__, error)}, b""
            except Exception:
                reply, out = {"ok": False, "bug": traceback.format_exc()}, b""
            if request["op"] in ("put", "edit", "run", "test"):
                self._debugger.files_may_have_changed = True
            reply["id"] = request.get("id")
            channel.send(reply, out)
            reap()


def _words(command: str) -> Optional[List[str]]:
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if not words or any(mark in command for mark in ("|", "&", ";", ">", "<", "$", "`", "\n")):
        return None
    return words


def pytest_arguments(command: str) -> Optional[List[str]]:
    """The arguments of a plain pytest command, or None where it is something else."""
    words = _words(command)
    if words and words[0] in ("pytest", "py.test"):
        return words[1:]
    if words and words[0] in ("python", "python3") and words[1:3] == ["-m", "pytest"]:
        return words[3:]
    return None


def entry_point(command: str) -> List[str]:
    """What to debug, from a command line: pytest, `python -m module ...` or `python script.py ...`. Raises Refused."""
    arguments = pytest_arguments(command)
    if arguments is not None:
        return ["pytest", *arguments]
    words = _words(command)
    if words and words[0] in ("python", "python3") and len(words) > 1:
        words = words[1:]
    if words and ((words[0] == "-m" and len(words) > 1) or words[0].endswith(".py")):
        return words
    raise Refused(
        "%r cannot be debugged: name a Python program, as in `python -m pytest tests/test_x.py`, "
        "`python script.py arguments` or `python -m module arguments`" % command
    )


def main(zip_fd: int) -> None:
    """Be the resident program: frames on descriptors 0 and 1."""
    protect_self()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests, replies = _private(0), _private(1)
    channel = FdChannel(requests, replies)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(null, fd)
    try:
        Guest(zip_fd, requests).serve(channel)
    except ChannelClosed:
        pass
    finally:
        KEPT.clear()
        kill_tree(descendants(os.getpid()))


def _private(fd: int) -> int:
    # High numbers, closed on exec: no child inherits the channel.
    import fcntl

    return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)
