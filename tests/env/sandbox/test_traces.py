"""What a program in one sandbox can leave behind for a program in a later one."""

from __future__ import annotations

import json
import re
import secrets
import time

import pytest

from stackrank.env.sandbox.base import Backend, SandboxSpec
from stackrank.env.sandbox.bubblewrap.backend import BubblewrapBackend
from stackrank.env.sandbox.bubblewrap.memory import Memory
from stackrank.env.sandbox.client import Changes, Sandbox
from stackrank.env.sandbox.docker import berths, holders
from stackrank.env.sandbox.docker.backend import DockerBackend
from stackrank.env.sandbox.docker.engine import client
from stackrank.env.scoring.verdict import score
from tests.env.scoring.proofs import with_fix
from tests.fixtures.env import source, usable
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow

SPEC = SandboxSpec()
BITS = 64

# The largest files that every sandbox sees. Nobody has mapped all of their pages.
FILES = """
    import ctypes, json, mmap, os, resource, stat, sys

    PAGE = 4096
    BITS = 64
    SKIP = 16  # the first pages of a program are in use as long as it runs anywhere

    def files():
        sizes = {}
        for folder, folders, names in os.walk("/"):
            own = ("/proc", "/sys", "/dev", "/tmp", "/workspace")
            folders[:] = [name for name in folders if os.path.join(folder, name) not in own]
            for name in names:
                path = os.path.join(folder, name)
                try:
                    status = os.lstat(path)
                    if stat.S_ISREG(status.st_mode) and os.access(path, os.R_OK):
                        sizes.setdefault((status.st_dev, status.st_ino), (status.st_size, path))
                except OSError:
                    pass
        return [path for size, path in sorted(sizes.values(), reverse=True)[:6] if size > (BITS + SKIP) * PAGE]
"""
SEND = (
    FILES
    + """
    bits = json.loads(sys.argv[1])
    for path in files():
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        for number, bit in enumerate(bits):
            if bit:
                os.pread(fd, PAGE, (SKIP + number) * PAGE)
            else:
                os.posix_fadvise(fd, (SKIP + number) * PAGE, PAGE, os.POSIX_FADV_DONTNEED)
"""
)
RECEIVE = (
    FILES
    + """
    def present(fd, number):  # without reading it
        try:
            return int(os.preadv(fd, [bytearray(PAGE)], (SKIP + number) * PAGE, os.RWF_NOWAIT) > 0)
        except OSError:
            return 0

    def faults(view, number):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_majflt
        view[(SKIP + number) * PAGE]
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_majflt == before)

    readings = {}
    for path in files():
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
        readings["present " + path] = [present(fd, number) for number in range(BITS)]
        view = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
        view.madvise(mmap.MADV_RANDOM)
        readings["faults " + path] = [faults(view, number) for number in range(BITS)]
    print(json.dumps(readings))
"""
)


def execute(backend: Backend, code: str, argument: str = "") -> str:
    """What a program prints in a sandbox of its own."""
    with Sandbox(backend, SPEC) as sandbox:
        sandbox.put({"program.py": source(code)})
        result = sandbox.run(f"python program.py '{argument}'", 60)
        assert result.exit == 0, result.output
        return result.output


def sent_and_received(backend: Backend) -> tuple[list[int], dict[str, list[int]]]:
    bits = [secrets.randbelow(2) for _ in range(BITS)]
    execute(backend, SEND, json.dumps(bits))
    return bits, json.loads(execute(backend, RECEIVE))


def test_which_pages_are_in_memory_says_nothing(sandbox_backend: Backend) -> None:
    for _ in range(2):
        _, received = sent_and_received(sandbox_backend)
        assert len(received) > 4
        # Where a file system does not say whether it would have to wait, every answer is no.
        assert all(sum(reading) in (0, BITS) for reading in received.values())


@pytest.fixture
def on_disk() -> BubblewrapBackend:
    """A backend whose sandboxes see the files of the disk, as where nothing can be kept in memory."""
    usable("bubblewrap")
    backend = BubblewrapBackend()
    backend.memory = Memory(places=())
    return backend


def test_files_on_disk_pass_a_message(on_disk: BubblewrapBackend) -> None:
    bits, received = sent_and_received(on_disk)
    assert bits in received.values()


def test_no_verdict_is_sealed_where_files_may_pass_a_message(on_disk: BubblewrapBackend, own_home: None) -> None:
    task = with_fix("from cart import total\n\n\ndef test_it():\n    assert total([5]) == 5\n")
    right = Changes(files={"cart.py": task.files["cart.py"].replace(b" - 1", b"")})
    good = score(task, right, lambda spec: Sandbox(on_disk, spec))
    assert good.resolved and not good.sealed
    assert "/dev/shm" in good.unsealed and "later" in good.unsealed


def test_an_image_that_is_too_large_is_not_kept_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    usable("docker")
    monkeypatch.setattr(holders, "MOST_MB", 10)
    with Sandbox(DockerBackend(), SPEC) as sandbox:
        assert re.search(r"its files have \d+ MB, and at most 10 MB are kept", sandbox.shared)


def test_a_holder_that_ended_is_replaced() -> None:
    usable("docker")
    backend = DockerBackend()
    with Sandbox(backend, SPEC) as sandbox:
        assert sandbox.shared == ""
    (first,) = (held.channel for held in backend._holders._held.values())
    assert first is not None
    client().api.remove_container(first.name, force=True)
    wait_for(first.hung_up, "the end of the holder")
    with Sandbox(backend, SPEC) as sandbox:
        assert sandbox.shared == ""
    (second,) = (held.channel for held in backend._holders._held.values())
    assert second is not None and second is not first and not second.hung_up()


TIMES = """
    import json, os, sys

    times = {}
    for folder, folders, names in os.walk("/"):
        own = ("/proc", "/sys", "/dev/pts", "/dev/shm", "/tmp", "/workspace")
        folders[:] = [name for name in folders if os.path.join(folder, name) not in own]
        for name in (*folders, *names):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            times[path] = [status.st_ctime_ns, status.st_atime_ns, status.st_mtime_ns]
            if sys.argv[1] == "change":
                for values in (None, (10**9, 2 * 10**9)):
                    try:
                        os.utime(path, values)
                    except OSError:
                        pass
                try:
                    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
                    if os.path.isfile(path):
                        open(path, "rb").read(1)
                except OSError:
                    pass
    with open("times.json", "w") as file:
        json.dump(times, file)
"""


def test_the_times_of_what_sandboxes_share_stay_as_they_are(sandbox_backend: Backend) -> None:
    def times(action: str) -> dict[str, list[int]]:
        with Sandbox(sandbox_backend, SPEC) as sandbox:
            sandbox.put({"program.py": source(TIMES)})
            assert sandbox.run(f"python program.py {action}", 60).exit == 0
            result: dict[str, list[int]] = json.loads(sandbox.read("times.json"))
            return result

    times("read")  # what is shared is made when it is first needed
    started_ns = time.time_ns() - 2 * 10**9
    before, _, after = times("read"), times("change"), times("read")
    shared = {path for path in before if before[path][0] < started_ns}
    assert len(shared) > 1000 and "/dev/null" in before
    assert [path for path in shared if before[path][1:] != after[path][1:]] == []


@pytest.mark.parametrize("kind", ["bubblewrap", "docker", "a container each"])
def test_what_the_machine_counted_is_not_seen(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = usable("bubblewrap" if kind == "bubblewrap" else "docker")
    if kind == "a container each":
        monkeypatch.setattr(berths, "_REFUSALS", 0)
    with Sandbox(backend, SPEC) as sandbox:
        assert sandbox.run("find /sys /proc/fs /proc/sys/fs/quota -type f 2>/dev/null", 60).output == ""
        assert sandbox.run("cat /proc/vmstat /proc/sys/fs/dentry-state", 60).output == ""
        assert sandbox.run("python -c 'import os; print(os.cpu_count() > 0)'", 60).output == "True\n"


def test_everything_that_a_bubblewrap_sandbox_sees_lies_in_memory() -> None:
    with Sandbox(usable("bubblewrap"), SPEC) as sandbox:
        rows = [
            line.split(" - ")[1].split() for line in sandbox.run("cat /proc/self/mountinfo", 60).output.splitlines()
        ]
    assert {row[0] for row in rows} <= {"tmpfs", "devtmpfs", "devpts", "proc"}
