"""Sandbox processes on this machine whose owner process is dead."""

from __future__ import annotations

import psutil

from stackrank.env.sandbox.process import OWNER_VARIABLE
from stackrank.home import is_dead


def end_orphans() -> list[str]:
    """Kill every process that carries the mark of a dead owner. Returns the names of the killed processes.

    A guest ends by itself when its owner does. This is for guests that could not.
    """
    killed = []
    for process in psutil.process_iter():
        try:
            mark = process.environ().get(OWNER_VARIABLE)
            if mark and is_dead(mark):
                process.kill()
                killed.append(f"{process.name()}-{process.pid}")
        except (psutil.NoSuchProcess, psutil.AccessDenied, psutil.ZombieProcess, OSError):
            continue
    return killed
