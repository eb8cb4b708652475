"""One process for each change."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import select
import signal
import time
from typing import Any, Dict, Optional

Change = Dict[str, Optional[str]]
"""Path -> content of the file; None for a file that does not exist."""
_MEMORY = 768 << 20
_pipe = -1


def answer(result: Any) -> None:
    """Send the result and exit at once, because nothing of the process is worth keeping."""
    data = json.dumps(result).encode() + b"\n"
    while data:
        data = data[os.write(_pipe, data) :]
    os._exit(0)


def fork(cpu_s: float, wall_s: float) -> tuple[bool, Any]:
    """Return (True, None) in the new process, and in this one (False, its answer), "stopped" if none comes in time."""
    global _pipe
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        os.setsid()
        os.close(reads)
        _pipe = writes
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        signal.setitimer(signal.ITIMER_PROF, cpu_s)  # its signal ends the process
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        return True, None
    os.close(writes)
    deadline = time.monotonic() + wall_s
    data = b""
    while not data.endswith(b"\n"):
        ready, _, _ = select.select([reads], [], [], max(deadline - time.monotonic(), 0))
        chunk = os.read(reads, 1 << 16) if ready else b""
        if not chunk:
            break
        data += chunk
    os.close(reads)
    for end in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            end(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False, json.loads(data) if data.endswith(b"\n") else "stopped"


def run(arguments: list[str], plugin: Any, cpu_s: float, wall_s: float) -> Any:
    """Return the answer of a plugin in a pytest process of its own."""
    is_child, result = fork(cpu_s, wall_s)
    if not is_child:
        return result
    try:
        import pytest

        pytest.main(arguments, plugins=plugin if isinstance(plugin, list) else [plugin])
    finally:
        os._exit(1)


def put(files: Change) -> None:
    """Write the files of a change; a file that is None is removed."""
    for path, text in files.items():
        if text is None:
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)
            continue
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
