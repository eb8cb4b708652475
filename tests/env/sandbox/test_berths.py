"""Containers in which sandboxes are played one after another."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from stackrank.env.sandbox.base import SandboxClosed, SandboxError, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.docker import berths as berths_module
from stackrank.env.sandbox.docker import host_config
from stackrank.env.sandbox.docker.backend import DockerBackend
from stackrank.env.sandbox.docker.berths import BerthChannel
from stackrank.env.sandbox.docker.engine import client
from stackrank.env.task import Limits
from tests.fixtures.env import source, usable
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow

SPEC = SandboxSpec(limits=Limits(timeout_s=30, memory_mb=256, disk_mb=16, pids=64), warm=False)


@pytest.fixture
def docker() -> Iterator[DockerBackend]:
    """A backend with berths of its own."""
    usable("docker")
    backend = DockerBackend()
    yield backend
    for berth in backend._berths._idle:
        berth.carrier.close()


LEAVE = """
    import ctypes, os, subprocess, sys

    for folder in ("/tmp", "/dev/shm", "/workspace", "/dev/mqueue", "/sys/fs/cgroup"):
        try:
            open(folder + "/left", "w").close()
        except OSError:
            pass
    libc = ctypes.CDLL(None)
    assert libc.shmget(0x5EED, 4096, 0o1666) >= 0 and libc.msgget(0x5EED, 0o1666) >= 0
    for name in os.listdir("/dev"):
        try:
            os.utime("/dev/" + name, (7, 7))
        except OSError:
            pass
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
"""
FIND = """
    import ctypes, os, socket

    for folder in ("/tmp", "/dev/shm", "/workspace", "/dev/mqueue"):
        assert "left" not in os.listdir(folder), folder
    libc = ctypes.CDLL(None)
    assert libc.shmget(0x5EED, 4096, 0o666) < 0 and libc.msgget(0x5EED, 0o666) < 0
    assert not [name for name in os.listdir("/dev") if os.lstat("/dev/" + name).st_mtime == 7]
    assert not os.listdir("/sys"), "its counters would go on"
    names = [open("/proc/%s/cmdline" % name).read() for name in os.listdir("/proc") if name.isdigit()]
    assert not [name for name in names if "sleep" in name], names
    print("clean", max(int(name) for name in os.listdir("/proc") if name.isdigit()))
"""


def test_nothing_stays_in_a_berth(docker: DockerBackend) -> None:
    def said(code: str) -> tuple[str, str]:
        with Sandbox(docker, SPEC) as sandbox:
            assert isinstance(sandbox._channel, BerthChannel)
            sandbox.put({"program.py": source(code)})
            result = sandbox.run("python program.py", 30)
            assert result.exit == 0, result.output
            return sandbox.name, result.output

    said(FIND)  # from its second sandbox on, a berth has another process, which each sandbox gets a fork of
    first, left, last = said(FIND), said(LEAVE), said(FIND)
    assert first == last and first[0] == left[0], "the numbers of processes begin anew as well"
    assert first[1].startswith("clean")


def test_the_processor_time_is_told_while_a_program_runs(docker: DockerBackend) -> None:
    busy = "import time\nwhile time.process_time() < 2:\n    pass\nprint('over')\n"
    with Sandbox(docker, SPEC) as sandbox, ThreadPoolExecutor() as threads:
        sandbox.put({"program.py": busy.encode()})
        running = threads.submit(sandbox.run, "python program.py", 30)
        wait_for(lambda: sandbox.used_s() > 0.5, "half of its time")
        assert running.result().output == "over\n"
        assert sandbox.used_s() >= 2


FILL = """
    import ctypes, mmap, os, socket

    libc = ctypes.CDLL(None)
    libc.shmat.restype, libc.shmat.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p, ctypes.c_int)
    for key in range(1, 21):  # memory that belongs to no process
        ctypes.memset(libc.shmat(libc.shmget(key, 8 << 20, 0o1600), None, 0), 1, 8 << 20)
    one, other = socket.socketpair()
    for _ in range(10):  # and files that only a message holds, which holds itself
        file = os.memfd_create("left")
        os.write(file, bytes(8 << 20))
        socket.send_fds(one, [b"x"], [file, other.fileno()])
    socket.send_fds(other, [b"x"], [one.fileno()])
"""


def test_the_memory_of_a_sandbox_is_free_when_it_has_ended(docker: DockerBackend) -> None:
    def used_mb() -> int:
        return int(client().api.stats(sandbox.name, stream=False, one_shot=True)["memory_stats"]["usage"]) >> 20

    for _ in range(2):
        with Sandbox(docker, SPEC) as sandbox:
            sandbox.put({"program.py": source(FILL)})
            assert sandbox.run("python program.py && echo well", 30).output == "well\n"
            assert used_mb() > 150
        sandbox.end()
        # A kernel that takes too long for it makes the berth end.
        assert not docker._berths._idle or used_mb() < 100


def test_what_a_sandbox_held_is_not_in_the_memory_of_the_next_one(docker: DockerBackend) -> None:
    """What passes through a berth is not what sandboxes are forked from."""
    if os.geteuid() != 0:
        pytest.skip("only root can look into the memory of a container")
    secret = secrets.token_hex(16).encode()

    def holding() -> list[bool]:
        rows = client().api.top(sandbox.name, ps_args="-eo pid")["Processes"]
        return [secret in _memory(int(row[0])) for row in rows]

    with Sandbox(docker, SPEC) as sandbox:
        sandbox.put({f"{number}.txt": secret * number for number in range(1, 50)})
        assert sandbox.run("cat *.txt", 30).output.startswith(secret.decode())
        assert any(holding())
    with Sandbox(docker, SPEC) as sandbox:
        sandbox.put({})
        assert sum(holding()) <= 1, "the one that passes bytes"


def _memory(pid: int) -> bytes:
    parts = []
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            start, end = (int(text, 16) for text in line.split()[0].split("-"))
            with contextlib.suppress(OSError, OverflowError):
                memory.seek(start)
                parts.append(memory.read(end - start))
    return b"".join(parts)


def test_the_time_is_that_of_the_sandbox_alone(docker: DockerBackend) -> None:
    with Sandbox(docker, SPEC) as busy:
        busy.put({})
        busy.run("python -c 'import time\nwhile time.process_time() < 1.5: pass'", 30)
        assert busy.used_s() > 1.5
    with Sandbox(docker, SPEC) as idle:
        assert idle.name == busy.name and 0 < idle.used_s() < 1


def test_sandboxes_at_the_same_time_have_berths_of_their_own(docker: DockerBackend) -> None:
    with Sandbox(docker, SPEC) as first, Sandbox(docker, SPEC) as second:
        names = {first.name, second.name}
        assert len(names) == 2
    other = SandboxSpec(limits=Limits(timeout_s=30, memory_mb=128, disk_mb=16), warm=False)
    with Sandbox(docker, other) as third, Sandbox(docker, SPEC) as fourth:
        assert third.name not in names and fourth.name in names


def test_a_sandbox_that_is_closed_while_it_is_used_leaves_its_berth_usable(docker: DockerBackend) -> None:
    sandbox = Sandbox(docker, SPEC)
    sandbox.put({})
    threading.Timer(0.5, sandbox.close).start()
    with pytest.raises(SandboxClosed):
        sandbox.run("yes; sleep 1000", 1000)
    sandbox.end()
    with pytest.raises(SandboxError):
        sandbox._channel.receive(1, time.monotonic() + 1)
    assert sandbox._channel.used_s() == 0
    with Sandbox(docker, SPEC) as later:
        assert later.name == sandbox.name
        later.put({"big": b"x" * 5_000_000})
        assert len(later.read("big")) == 5_000_000


def test_a_berth_that_was_removed_is_replaced(docker: DockerBackend) -> None:
    with Sandbox(docker, SPEC) as first:
        name = first.name
    (berth,) = docker._berths._idle
    client().api.remove_container(name, force=True)
    wait_for(berth.carrier.hung_up, "its end")
    with Sandbox(docker, SPEC) as second:
        assert isinstance(second._channel, BerthChannel) and second.name != name


def test_what_cannot_be_forked_gets_a_container_of_its_own(
    docker: DockerBackend, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(berths_module, "room", lambda spec: host_config.room(spec) | {"root": "/nowhere"})
    for _ in range(4):
        with Sandbox(docker, SPEC) as sandbox:
            assert not isinstance(sandbox._channel, BerthChannel)
            sandbox.put({})
            assert sandbox.run("echo well", 20).output == "well\n"
    assert [("/nowhere" in record.getMessage()) for record in caplog.records] == [True] * 3, "then it is not tried"


def test_few_berths_wait(docker: DockerBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(berths_module, "_KEPT", 1)
    with Sandbox(docker, SPEC) as first, Sandbox(docker, SPEC):
        pass
    (berth,) = docker._berths._idle
    assert berth.carrier.name == first.name


def test_no_berth_waits_for_long(docker: DockerBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(berths_module, "_IDLE_S", 1.0)

    def is_removed(sandbox: Sandbox) -> bool:
        return not client().api.containers(all=True, filters={"name": sandbox.name})

    with Sandbox(docker, SPEC) as used:
        used.put({})
        with Sandbox(docker, SPEC) as idle:
            assert isinstance(idle._channel, BerthChannel) and isinstance(used._channel, BerthChannel)
        wait_for(lambda: is_removed(idle), "the end of the berth that waits")
        assert used.run("echo well", 30).output == "well\n", "the one in use stays"
    wait_for(lambda: is_removed(used), "the end of the berth that was used later")
    assert docker._berths._idle == []
