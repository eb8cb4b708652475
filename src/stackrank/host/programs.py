"""Starts programs on this machine. Nothing else in stackrank does; `tests/ground/test_process_starts.py` enforces it.

People run stackrank in folders that others wrote. A file there, such as `token.py` or `prefect.toml`, must never become
code or configuration of a program that runs outside a sandbox. So every program here

- runs in a folder that is not the user's, and gets every path as an absolute one,
- is looked up in the absolute folders of PATH only, and so is what it starts itself,
- adds no folder to Python's path, neither its own one nor those in PYTHONPATH.

Git needs more than that; see `stackrank.env.git`.
"""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NoReturn

from stackrank.wording import masked

FOLDER = "/"
"""The folder in which programs run. It is never the user's: programs read code and configuration from theirs."""
PIPE, DEVNULL, STDOUT = subprocess.PIPE, subprocess.DEVNULL, subprocess.STDOUT
Process = subprocess.Popen
TimeoutExpired = subprocess.TimeoutExpired

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_SAFE = "PYTHONSAFEPATH"
_PYTHON = {
    "PYTHONDEVMODE", "PYTHONDONTWRITEBYTECODE", "PYTHONFAULTHANDLER", "PYTHONHASHSEED", "PYTHONIOENCODING",
    "PYTHONMALLOC", "PYTHONNOUSERSITE", "PYTHONOPTIMIZE", "PYTHONUNBUFFERED", "PYTHONUTF8", _SAFE,
}  # fmt: skip
"""The variables of Python that name no file and no module. All others are removed."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A program that has ended."""

    status: int
    """Its exit status; negative: the signal that ended it."""
    output: bytes
    errors: bytes
    """Its standard error; empty if it went to the output."""

    @property
    def text(self) -> str:
        """Its output as text."""
        return self.output.decode("utf-8", "replace")

    @property
    def error_text(self) -> str:
        """Its standard error as text."""
        return self.errors.decode("utf-8", "replace")


def python(*arguments: str) -> list[str]:
    """Return the command that runs this Python with arguments such as `-m`, MODULE."""
    return [sys.executable, "-P", *arguments]


def find_program(name: str, path: str | None = None) -> str | None:
    """Return the path of a program; None if it is not installed. `path`: the folders to look in, by default those of
    PATH. Relative folders are ignored.
    """
    return shutil.which(name, path=_search_path(os.environ.get("PATH", os.defpath) if path is None else path))


def environment(overrides: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment for another program: paths are absolute, and Python's path is its own."""
    from stackrank.settings import absolute_variables  # takes long to import, and `--help` starts nothing

    variables = {**os.environ, **absolute_variables(), **(overrides or {})}
    return {**_clean(variables), **_loopback_direct(variables), _SAFE: "1"}


def run(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    folder: Path | str = FOLDER,
    stdin: bytes = b"",
    merge: bool = False,
    timeout_s: float | None = None,
    pass_fds: Collection[int] = (),
    most_bytes: int | None = None,
) -> Ended:
    """Run a program and wait for its end. Raises OSError if it cannot be started, and TimeoutExpired.

    `env`: its whole environment; default: `environment()`. `folder`: a folder of our own to run in. `merge`: whether
    its standard error goes to the output. `pass_fds`: descriptors that it inherits. `most_bytes`: of output; a program
    that writes more is killed, which raises OSError with EFBIG.
    """
    if most_bytes is not None:
        return _run_capped(argv, env, folder, stdin, timeout_s, most_bytes)
    completed = subprocess.run(
        _resolved(argv),
        input=stdin,
        stdout=PIPE,
        stderr=STDOUT if merge else PIPE,
        env=_for_host(env),
        cwd=folder,
        timeout=timeout_s,
        pass_fds=tuple(pass_fds),
        check=False,
    )
    return Ended(completed.returncode, completed.stdout, completed.stderr or b"")


def start(
    argv: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    folder: Path | str = FOLDER,
    stdin: int | IO[bytes] = DEVNULL,
    stdout: int | IO[bytes] = DEVNULL,
    stderr: int | IO[bytes] = DEVNULL,
    pass_fds: Collection[int] = (),
) -> Process[bytes]:
    """Start a program in a session of its own, with unbuffered streams. Raises OSError. For the rest see `run`."""
    return _start(argv, _for_host(env), folder, stdin, stdout, stderr, pass_fds)


def start_sandbox(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    stdin: int | IO[bytes],
    stdout: int | IO[bytes],
    stderr: int | IO[bytes],
    pass_fds: Collection[int] = (),
) -> Process[bytes]:
    """Start the program that makes a sandbox. Nothing of this process's environment is added to `env`, because
    programs in a sandbox may inherit it, and there Python's path is the task's. For the rest see `start`.
    """
    return _start(argv, _clean(env), FOLDER, stdin, stdout, stderr, pass_fds)


def become(argv: Sequence[str], *, env: Mapping[str, str] | None = None) -> NoReturn:
    """Replace this process by a program. Raises OSError."""
    variables = _for_host(env)
    os.chdir(FOLDER)
    os.execve(_resolved(argv)[0], list(argv), variables)


def leave_user_folder(folder: Path) -> None:
    """Change to a folder of our own, because libraries in this process read configuration from the current one.

    Variables of the process get absolute paths, and programs that libraries start get what `environment` gives.
    """
    protect_environment()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)


def detach() -> None:
    """Continue in a copy of this process with a session of its own, which gets SIGTERM if this process is killed.

    For servers whose clients soon kill what they started. Must be called before any thread starts.
    """
    parent = os.getpid()
    if pid := os.fork():
        status = os.waitpid(pid, 0)[1]
        os._exit(max(os.waitstatus_to_exitcode(status), 0) if os.WIFEXITED(status) else 1)
    os.setsid()
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


@contextmanager
def outside_user_folder(folder: Path) -> Iterator[None]:
    """Be in a folder of our own for a time; see `leave_user_folder`."""
    former = os.open(".", os.O_RDONLY | os.O_DIRECTORY)
    try:
        leave_user_folder(folder)
        yield
    finally:
        os.fchdir(former)
        os.close(former)


def protect_environment() -> None:
    """Change this process's environment to `environment()`, for programs that libraries start."""
    variables = environment()
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


def _run_capped(
    argv: Sequence[str],
    env: Mapping[str, str] | None,
    folder: Path | str,
    stdin: bytes,
    timeout_s: float | None,
    most_bytes: int,
) -> Ended:
    with tempfile.TemporaryFile() as source, tempfile.TemporaryFile() as errors:
        source.write(stdin)
        source.seek(0)
        process = _start(argv, _for_host(env), folder, source, PIPE, errors, ())
        late = threading.Event()

        def end() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(timeout_s or threading.TIMEOUT_MAX, end)
        timer.daemon = True
        timer.start()
        try:
            assert process.stdout is not None
            chunks, size = [], 0
            while chunk := process.stdout.read(1 << 20):
                chunks.append(chunk)
                size += len(chunk)
                if size > most_bytes:
                    raise OSError(errno.EFBIG, f"it writes more than {most_bytes:,} bytes", argv[0])
            process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        if late.is_set():
            raise TimeoutExpired(list(argv), timeout_s or 0)
        errors.seek(0)
        return Ended(process.returncode, b"".join(chunks), errors.read(1 << 20))


def _start(
    argv: Sequence[str],
    env: Mapping[str, str],
    folder: Path | str,
    stdin: int | IO[bytes],
    stdout: int | IO[bytes],
    stderr: int | IO[bytes],
    pass_fds: Collection[int],
) -> Process[bytes]:
    return subprocess.Popen(
        _resolved(argv),
        env=env,
        cwd=folder,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        bufsize=0,
        start_new_session=True,
        pass_fds=tuple(pass_fds),
    )


def _resolved(argv: Sequence[str]) -> list[str]:
    name = argv[0]
    program = find_program(name) if os.sep not in name else name if Path(name).is_absolute() else None
    if program is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return [program, *argv[1:]]


def _for_host(env: Mapping[str, str] | None) -> dict[str, str]:
    return environment() if env is None else {**_clean(env), _SAFE: "1"}


def _clean(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables without those that make Python run or import something else, and with a safe PATH."""
    clean = {name: text for name, text in variables.items() if not name.startswith("PYTHON") or name in _PYTHON}
    if "PATH" in clean:
        clean["PATH"] = _search_path(clean["PATH"])
    return clean


def proxy_addresses() -> list[str]:
    """Return the proxies of the environment, through which other machines are reached, without passwords."""
    from urllib.request import getproxies  # takes long to import

    proxies = getproxies()
    return list(dict.fromkeys(masked(proxies[kind]) for kind in ("https", "http", "all") if proxies.get(kind)))


def _loopback_direct(variables: Mapping[str, str]) -> dict[str, str]:
    """Return `NO_PROXY`, in both spellings, so that nobody asks a proxy for this machine; nothing without a proxy.

    A proxy could only answer for a machine of its own, and many refuse.
    """
    names = {name.lower(): name for name in variables}
    if not any(variables.get(names.get(name, "")) for name in _PROXIES):
        return {}
    spellings = [text for name in ("no_proxy", "NO_PROXY") if (text := variables.get(name))]
    hosts = [host.strip() for text in spellings for host in text.split(",") if host.strip()]
    text = ",".join(dict.fromkeys([*hosts, *LOOPBACK]))
    return dict.fromkeys(("no_proxy", "NO_PROXY"), "*" if "*" in hosts else text)


def _search_path(path: str) -> str:
    return os.pathsep.join(folder for folder in path.split(os.pathsep) if Path(folder).is_absolute())
