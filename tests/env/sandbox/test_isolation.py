"""What a program in a sandbox cannot do, whatever it tries."""

from __future__ import annotations

import contextlib
import os
import random
import re
from collections.abc import Iterator

import psutil
import pytest

from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import Backend, Refused, SandboxSpec
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.task import Limits
from tests.fixtures.env import EVERYTHING, Episode, make_task, source, usable

pytestmark = pytest.mark.slow

TIGHT = SandboxSpec(limits=Limits(timeout_s=60, memory_mb=200, pids=64, disk_mb=48, cpus=0.5))


@pytest.fixture
def tight(sandbox_backend: Backend) -> Iterator[Sandbox]:
    with Sandbox(sandbox_backend, TIGHT) as sandbox:
        sandbox.put({"keep.py": b"x = 1\n"})
        yield sandbox


@pytest.fixture
def neighbour(sandbox_backend: Backend) -> Iterator[Sandbox]:
    """Another episode's sandbox, that goes on as if nothing happened."""
    with Sandbox(sandbox_backend, TIGHT) as sandbox:
        sandbox.put({})
        yield sandbox
        assert sandbox.run("echo well", 60).output == "well\n"


def python(sandbox: Sandbox, code: str, timeout_s: float = 60) -> str:
    sandbox.put({"keep.py": b"x = 1\n", "probe.py": source(code)})
    return sandbox.run("python probe.py", timeout_s).output


def processes(sandbox: Sandbox) -> set[str]:
    """What runs in a sandbox beside the shell that looks: the guest, and the Python it keeps for runs of tests.

    A fork bomb may end that Python too; the guest starts another when a run of tests needs it.
    """
    return set(sandbox.run("for p in /proc/[0-9]*; do [ $p = /proc/$$ ] || echo $p; done", 60).output.split())


def test_fork_bomb(tight: Sandbox, neighbour: Sandbox) -> None:
    baseline = processes(tight)
    # `sleep` comes first: when the bomb is on, the shell itself may be the one that cannot fork, and ends.
    assert tight.run("sleep 9999 & bomb() { bomb | bomb & }; (bomb) & wait", 2).timed_out
    assert tight.run("echo well", 60).output == "well\n"
    assert processes(tight) <= baseline


@pytest.mark.exhaustive
def test_fork_bomb_in_python_that_ignores_signals(tight: Sandbox, neighbour: Sandbox) -> None:
    code = """
        import os, signal

        for number in range(1, 32):
            try:
                signal.signal(number, signal.SIG_IGN)
            except OSError:
                pass
        while True:
            try:
                if os.fork() == 0:
                    os.setsid()
            except OSError:
                pass
    """
    baseline = processes(tight)
    python(tight, code, 2)
    assert tight.run("echo well", 60).output == "well\n"
    assert processes(tight) <= baseline


def test_number_of_processes_is_limited(tight: Sandbox) -> None:
    code = """
        import os, time

        started = 0
        try:
            while started < 500:
                if os.fork() == 0:
                    time.sleep(30)
                started += 1
        except OSError:
            pass
        print(started)
    """
    assert 40 <= int(python(tight, code)) <= 64


def test_memory_bomb(tight: Sandbox, neighbour: Sandbox) -> None:
    result = python(tight, "data = []\nwhile True:\n    data.append(bytearray(b'x' * (16 << 20)))\n", 8)
    assert result in ("", "Killed\n") or "MemoryError" in result
    assert tight.read("keep.py") == b"x = 1\n"
    assert tight.run("echo well", 60).output == "well\n"


def test_running_out_of_memory_is_said(sandbox_backend: Backend) -> None:
    files: dict[str, bytes | str] = {"tests/test_a.py": "def test():\n    assert bytearray(b'x' * (600 << 20))\n"}
    task = make_task(files, limits=TIGHT.limits)
    with DebugEnv(task, EVERYTHING, lambda spec: Sandbox(sandbox_backend, spec)) as env:
        text = env.reset()[0].text
        assert "used more than 200 MB of memory" in text
        verdict = env.score()
        assert not verdict.resolved and verdict.unfixed


def test_memory_bomb_of_many_processes(tight: Sandbox, neighbour: Sandbox) -> None:
    code = """
        import os

        for _ in range(20):
            if os.fork() == 0:
                data = bytearray(b"x" * (60 << 20))
                import time

                time.sleep(20)
        import time

        time.sleep(3)
    """
    python(tight, code, 4)
    assert tight.run("echo well", 60).output == "well\n"


def test_memory_that_belongs_to_no_process(tight: Sandbox, neighbour: Sandbox) -> None:
    """The program that took it is small, but it is the one that is killed."""
    code = """
        import os

        files = []
        while True:
            files.append(os.memfd_create("file"))
            for _ in range(8):
                os.write(files[-1], bytes(1 << 20))
    """
    assert tight.run("cat /proc/self/oom_score_adj", 60).output == "800\n"
    assert python(tight, code, 30) == "Killed\n"
    assert tight.run("echo well", 60).output == "well\n"


def test_disk_filler(tight: Sandbox, neighbour: Sandbox) -> None:
    for folder in (".", "/tmp"):
        filled = tight.run(f"head -c 500M /dev/zero > {folder}/big; stat -c %s {folder}/big", 60).output
        assert "No space left" in filled
        assert int(filled.split()[-1]) <= 49 << 20
    assert tight.run("echo well; rm big /tmp/big", 60).output == "well\n"


def test_nothing_else_can_be_written(sandbox: Sandbox) -> None:
    for place in ("/", "/usr", "/etc", "/opt", "/bin", "/dev", "/proc/sys", "/sys", "/run", "/dev/shm"):
        result = sandbox.run(f"head -c 300M /dev/zero > {place}/probe-file && stat -c %s {place}/probe-file", 60)
        assert result.exit != 0 and not result.output.strip().isdigit(), place
        size = sandbox.run(f"stat -c %s {place}/probe-file", 60).output
        assert not size.strip().isdigit() or (place == "/dev/shm" and int(size) <= 64 << 20), place


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.exhaustive)])
def test_very_many_files(sandbox_backend: Backend, count: int) -> None:
    with Sandbox(sandbox_backend, SandboxSpec(limits=Limits(timeout_s=120, memory_mb=512))) as sandbox:
        sandbox.put({"a.py": b"x = 1\n"})
        code = f"import os\nos.mkdir('many')\nfor i in range({count}): open('many/%d' % i, 'w').close()\n"
        result = sandbox.run(f'python -c "{code}"', 120)
        assert result.exit == 0 or "space" in result.output
        listed = sandbox.listing(".", 3)
        assert len(listed.entries) == 500 and listed.more > count * 0.9
        with contextlib.suppress(Refused):  # with a sentence, where reading them all takes too long
            sandbox.search("x = 1")
        assert "a.py" not in sandbox.changes().files


NETWORK = """
    import errno, socket

    reached = []
    for host, port in (("8.8.8.8", 53), ("172.17.0.1", 22), ("172.17.0.1", 2375), ("169.254.169.254", 80)):
        probe = socket.socket()
        probe.settimeout(1)
        try:
            probe.connect((host, port))
            reached.append((host, port))
        except OSError as error:
            if error.errno not in (errno.ENETUNREACH, errno.EHOSTUNREACH):
                reached.append((host, port, str(error)))
        udp = socket.socket(type=socket.SOCK_DGRAM)
        try:
            udp.sendto(b"x", (host, port))
            reached.append((host, port, "udp"))
        except OSError:
            pass
    try:
        reached.append(socket.getaddrinfo("localhost.localdomain.example.com", 80))
    except OSError:
        pass
    for family in (17, 38, 40):  # packet, alg, vsock
        try:
            reached.append(socket.socket(family, socket.SOCK_STREAM))
        except OSError:
            pass
    for path in ("/var/run/docker.sock", "/run/docker.sock", "\\0/containerd-shim", "/run/containerd/containerd.sock"):
        try:
            engine = socket.socket(socket.AF_UNIX)
            engine.connect(path)
            reached.append(path)
        except OSError:
            pass
    local = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(local.getsockname()).close()
    print("reached", reached, open("/proc/net/dev").read().count(":"))
"""


def test_no_network_but_its_own_loopback(sandbox: Sandbox) -> None:
    assert python(sandbox, NETWORK, 15).strip() == "reached [] 1"


SYSTEM_CALLS = """
    import ctypes, os, platform
    from fcntl import fcntl, ioctl

    libc = ctypes.CDLL(None, use_errno=True)
    numbers = {
        "x86_64": dict(unshare=272, mount=165, ptrace=101, keyctl=250, bpf=321, perf=298, userfaultfd=323, setns=308,
                       uring=425, chroot=161, clone=56, vm_readv=310),
        "aarch64": dict(unshare=97, mount=40, ptrace=117, keyctl=219, bpf=280, perf=241, userfaultfd=282, setns=268,
                        uring=425, chroot=51, clone=220, vm_readv=270),
    }[platform.machine()]
    allowed = []
    for name, number in numbers.items():
        ctypes.set_errno(0)
        arguments = (0x10000000 | 17, 0, 0, 0, 0) if name in ("unshare", "clone") else (0, 0, 0, 0, 0)
        if libc.syscall(number, *arguments) == 0 and name == "clone":
            os._exit(0)
        if ctypes.get_errno() != 1:
            allowed.append((name, os.strerror(ctypes.get_errno())))
    for name, call in dict(
        hint=lambda: fcntl(0, 1036, bytes(8)), old_hint=lambda: fcntl(0, 1038, bytes(8)),
        typed=lambda: ioctl(0, 0x5412, b"x"),  # TIOCSTI
    ).items():
        try:
            call()
            allowed.append(name)
        except OSError as error:
            if error.errno != 1:
                allowed.append((name, str(error)))
    print("allowed", allowed)
    status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
    print(status["CapEff"], status["CapBnd"], status["NoNewPrivs"], status["Seccomp"], os.getuid(), os.getgroups())
    import resource

    print(resource.getrlimit(resource.RLIMIT_CORE), resource.getrlimit(resource.RLIMIT_NOFILE))
    for path in ("/proc/1/mem", "/proc/1/environ", "/proc/1/fd/100", "/proc/kcore", "/proc/sysrq-trigger", "/dev/mem"):
        try:
            open(path, "rb").close()
            print("opened", path)
        except OSError:
            pass
"""


def test_system_calls_capabilities_and_limits(sandbox: Sandbox) -> None:
    lines = python(sandbox, SYSTEM_CALLS).splitlines()
    assert lines[0] == "allowed []"
    assert lines[1].startswith("0000000000000000 0000000000000000 1 2 1000 ")
    assert lines[2] == "(0, 0) (1024, 1024)"
    assert lines[3:] == []


WRITABLE = """
import os, stat

for top in ("/proc", "/sys"):
    for folder, folders, files in os.walk(top):
        if folder == "/proc":
            folders[:] = [name for name in folders if not name.isdigit() and name not in ("self", "thread-self")]
        for path in (os.path.join(folder, name) for name in files):
            try:
                if not stat.S_ISREG(os.lstat(path).st_mode):
                    continue
                os.close(os.open(path, os.O_WRONLY))
                print(path)
            except OSError:
                pass
"""


def test_nothing_of_the_machine_can_be_written(sandbox: Sandbox) -> None:
    """The kernel guards these by the host's uid, which has to be nobody's in particular."""
    assert python(sandbox, WRITABLE) == ""


def test_code_never_has_the_uid_of_the_hosts_root(sandbox: Sandbox) -> None:
    lines = sandbox.run("cat /proc/self/uid_map", 60).output.splitlines()
    inside_to_host = {int(first): int(host) for first, host, _ in map(str.split, lines)}
    # A container may have the host's own ids; then the uid inside is the one outside.
    host = inside_to_host.get(1000, 1000)
    assert host != 0 or os.geteuid() != 0
    output = sandbox.run("python -c 'import os; os.setuid(0)'", 60).output
    assert "Operation not permitted" in output or "Invalid argument" in output  # or there is no such user


@pytest.mark.parametrize(
    "command",
    [
        "kill -9 -1",
        "kill -9 1; kill -TERM 1; kill -STOP 1; kill -INT 1",
        "kill -9 $PPID",
        "python -c 'import os; os.kill(-1, 9)'",
        "python -c 'import os, signal; [os.kill(1, n) for n in range(1, 32)]'",
        "exec 0<&- 1>&- 2>&-; kill -9 0",
    ],
)
def test_the_guest_cannot_be_killed(sandbox: Sandbox, command: str) -> None:
    sandbox.prepare()
    sandbox.run(command, 3)
    assert sandbox.run("echo well", 60).output == "well\n"


ENDLESS = {
    "plain": "while true; do :; done",
    "ignores SIGTERM and SIGINT": "trap '' TERM INT HUP; while true; do sleep 1; done",
    "background": "(while true; do sleep 1; done) & (sleep 9999 &) ; sleep 9999",
    "nohup and setsid": (
        "nohup sleep 9999 >/dev/null & setsid sleep 9999 & setsid nohup sh -c 'sleep 9999 & sleep 9999' & sleep 9999"
    ),
    "daemon": "python -c 'import os, time; os.fork() or os.setsid() or os.fork() or time.sleep(9999)'; sleep 9999",
    # Slow enough to stay below the limit of processes if a busy machine grants it eight times its time.
    "forks without end": "while true; do sleep 9999 & sleep 0.1; done",
    "closes its output": "exec >&- 2>&-; while true; do sleep 1; done",
}


@pytest.mark.parametrize("way", ENDLESS)
def test_the_whole_tree_ends_with_its_time(sandbox: Sandbox, way: str) -> None:
    baseline = processes(sandbox)
    assert sandbox.run(ENDLESS[way], 1).timed_out
    assert processes(sandbox) <= baseline


def test_what_is_left_in_the_background_ends_with_the_command(sandbox: Sandbox) -> None:
    baseline = processes(sandbox)
    result = sandbox.run("setsid sleep 9999 & nohup sleep 9999 >/dev/null 2>&1 & echo done", 9999)
    assert (result.output, result.timed_out) == ("done\n", False)
    assert processes(sandbox) == baseline


def test_floods_of_output(sandbox: Sandbox) -> None:
    """50 MB, a line of 10 MB, bytes that are no text: the host holds none of it."""
    process = psutil.Process(os.getpid())
    sandbox.run("true", 60)
    baseline = process.memory_info().rss
    result = sandbox.run("head -c 50000000 /dev/urandom; echo; echo last", 60)
    assert result.output.endswith("last\n") and result.dropped > 49_000_000
    line = sandbox.run("head -c 10000000 /dev/zero | tr '\\0' a; printf '\\377\\376\\000\\033[31mred\\n'", 60)
    assert "\ufffd\ufffd\ufffd\x1b[31mred" in line.output
    assert process.memory_info().rss - baseline < 20 << 20
    assert sandbox.run("echo well", 60).output == "well\n"


def test_no_package_but_those_of_python_and_of_the_environment_is_seen() -> None:
    """A program of the machine may bring a task's own project, without the fault."""
    with Sandbox(usable("bubblewrap"), SandboxSpec()) as sandbox:
        packages = sandbox.run("find / -name __init__.py -not -path '/proc/*' 2>/dev/null", 60).output.splitlines()
    allowed = re.compile(r"/lib(64)?/python3[^/]*/|/usr/share/(gdb|gcc)/")
    assert packages and [package for package in packages if not allowed.search(package)] == []


def test_what_an_agent_left_running_has_ended_before_the_tests_of_its_verdict_run(sandbox_backend: Backend) -> None:
    """The program in one of these runs could ask it about another."""
    mark = f"{random.SystemRandom().randrange(10**6, 10**7)}.25"

    def runs() -> bool:
        return any(mark in (process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))

    states: list[bool] = []

    def new(spec: SandboxSpec) -> Sandbox:
        states.append(runs())
        return Sandbox(sandbox_backend, spec)

    with DebugEnv(make_task({"a.py": "x = 1\n"}), EVERYTHING, new) as env:
        env.reset()
        play = Episode(env)
        play("terminal", text=f"setsid sleep {mark} &")
        play("pdb", command=f"!import subprocess; subprocess.Popen(['sleep', '{mark}'])")
        assert runs()
        states.clear()
        env.score()
    assert states and not any(states)
