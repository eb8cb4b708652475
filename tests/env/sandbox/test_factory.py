"""Sandboxes that are forked and not started: what they share with others, and with what was there before them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from stackrank.env.sandbox.base import Backend, SandboxSpec
from stackrank.env.sandbox.bubblewrap.backend import BubblewrapBackend
from stackrank.env.sandbox.bubblewrap.start import ROOT
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.docker.berths import Berth
from stackrank.env.sandbox.factory import CannotFork, Factory, ForkedProcess
from stackrank.env.sandbox.guest.core import factory as factory_module
from tests.fixtures.env import usable
from tests.support.waiting import runs, wait_for

KEY = b"k" * 32
COMMAND = "python -m pytest -q -s -p no:cacheprovider test_it.py"
SPEC = SandboxSpec()


@pytest.fixture(scope="module")
def bubblewrap() -> Iterator[BubblewrapBackend]:
    usable("bubblewrap")
    backend = BubblewrapBackend()
    yield backend
    for factory in backend.factories.all():
        factory.close()


def pid_of(sandbox: Sandbox) -> int:
    return int(sandbox.name.rpartition("-")[2])


def play(sandbox: Sandbox, code: str, score: bool) -> str:
    """What a file of tests, which pass, prints."""
    sandbox.put({"test_it.py": code.encode()}, fresh=True)
    result = sandbox.test(COMMAND, 60, KEY, score=score)
    assert result.exit == 0, result.output
    return result.output


def test_sandboxes_come_from_one_factory(bubblewrap: BubblewrapBackend) -> None:
    with Sandbox(bubblewrap, SPEC) as first, Sandbox(bubblewrap, SPEC) as second:
        (factory,) = bubblewrap.factories.all()
        # Of what runs for the sandboxes, bwrap alone may be root: it only waits.
        inner = makers(factory, but=first)[1:]
        for process in (*inner, psutil.Process(pid_of(second))):
            assert process.uids().real != 0
        for sandbox in (first, second):
            assert factory.pid in {process.pid for process in psutil.Process(pid_of(sandbox)).parents()}
            status = sandbox.run("id -u; grep -c . /proc/self/uid_map; ps -A | wc -l; ls -A /workspace /tmp/x", 20)
            assert status.output.split()[:2] == ["1000", "1"]


def test_all_that_is_forked_is_under_the_limits_of_its_sandbox(bubblewrap: BubblewrapBackend) -> None:
    with Sandbox(bubblewrap, SPEC) as sandbox:
        guest = psutil.Process(pid_of(sandbox))
        groups = {
            Path(f"/proc/{process.pid}/cgroup").read_text() for process in (guest, *guest.children(recursive=True))
        }
        assert len(groups) == 1
        # What no program of an episode started is not ended as if it were left behind.
        python = [process.pid for process in guest.children()]
        assert sandbox.run("echo well", 20).output == "well\n"
        assert [process.pid for process in guest.children()] == python != []


def test_sandboxes_share_no_file_system_that_can_be_written(sandbox_backend: Backend) -> None:
    with Sandbox(sandbox_backend, SPEC) as sandbox:
        rows = [line.split() for line in sandbox.run("cat /proc/self/mounts", 20).output.splitlines()]
    writable = {(row[1], row[2]) for row in rows if "rw" in row[3].split(",") and row[2] != "devtmpfs"}
    mounts = {
        ("/workspace", "tmpfs"),
        ("/tmp", "tmpfs"),
        ("/dev/shm", "tmpfs"),
        ("/dev/pts", "devpts"),
        ("/proc", "proc"),
    }
    assert writable == mounts


LEAVE = """
import builtins, ctypes, fcntl, json, os, random, sys, tempfile, uuid, warnings

def test_leave():
    builtins.left = json.left = True
    sys.modules["left"] = json
    sys.path.append("/left")
    os.environ["LEFT"] = "1"
    random.seed(7)
    warnings.simplefilter("error")
    for folder in ("/tmp", "/dev/shm", "/workspace"):
        with open(folder + "/left", "w") as file:
            file.write("left")
    assert ctypes.CDLL(None).shmget(0x5EED, 4096, 0o1666) >= 0
    for name in os.listdir("/proc/self/fd"):
        try:
            if "memfd" in os.readlink("/proc/self/fd/" + name):
                fcntl.flock(int(name), fcntl.LOCK_EX)
                os.lseek(int(name), 77, 0)
                os.pwrite(int(name), b"left", 0)
        except OSError:
            pass
    print("<%r %s>" % (random.SystemRandom().random(), os.getpid()))
"""
FIND = """
import ctypes, fcntl, json, os, random, sys, tempfile, uuid
DRAWN = [random.random(), next(tempfile._get_candidate_names()), str(uuid.uuid4())]

def test_find():
    assert not hasattr(__builtins__, "left") and "left" not in __builtins__
    assert not hasattr(json, "left") and "left" not in sys.modules and "/left" not in sys.path
    assert "LEFT" not in os.environ
    found = [os.path.join(folder, name) for folder in ("/tmp", "/dev/shm", "/workspace") for name in os.listdir(folder)]
    assert not [path for path in found if "left" in path], found
    assert ctypes.CDLL(None).shmget(0x5EED, 4096, 0o666) < 0
    for name in os.listdir("/proc/self/fd"):
        path = "/proc/self/fd/" + name
        if os.path.lexists(path) and "memfd" in os.readlink(path):
            assert os.lseek(int(name), 0, 1) != 77 and os.pread(int(name), 4, 0) != b"left"
            fcntl.flock(int(name), fcntl.LOCK_EX | fcntl.LOCK_NB)
    print("<%s>" % json.dumps(DRAWN))
"""


@pytest.mark.parametrize("score", [False, True], ids=["an agent's run", "a verdict's run"])
def test_nothing_of_an_episode_reaches_another(sandbox_backend: Backend, score: bool) -> None:
    numbers: list[str] = []
    with Sandbox(sandbox_backend, SPEC), Sandbox(sandbox_backend, SPEC):
        pass  # berths have a Python that is ready for tests from their second sandboxes on
    with Sandbox(sandbox_backend, SPEC) as earlier, Sandbox(sandbox_backend, SPEC) as leaving:
        play(leaving, LEAVE, score)
        leaving.run("touch /tmp/left /dev/shm/left; ipcmk -M 4096", 20)
        with Sandbox(sandbox_backend, SPEC) as later:
            for sandbox in (earlier, later, later):
                printed = play(sandbox, FIND, score)
                numbers += json.loads(printed[printed.index("<") + 1 : printed.index(">")])
    with Sandbox(sandbox_backend, SPEC) as last:
        printed = play(last, FIND, score)
        numbers += json.loads(printed[printed.index("<") + 1 : printed.index(">")])
    assert len(set(map(str, numbers))) == 12


STATE = """
import builtins, gc, json, locale, os, random, resource, signal, sys, threading, warnings

def test_state():
    fds = {int(name): os.readlink("/proc/self/fd/" + name) for name in os.listdir("/proc/self/fd")
           if os.path.lexists("/proc/self/fd/" + name)}
    fds = sorted(target.split("[")[0].split("#")[0] for number, target in fds.items())
    with open("/proc/self/status") as file:
        status = [line for line in file if line.startswith(("Cap", "Sig", "NoNew", "Seccomp", "Uid", "Gid", "Umask"))]
    limits = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    with open("/proc/self/environ") as file:
        given = file.read()
    print("<" + json.dumps({
        "modules": sorted(sys.modules), "path": sys.path[:1] + sys.path[2:], "flags": str(sys.flags), "argv": sys.argv,
        "environment": dict(os.environ), "given": given, "finders": [str(type(each)) for each in sys.meta_path],
        "hooks": len(sys.path_hooks), "signals": [str(signal.getsignal(each)) for each in range(1, 32)],
        "mask": len(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
        "threads": [each.name for each in threading.enumerate()], "gc": [gc.get_threshold(), gc.isenabled()],
        "cwd": os.getcwd(), "nice": os.nice(0),
        "limits": [resource.getrlimit(getattr(resource, each)) for each in limits],
        "fds": fds, "filters": list(map(str, warnings.filters)), "locale": locale.setlocale(locale.LC_ALL),
        "recursion": sys.getrecursionlimit(), "hash": hash("a"), "main": sorted(vars(sys.modules["__main__"])),
        "builtins": sorted(vars(builtins)), "leader": [os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid()],
        "encodings": [sys.stdin.encoding, sys.stdout.encoding], "python": [sys.executable, sys.prefix],
        "status": status, "trace": str(sys.gettrace()), "excepthook": str(sys.excepthook),
    }) + ">")
"""
MORE = {"_ctypes", "ctypes", "ctypes._endian"}
"""Modules that a process that was started has not imported, beside the guest's own. Code that does not import them
itself sees nothing of them."""


def state(sandbox: Sandbox) -> dict[str, Any]:
    printed = play(sandbox, STATE, score=True)
    state: dict[str, Any] = json.loads(printed[printed.index("<") + 1 : printed.rindex(">")])
    return state


def test_a_verdicts_process_is_as_clean_as_one_that_was_started(
    sandbox_backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Sandbox(sandbox_backend, SPEC):
        pass  # a berth has a Python that is ready for tests from its second sandbox on
    with Sandbox(sandbox_backend, SPEC) as sandbox:
        forked = state(sandbox)
    monkeypatch.setattr(Factory, "fork", refuse)
    monkeypatch.setattr(Berth, "start", refuse)
    with Sandbox(type(sandbox_backend)(), SPEC) as sandbox:
        started = state(sandbox)
    modules = set(forked.pop("modules")), set(started.pop("modules"))
    assert {name for name in modules[0] - modules[1] if not name.startswith("guest.")} <= MORE
    assert not modules[1] - modules[0]
    assert forked == started


def refuse(*_: object) -> ForkedProcess:
    raise CannotFork("PermissionError: as where user namespaces are not allowed")


def test_where_nothing_can_be_forked_sandboxes_are_started(
    sandbox_backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = type(sandbox_backend)()
    monkeypatch.setattr(Factory, "fork", refuse)
    monkeypatch.setattr(Berth, "start", refuse)
    for _ in range(4):
        with Sandbox(backend, SPEC) as sandbox:
            assert play(sandbox, "def test_it(): print('ran')", score=True).startswith("ran")


@pytest.mark.parametrize(
    ("root", "limits"), [("/nowhere", {}), (ROOT, {"odd": 1})], ids=["the first process fails", "its Python fails"]
)
def test_what_cannot_be_forked_says_why_and_leaves_nothing(
    bubblewrap: BubblewrapBackend, root: str, limits: dict[str, int]
) -> None:
    with Sandbox(bubblewrap, SPEC) as sandbox:
        (factory,) = bubblewrap.factories.all()
        wait_for(lambda: len(makers(factory, but=sandbox)) == MAKERS, "the end of what made the sandbox")
        room = {"root": root, "disk": 1 << 20, "read_only": (), "hidden": (), "files": 0, "seal": False}
        with Path(os.devnull).open("wb") as errors, pytest.raises(CannotFork, match="odd" if limits else root):
            factory.fork({"room": room, "limits": limits}, errors.fileno())
        wait_for(lambda: len(makers(factory, but=sandbox)) == MAKERS, "its end")
        with Sandbox(bubblewrap, SPEC) as second:
            assert second.run("echo well", 20).output == "well\n"


MAKERS = 3
"""The processes of a factory: bwrap itself, the one that forks guests, and the one that forks Pythons."""


def makers(factory: Factory, but: Sandbox) -> list[psutil.Process]:
    """The processes of a factory, with those that it has just forked and that have not ended yet."""
    excluded = {pid_of(but), *(process.pid for process in psutil.Process(pid_of(but)).children(recursive=True))}
    outer = psutil.Process(factory.pid)
    first = outer.children()[0]
    makers = [process for process in first.children(recursive=True) if process.pid not in excluded]
    return [outer, *makers]


@pytest.mark.parametrize(
    ("index", "end"),
    [
        pytest.param(0, signal.SIGKILL, marks=pytest.mark.exhaustive),
        (1, signal.SIGKILL),
        pytest.param(2, signal.SIGKILL, marks=pytest.mark.exhaustive),
        (1, signal.SIGSTOP),
    ],
    ids=["bwrap is killed", "the factory is killed", "its Python is killed", "the factory is stopped"],
)
def test_a_factory_that_dies_is_replaced_and_costs_nobody_anything(
    monkeypatch: pytest.MonkeyPatch, index: int, end: signal.Signals
) -> None:
    usable("bubblewrap")
    backend = BubblewrapBackend()
    if end == signal.SIGSTOP:
        monkeypatch.setattr(factory_module, "_PATIENCE_S", 5.0)
    with Sandbox(backend, SPEC) as earlier:
        (factory,) = backend.factories.all()
        processes = makers(factory, but=earlier)
        assert len(processes) == MAKERS
        processes[index].send_signal(end)
        if end == signal.SIGKILL:
            wait_for(lambda: not runs(processes[index]), "its end")
        with Sandbox(backend, SPEC) as later:
            for sandbox in (earlier, later):
                assert play(sandbox, "def test_it(): print('ran')", score=False).startswith("ran")
        (replacement,) = backend.factories.all()
        assert (replacement is factory) == (index == 0), "bwrap itself only waits"
    for process in processes:
        if runs(process):
            process.send_signal(signal.SIGCONT)
    replacement.close()
    for process in processes:
        wait_for(lambda process=process: not runs(process), "the end of what is left of it")  # type: ignore[misc]


def test_a_factory_and_its_processes_end_with_its_owner(bubblewrap: BubblewrapBackend) -> None:
    backend = BubblewrapBackend()
    with Sandbox(backend, SPEC) as sandbox:
        (factory,) = backend.factories.all()
        processes = makers(factory, but=sandbox)
        for process in processes:
            assert _group(process.pid).endswith("/factories")
        assert _group(pid_of(sandbox)) not in map(_group, [process.pid for process in processes])
    factory.close()
    for process in processes:
        wait_for(lambda process=process: not runs(process), "its end")  # type: ignore[misc]


def _group(pid: int) -> str:
    """The group that limits the memory of a process."""
    lines = [line.split(":", 2) for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines()]
    return next(path for _, controllers, path in lines if "memory" in controllers.split(",") or not controllers)


def test_the_first_processes_of_a_sandbox_hold_nothing_of_the_factorys(bubblewrap: BubblewrapBackend) -> None:
    with Sandbox(bubblewrap, SPEC) as first, Sandbox(bubblewrap, SPEC) as second:
        held: list[set[str]] = []
        for sandbox in (first, second):
            guest = psutil.Process(pid_of(sandbox))
            (python,) = guest.children()
            for pid in (guest.pid, python.pid):
                folder = Path(f"/proc/{pid}/fd")
                held.append({str(fd.readlink()) for fd in folder.iterdir()})
        private = [{fd for fd in fds if fd.startswith(("socket", "pipe"))} for fds in held]
        assert [len(fds) for fds in private] == [4, 1, 4, 1]  # three pipes to the host, and the socket between the two
        assert not (private[0] | private[1]) & (private[2] | private[3])
        kinds = {fd.split("[")[0].split("#")[0].split(" ")[0] for fds in held for fd in fds}
        own = {"socket:", "pipe:", "/memfd:guest", "/proc/1/oom_score_adj"}
        assert kinds <= {*own, "/dev/null", f"{_temporary()}/", f"{_temporary()}"}, kinds


def _temporary() -> str:
    return os.environ.get("TMPDIR", "/tmp").rstrip("/")
