"""Starts everything that runs in a sandbox: commands, our own programs, and what debugging tools start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Tuple

from .files import Refused
from .processes import KEPT, CannotStart, Child, NoProcessLeft, child_setup, run, spawn
from .seccomp import confine, no_tracing

if TYPE_CHECKING:
    from .warm_python import WarmPython

_EXPECTED = ("asyncio", "unittest.mock")
_NO_VARIABLES: Mapping[str, str] = {}


class Launcher:
    """Knows the environment, the limits and the Python of everything that is started."""

    def __init__(self, zip_fd: int, lifeline: int, warm: Optional[Tuple[int, int]] = None) -> None:
        self._zip_fd = zip_fd
        self._lifeline = lifeline
        self._root = "/"
        self.env: Dict[str, str] = {}
        """The variables of everything that is started."""
        self._setup: Callable[[], None] = lambda: None
        self._limits: Dict[str, Any] = {}
        self.python = sys.executable
        """The task's Python."""
        self._given = warm
        if warm is not None:
            KEPT.add(warm[1])  # it is not something that an episode's program left behind
        self._warm: Optional[WarmPython] = None
        self._expected: List[str] = []
        self.make_room: Callable[[], bool] = lambda: False
        """Called when no further process can be started; returns whether it ended some."""

    def prepare(self, root: str, env: Dict[str, str], limits: Dict[str, Any]) -> bool:
        """Set what holds for every program started later. Returns whether the programs are confined."""
        self._root = root
        # Our variables take precedence over the image's own, such as its PATH.
        self.env = {**os.environ, **env}
        confined = confine() if limits.pop("confine", False) else False
        self._setup = child_setup(**limits, last=no_tracing() if confined else lambda: None)
        self._limits = limits
        self.python = shutil.which("python", path=self.env["PATH"]) or sys.executable
        return confined

    @property
    def warm(self) -> WarmPython:
        """The warm Python, which forks every program that can be forked."""
        if self._warm is None:
            from .warm_python import WarmPython

            self._warm = WarmPython(self._start_warm, self._given)
        return self._warm

    @property
    def untouched(self) -> bool:
        """Whether the warm Python is the one that was forked with the sandbox."""
        return self._given is not None and self.warm.given

    def end_warm(self) -> None:
        """End the warm Python, so that the next use starts a new one."""
        if self._warm is not None or self._given is not None:
            self.warm.close()

    def expect(self, files: bytes) -> None:
        """Have large modules that these files will import ready too."""
        self._expected[:] = [name for name in _EXPECTED if name.rpartition(".")[2].encode() in files]

    def run(
        self,
        start: Callable[[int], Child],
        request: Dict[str, Any],
        watch: Optional[Dict[int, Callable[[bytes], None]]] = None,
    ) -> Tuple[Dict[str, Any], bytes]:
        """Run what `start` starts to its end. Returns how it ended, and its output. Raises Refused."""
        timeout_s, cap = request["timeout_s"], request["cap"]
        try:
            result = run(start, timeout_s=timeout_s, cap=cap, watch=watch, lifeline=self._lifeline)
        except CannotStart as error:
            raise Refused(str(error)) from None
        output = result.pop("output")
        return result, output

    def command(self, text: str, output: int) -> Child:
        """Start a shell command. Raises CannotStart."""
        return self._spawn(["/bin/sh", "-c", text], subprocess.DEVNULL, output)

    def own(
        self,
        program: List[str],
        stdin: int,
        output: int,
        fds: Tuple[int, ...],
        *,
        warm: bool,
        folder: str = ".",
        variables: Mapping[str, str] = _NO_VARIABLES,
        expected: bool = True,
    ) -> Child:
        """Start one of our own programs (see `guest.child`), which reports to `fds`; with `warm`, fork it if possible.

        Its first argument is their numbers, separated by commas; here it is what follows.

        `folder` (relative to the workspace) and `variables`: where it runs. `expected`: with the modules that the
        task's files will import. Raises CannotStart.
        """
        if warm and folder == "." and not variables:
            forked = self.warm.fork(program, [stdin, output, output, *fds], self._expected if expected else [])
            if forked is not None:
                return forked
        return self._spawn_own(program, stdin, output, fds, folder, variables)

    def spawn(
        self, argv: List[str], env: Dict[str, str], last: Optional[Callable[[], Any]] = None, **streams: int
    ) -> "subprocess.Popen[bytes]":
        """Start a program in the workspace with these variables and streams. Raises CannotStart.

        `last` is called in the child before the program starts, in place of the filter against debuggers.
        """
        setup = self._setup if last is None else child_setup(**self._limits, last=last)
        return spawn(argv, cwd=self._root, env=env, preexec_fn=setup, **streams)

    def _start_warm(self, socket_fd: int) -> Child:
        return self._spawn_own(["warm"], subprocess.DEVNULL, subprocess.DEVNULL, (socket_fd,))

    def _spawn_own(
        self,
        program: List[str],
        stdin: int,
        output: int,
        fds: Tuple[int, ...],
        folder: str = ".",
        variables: Mapping[str, str] = _NO_VARIABLES,
    ) -> Child:
        # A descriptor of its own, because the package's is closed on exec.
        package = os.dup(self._zip_fd)
        try:
            numbers = ",".join(map(str, fds))
            argv = [self.python, "/proc/self/fd/%d" % package, program[0], numbers, *program[1:]]
            return self._spawn(argv, stdin, output, (*fds, package), folder, variables)
        finally:
            os.close(package)

    def _spawn(
        self,
        argv: List[str],
        stdin: int,
        output: int,
        pass_fds: Tuple[int, ...] = (),
        folder: str = ".",
        variables: Mapping[str, str] = _NO_VARIABLES,
    ) -> Child:
        def start() -> Child:
            return spawn(
                argv,
                cwd=os.path.join(self._root, folder),
                env={**self.env, **variables},
                stdin=stdin,
                stdout=output,
                stderr=output,
                pass_fds=pass_fds,
                preexec_fn=self._setup,
            )

        try:
            return start()
        except NoProcessLeft:
            if not self.make_room():
                raise
            return start()
