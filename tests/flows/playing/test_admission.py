"""How many episodes a machine takes, over all processes: who waits, and what the dead leave."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest

from stackrank.env.task import Limits
from stackrank.errors import NotReady
from stackrank.flows.runs.playing import admission as host
from stackrank.flows.runs.playing.admission import _ledger, reserve_room
from stackrank.home import process_mark
from tests.flows.engine.test_resume import ROOT
from tests.support.waiting import missing, wait_for

LIMITS = Limits(memory_mb=100)
NEEDED_MB = host.SANDBOXES * LIMITS.memory_mb


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STACKRANK_HOME", str(tmp_path))
    monkeypatch.setattr(host, "_WAIT_S", 0.02)
    return tmp_path


def held() -> int:
    with _ledger() as entries:
        return len(entries)


class Waiting:
    """An episode in a thread, which waits for room, and leaves it when it is told to."""

    def __init__(self) -> None:
        self.inside, self.leave, self.stopped = threading.Event(), threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._play, daemon=True)
        self.thread.start()

    def _play(self) -> None:
        with reserve_room(LIMITS, self.stopped.is_set):
            self.inside.set()
            self.leave.wait(600)

    def end(self) -> None:
        self.leave.set()
        self.thread.join(600)
        assert not self.thread.is_alive()


@contextmanager
def another_process() -> Iterator[subprocess.Popen[str]]:
    """A process that has room for an episode, until it is killed."""
    code = (
        "import time\nfrom stackrank.env.task import Limits\n"
        "from stackrank.flows.runs.playing.admission import reserve_room\n"
        "with reserve_room(Limits(memory_mb=100), lambda: False):\n"
        "    print('inside', flush=True)\n    time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "inside\n"
        yield process
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    "limit", [("STACKRANK_HOST_WORKERS", "2"), ("STACKRANK_HOST_MEMORY_MB", str(2 * NEEDED_MB + 1))]
)
def test_an_episode_waits_while_the_machine_is_full(limit: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(*limit)
    first, second = Waiting(), Waiting()
    assert first.inside.wait(600) and second.inside.wait(600)
    third = Waiting()
    assert not third.inside.wait(0.2)
    first.end()
    assert third.inside.wait(600)
    second.end()
    third.end()
    assert held() == 0


def test_one_episode_may_always_be_played(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even where the machine has less memory than its sandboxes may take."""
    monkeypatch.setenv("STACKRANK_HOST_MEMORY_MB", "1")
    with reserve_room(LIMITS, lambda: False):
        assert held() == 1


def test_a_waiting_episode_ends_when_the_run_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_HOST_WORKERS", "1")
    with reserve_room(LIMITS, lambda: False):
        late = Waiting()
        assert not late.inside.wait(0.1)
        late.stopped.set()
        assert late.inside.wait(600)
        late.end()
        assert held() == 1, "what it never had it does not give back"


def test_an_episode_that_fails_makes_room() -> None:
    with pytest.raises(ZeroDivisionError), reserve_room(LIMITS, lambda: False):
        raise ZeroDivisionError
    assert held() == 0


def test_a_killed_process_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could not say so; who needs its place finds out."""
    monkeypatch.setenv("STACKRANK_HOST_WORKERS", "1")
    with another_process() as process:
        late = Waiting()
        assert not late.inside.wait(0.2), "the limit holds for all processes of a home"
        process.kill()
        process.wait()
        assert late.inside.wait(600)
        late.end()
    assert held() == 0


def test_a_process_id_that_is_used_again_is_not_the_dead_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_HOST_WORKERS", "1")
    process, _, birth = process_mark().rpartition(":")
    with _ledger() as entries:
        entries["dead"] = (f"{process}:{int(birth) - 1}", NEEDED_MB)
    with reserve_room(LIMITS, lambda: False):
        assert held() == 1


def test_entries_of_before_a_reboot_hold_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STACKRANK_HOST_WORKERS", "1")
    host, _, suffix = process_mark().split(":", 2)
    with _ledger() as entries:
        entries["dead"] = (f"{host}:{'0' * 16}:{suffix}", NEEDED_MB)
    with reserve_room(LIMITS, lambda: False):
        assert held() == 1


def test_many_processes_lose_no_entry(home: Path) -> None:
    code = (
        "from stackrank.env.task import Limits\n"
        "from stackrank.flows.runs.playing.admission import reserve_room\n"
        "for _ in range(50):\n    with reserve_room(Limits(memory_mb=100), lambda: False): pass\n"
    )
    with reserve_room(LIMITS, lambda: False):
        processes = [subprocess.Popen([sys.executable, "-c", code], cwd=ROOT) for _ in range(2)]
        assert [process.wait(600) for process in processes] == [0, 0]
        assert held() == 1, "neither lost nor left over"


def test_a_process_killed_while_writing_leaves_a_complete_ledger(home: Path) -> None:
    """Killed between the two steps of a write: the old ledger holds, and nobody waits for its lock."""
    code = (
        "import os\nfrom pathlib import Path\nfrom stackrank.env.task import Limits\n"
        "from stackrank.flows.runs.playing.admission import reserve_room\n"
        "Path.replace = lambda *_: os.kill(os.getpid(), 9)\n"
        "with reserve_room(Limits(memory_mb=100), lambda: False): pass\n"
    )
    with reserve_room(LIMITS, lambda: False):
        assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == -9
        assert held() == 1


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"a": 1}'])
def test_a_damaged_ledger_blocks_no_episode(home: Path, damage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine lost its power, or somebody has an editor."""
    messages: list[str] = []
    monkeypatch.setattr("stackrank.log.warning", lambda message, **_: messages.append(message))
    (home / "host.json").write_text(damage)
    with reserve_room(LIMITS, lambda: False):
        assert held() == 1
    assert held() == 0
    assert len(messages) == 1 and "damaged" in messages[0]


@contextmanager
def keeps_the_ledger() -> Iterator[subprocess.Popen[str]]:
    """A process that is stuck where it holds the ledger."""
    code = (
        "import time\nfrom stackrank.flows.runs.playing.admission import _ledger\n"
        "with _ledger():\n    print('inside', flush=True)\n    time.sleep(600)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None and process.stdout.readline() == "inside\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_stuck_process_that_locks_the_ledger_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_PATIENCE_S", 0.1)
    with keeps_the_ledger() as process:
        pattern = rf"Process {process.pid} has held the lock .*host\.lock for 0\.1 s.*end it"
        with pytest.raises(NotReady, match=pattern), reserve_room(LIMITS, lambda: False):
            raise AssertionError("nobody gets in")
        process.kill()
        process.wait()
        with reserve_room(LIMITS, lambda: False):
            assert held() == 1


def test_a_played_episode_counts_although_the_ledger_is_locked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host, "_PATIENCE_S", 0.1)
    messages: list[str] = []
    monkeypatch.setattr("stackrank.log.warning", lambda message, error: messages.append(error))
    with ExitStack() as ended_later, reserve_room(LIMITS, lambda: False):
        process = ended_later.enter_context(keeps_the_ledger())
    assert len(messages) == 1 and f"Process {process.pid}" in messages[0]


@pytest.fixture
def small_disk(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home on a file system of its own that is soon full."""
    disk = home / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        missing("a file system of the test's own needs root and mount")
    monkeypatch.setenv("STACKRANK_HOME", str(disk))
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_an_episode_waits_while_the_disk_is_full(small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    ballast = small_disk / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
    waiting = Waiting()
    wait_for(lambda: "cannot be written" in caplog.text, lambda: caplog.text)
    assert waiting.thread.is_alive() and not waiting.inside.is_set()
    ballast.unlink()
    assert waiting.inside.wait(600)
    assert held() == 1
    waiting.end()
    assert held() == 0
