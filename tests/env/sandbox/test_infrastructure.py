"""Sandboxes that die, hang or are left behind: typed errors at once, and nothing stays."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from stackrank import home
from stackrank.env.sandbox import registry
from stackrank.env.sandbox.base import Backend, SandboxError, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.docker import berths
from stackrank.env.sandbox.docker import channel as docker_channel
from stackrank.env.sandbox.docker import engine as docker_module
from stackrank.env.sandbox.docker.backend import OWNER_LABEL, DockerBackend
from stackrank.env.sandbox.docker.berths import BerthChannel
from stackrank.env.sandbox.process import OWNER_VARIABLE, ProcessChannel, starter
from stackrank.env.task import Limits
from stackrank.home import is_dead, process_mark
from tests.fixtures.env import Play, cart
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow

SPEC = SandboxSpec(limits=Limits(timeout_s=30, memory_mb=256))
ROOT = Path(__file__).parents[3]


def processes_of(name: str) -> list[psutil.Process]:
    """A bubblewrap sandbox's processes, from its name."""
    process = psutil.Process(int(name.rpartition("-")[2]))
    return [process, *process.children(recursive=True)]


def kill(sandbox: Sandbox) -> None:
    if sandbox.backend == "docker":
        docker_module.client().api.kill(sandbox.name)
    else:
        for process in processes_of(sandbox.name):
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()


def pause(sandbox: Sandbox) -> None:
    if sandbox.backend == "docker":
        docker_module.client().api.pause(sandbox.name)
    else:
        for process in processes_of(sandbox.name):
            process.send_signal(signal.SIGSTOP)


def hang_up(sandbox: Sandbox) -> None:
    """What a restart of the engine looks like from here."""
    channel = sandbox._channel
    if isinstance(channel, BerthChannel):
        channel.berth.carrier._socket.shutdown(2)
    else:
        kill(sandbox)


def left(backend: Backend, mark: str) -> list[str]:
    """Sandboxes of an owner that exist."""
    if isinstance(backend, DockerBackend):
        containers = docker_module.client().api.containers(all=True, filters={"label": f"{OWNER_LABEL}={mark}"})
        return [container["Names"][0].strip("/") for container in containers]
    names = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(OWNER_VARIABLE) == mark and process.status() != psutil.STATUS_ZOMBIE:
                names.append(str(process.pid))
    return names


@pytest.mark.parametrize("end", [kill, pause, hang_up])
@pytest.mark.parametrize("busy", [False, True])
def test_sandbox_that_ends_is_an_error_at_once(
    sandbox_backend: Backend, end: Callable[[Sandbox], None], busy: bool
) -> None:
    with Sandbox(sandbox_backend, SPEC) as sandbox:
        sandbox.put({})
        if busy:
            threading.Timer(0.5, end, (sandbox,)).start()
        else:
            end(sandbox)
        with pytest.raises(SandboxError):  # and not when the command's time is over, which nobody lives to see
            sandbox.run("sleep 9999" if busy else "echo", 9999)
        name = sandbox.name
    if isinstance(sandbox_backend, DockerBackend):
        client = docker_module.client().api
        wait_for(lambda: not client.containers(all=True, filters={"name": name}), "its removal", every_s=0.1)


@pytest.mark.parametrize("stuck", [False, True])
def test_a_container_is_killed_where_it_does_not_end_by_itself(
    sandbox_backend: Backend, stuck: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(sandbox_backend, DockerBackend):
        return
    monkeypatch.setattr(docker_channel, "_PATIENCE_S", 1 if stuck else 60)
    monkeypatch.setattr(berths, "_KEPT", 0)
    api = docker_module.client().api
    began = int(time.time())
    with Sandbox(sandbox_backend, SPEC) as sandbox:
        if stuck:
            pause(sandbox)
    wait_for(lambda: not api.containers(all=True, filters={"name": sandbox.name}), "its removal", every_s=0.1)
    events = api.events(since=began, until=int(time.time()) + 1, filters={"container": sandbox.name}, decode=True)
    assert ("kill" in {event["Action"] for event in events}) is stuck


def test_an_episode_whose_sandbox_dies_goes_on_in_another_at_the_same_place(play: Play) -> None:
    step = play(cart())
    line = step.pdb("b total\nc").state["line"]
    kill(step.env.sandbox)
    assert step.pdb("p 1 + 1").state["line"] == line
    kill(step.env.sandbox)
    assert not step.env.score().resolved
    step.env.close()
    observation, _ = step.env.reset()
    assert observation.state["tests"]["failed"] == 2


def test_limits_are_told_apart_from_failures(sandbox: Sandbox) -> None:
    assert sandbox.run("sleep 20", 0.5).timed_out
    sandbox.ping()


WORKER = """
import sys, time
from concurrent.futures import ThreadPoolExecutor
from stackrank.env.sandbox.base import SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.registry import backend
from stackrank.env.task import Limits
from stackrank.home import process_mark

def start(index):
    sandbox = Sandbox(backend(sys.argv[1]), SandboxSpec(limits=Limits(memory_mb=128)))
    sandbox.put({})
    return sandbox

with ThreadPoolExecutor(4) as threads:
    kept = list(threads.map(start, range(8)))
print(process_mark(), flush=True)
if len(sys.argv) > 2:
    # What the death of a process does to a channel does not happen when somebody else still holds it.
    import os
    if os.fork() == 0:
        time.sleep(60)
kept[0].run("sleep 100", 100)
"""


@pytest.fixture
def bystander(sandbox_backend: Backend) -> Iterator[Sandbox]:
    """A sandbox of a living owner: of this process."""
    with Sandbox(sandbox_backend, SPEC) as sandbox:
        sandbox.put({})
        yield sandbox
        sandbox.ping()


@pytest.mark.parametrize("held", [False, True], ids=["hung up", "held open"])
def test_killed_worker_leaves_nothing(sandbox_backend: Backend, bystander: Sandbox, held: bool) -> None:
    arguments = [sys.executable, "-c", WORKER, sandbox_backend.name, *(["held"] if held else [])]
    worker = subprocess.Popen(arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert worker.stdout is not None
        mark = worker.stdout.readline().strip()
        assert len(left(sandbox_backend, mark)) >= 8
        assert not is_dead(mark)
        assert not [name for name in registry.reap() if name in left(sandbox_backend, mark)], "it is alive"
        worker.kill()
        worker.wait()
        assert is_dead(mark)
        if held:
            assert registry.reap()
        wait_for(lambda: not left(sandbox_backend, mark), "the end of all", every_s=0.1)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(worker.pid, signal.SIGKILL)


def test_reaper_leaves_others_alone() -> None:
    assert not is_dead(process_mark())
    host, boot, namespace, pid, birth = process_mark().split(":")
    assert is_dead(f"{host}:{boot}:{namespace}:{pid}:{int(birth) - 1}"), "the pid is somebody else's now"
    assert is_dead(f"{host}:{boot}:{namespace}:4194300:1")
    for unknown in (f"another-{host}:{boot}:{namespace}", f"{host}:another:{namespace}", f"{host}:{boot}:1"):
        assert not is_dead(f"{unknown}:4194300:1"), "nobody here can tell"
    for garbage in (
        "",
        "x",
        "::::",
        f"{host}:{boot}:{namespace}:x:1",
        f"{host}:{boot}:{namespace}:-1:1",
        f"{host}:1:2.50",
    ):
        assert not is_dead(garbage)
    assert not is_dead(f"{host}:{boot}:{namespace}:1:{Path('/proc/1/stat').read_text().rpartition(')')[2].split()[19]}")


def test_a_clock_that_is_set_ends_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start times that are worked out from the clock move with it by hours."""
    mark = process_mark()
    real = time.time
    for step in (3600, -3600):
        monkeypatch.setattr(time, "time", lambda step=step: real() + step)
        monkeypatch.setattr(psutil, "boot_time", lambda step=step: 1e9 + step)
        home._mark.cache_clear()
        assert process_mark() == mark and not is_dead(mark)


def test_a_zombie_is_dead() -> None:
    code = "import time; from stackrank.home import process_mark; print(process_mark(), flush=True); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    with child:
        assert child.stdout is not None
        mark = child.stdout.readline().strip()
        assert not is_dead(mark)
        child.kill()
        wait_for(lambda: is_dead(mark), "the end that nobody has asked about", every_s=0.05)
        child.wait()
        assert is_dead(mark)


def test_what_an_earlier_boot_left_is_removed_where_the_engine_is_this_machine(sandbox_backend: Backend) -> None:
    if not isinstance(sandbox_backend, DockerBackend):
        return
    assert socket.gethostname() == docker_module.client().info()["Name"], "the engine of the tests is here"
    host, _, namespace, pid, birth = process_mark().split(":")
    with Sandbox(sandbox_backend, SPEC) as living:
        living.put({})
        labels = {OWNER_LABEL: f"{host}:{'0' * 16}:{namespace}:{pid}:{birth}"}
        image = docker_module.client().api.inspect_container(living.name)["Image"]
        container = docker_module.client().api.create_container(image, command=["true"], labels=labels)
        name = docker_module.client().api.inspect_container(container["Id"])["Name"].lstrip("/")
        removed = registry.reap()
        assert name in removed and living.name not in removed
        living.ping()


@pytest.mark.parametrize("berth", [True, False])
def test_hardening_is_what_the_engine_sees(
    sandbox_backend: Backend, berth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not isinstance(sandbox_backend, DockerBackend):
        return
    if not berth:
        monkeypatch.setattr(berths, "_REFUSALS", 0)
    with Sandbox(sandbox_backend, SandboxSpec(limits=Limits(memory_mb=256, disk_mb=64, pids=99, cpus=0.5))) as sandbox:
        container = docker_module.client().api.inspect_container(sandbox.name)
    host = container["HostConfig"]
    assert host["Memory"] == host["MemorySwap"] == (384 + 64 * berth) << 20
    assert (host["PidsLimit"], host["NanoCpus"], host["NetworkMode"]) == (99 + 3 * berth, 500_000_000, "none")
    assert (host["ReadonlyRootfs"], host["CapDrop"], host["Privileged"]) == (True, ["ALL"], False)
    assert "no-new-privileges" in host["SecurityOpt"] and host["Binds"] is None
    assert bool(host["MaskedPaths"]) is bool(host["ReadonlyPaths"]) is not berth
    assert container["Config"]["Labels"][OWNER_LABEL] == process_mark()
    assert container["Config"]["User"] == "1000:1000" and host["LogConfig"]["Type"] == "none"


def test_a_guest_that_floods_its_standard_error_fills_no_disk() -> None:
    start = starter(["/bin/sh", "-c", "while :; do echo broken >&2; done"], {"PATH": os.environ["PATH"]})
    channel = ProcessChannel(start, "flood", root="/", guest_limits={}, shared="")
    try:
        with pytest.raises(SandboxError, match="does not answer"):
            channel.receive(1, time.monotonic() + 0.5)
        assert str(Path(f"/proc/{channel._child.pid}/fd/2").readlink()).startswith("pipe:")
    finally:
        channel.close()
    assert channel.join(10)


def test_the_last_words_of_a_guest_are_in_the_error() -> None:
    start = starter(["/bin/sh", "-c", "echo broken >&2; exit 3"], {"PATH": os.environ["PATH"]})
    channel = ProcessChannel(start, "broken", root="/", guest_limits={}, shared="")
    with pytest.raises(SandboxError, match="ended with status 3: broken"):
        channel.receive(1, time.monotonic() + 10)
    channel.close()
    assert channel.join(10)
