"""A pytest session that runs its longest files first and leaves no process behind.

Every process that a session starts inherits a mark in its environment. A guard, which is a process of its own, waits
for the end of the session, however it comes, and then ends every process that still carries the mark, and removes the
folders of servers. Servers leave the process group of whoever starts them, so no signal to a group reaches them all.
"""

from __future__ import annotations

import contextlib
import gc
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import psutil
import pytest

MARK = "TEST_SESSION_MARK"
GRACE_S = 20.0
"""How long the processes of an ended session may take to end by themselves; workers of pytest-xdist take up to 15 s."""
STARTED = {
    *("prefect_server", "postgres", "postgresql", "chromium", "browser", "served", "docker"),
    *("sandbox_backend", "any_backend"),
}
"""Fixtures, and their parameters, that stand for something that has to be started: a test with one of them is slow."""
STARTS = {"usable", "Sandbox", "play_real", "play_run"}
"""So is a test that itself calls one of these, which start sandboxes."""
FURTHER_CASES = {
    "docker": ("tests/env/sandbox/",),
    "postgresql": ("tests/db/storage/", "tests/db/connection/"),
    "dark": (),
}
"""Parameter -> the folders whose tests `make test` runs with it.

The contract of sandboxes and of databases is tested on both kinds. What rests on a contract is tested on one kind, and
on the other by `make test-exhaustive`; so are dark pages. Of the cases of a slow test, `make test` runs the first of
each kind.
"""
_GUARD = pytest.StashKey[subprocess.Popen[bytes]]()


def pytest_configure(config: pytest.Config) -> None:
    """Let SIGTERM end the session as Ctrl-C does, with every fixture torn down, and start the guard."""
    config.addinivalue_line("markers", "slow: needs an engine, a browser, a server or its time; not in `make check`")
    config.addinivalue_line("markers", "exhaustive: another case of what `make test` tests; in `make test-exhaustive`")
    signal.signal(signal.SIGTERM, _end)
    os.environ["STACKRANK_ALLOW_LOCAL"] = "1"  # for code of the tests' own
    if hasattr(config, "workerinput"):  # a worker of a session that has its guard
        return
    os.environ[MARK] = uuid.uuid4().hex
    unmarked = {name: value for name, value in os.environ.items() if not name.startswith((MARK, "COV"))}
    # The pipe closes when this process is gone; nothing is ever written to it.
    config.stash[_GUARD] = subprocess.Popen(
        [sys.executable, __file__, os.environ[MARK]], stdin=subprocess.PIPE, env=unmarked, start_new_session=True
    )


def pytest_collection_finish() -> None:
    """Let garbage collections pass over what stays: thousands of tests and the modules that they import."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the servers that the session's processes shared."""
    if _GUARD in config.stash:
        from tests.support.shared_servers import end_servers  # not above: the guard runs this file by itself

        end_servers()


def _end(number: int, frame: object) -> None:
    signal.signal(signal.SIGTERM, lambda *arguments: None)
    pytest.exit("ended by SIGTERM")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow, and order the files: those of groups, the others with something slow, the rest."""
    begun: set[tuple[str, ...]] = set()
    for item in items:
        if STARTED & {*getattr(item, "fixturenames", ()), *parameters(item)} or STARTS & set(_names(item)):
            item.add_marker(pytest.mark.slow)
        if any(case in parameters(item) and not item.nodeid.startswith(at) for case, at in FURTHER_CASES.items()):
            item.add_marker(pytest.mark.exhaustive)
        if item.get_closest_marker("slow") and not item.get_closest_marker("exhaustive"):
            kind = (item.nodeid.partition("[")[0], *(case for case in FURTHER_CASES if case in parameters(item)))
            if kind in begun:
                item.add_marker(pytest.mark.exhaustive)
            begun.add(kind)
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    from tests.support.side_by_side import GROUPS, RANKS, file_of  # not above: the guard runs this file by itself

    last = len(GROUPS)
    items.sort(key=lambda item: RANKS.get(file_of(item.nodeid), last + (item.path not in slow)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Where each file is whole in one process, run files that share something in the same one."""
    if config.getoption("dist") != "loadfile":
        return None
    from tests.support.side_by_side import Scheduling

    return Scheduling(config, log)


def sample(cases: Iterable[Any], few: Collection[Any]) -> list[Any]:
    """Parameters for all cases: `make test` runs those named in `few`, and `make test-exhaustive` the others."""
    marks = pytest.mark.exhaustive
    return [case if case in few else pytest.param(case, marks=marks) for case in cases]


def _names(item: pytest.Item) -> tuple[str, ...]:
    """The global names, and those of attributes, in the code of a test."""
    return item.function.__code__.co_names if isinstance(item, pytest.Function) else ()


def parameters(item: pytest.Item) -> list[object]:
    """The parameters of a test that are text."""
    call = getattr(item, "callspec", None)
    return [value for value in call.params.values() if isinstance(value, str)] if call else []


def server_folder(kind: str) -> Path:
    """A new folder for a server, whose path is short enough for sockets. The guard removes it, if nobody does."""
    return Path(tempfile.mkdtemp(prefix=f"stackrank-{kind}-{os.environ.get(MARK, '')[:8]}-"))


def remove(folder: Path) -> None:
    """Remove a folder, and before that what a killed engine has mounted in it."""
    for mount in reversed(psutil.disk_partitions(all=True)):
        if Path(mount.mountpoint).is_relative_to(folder):
            subprocess.run(["umount", "-l", mount.mountpoint], check=False)
    shutil.rmtree(folder, ignore_errors=True)


def marked(mark: str) -> list[psutil.Process]:
    """The processes that carry a session's mark."""
    processes = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                processes.append(process)
    return processes


def guard(mark: str) -> None:
    """Wait until the session is over, then end what it left."""
    sys.stdin.read()
    deadline = time.monotonic() + GRACE_S
    while marked(mark) and time.monotonic() < deadline:
        time.sleep(0.2)
    while survivors := marked(mark):
        for process in survivors:
            with contextlib.suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(survivors, timeout=1)
    for folder in Path(tempfile.gettempdir()).glob(f"stackrank-*-{mark[:8]}-*"):
        remove(folder)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    guard(sys.argv[1])
