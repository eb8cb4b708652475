"""What limits of a sandbox rest on, without one: control groups, and time that does not count while others run."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from stackrank.env.sandbox.bubblewrap import cgroups
from stackrank.env.sandbox.guest.core.allowance import PATIENCE, Allowance
from stackrank.env.task import Limits
from stackrank.home import process_mark


def test_control_groups_of_version_2(tmp_path: Path) -> None:
    """What is written where; that it holds is tested in sandboxes, by whichever version this machine has."""
    (tmp_path / "cgroup.controllers").write_text("memory pids cpu")
    (tmp_path / "cgroup.subtree_control").write_text("")
    parent = tmp_path / "stackrank"
    parent.mkdir()
    (parent / "cgroup.subtree_control").write_text("")
    assert cgroups.make_cgroup(Limits(), tmp_path) is None, "no controller files: the limits would not hold"
    assert [path.name for path in parent.iterdir()] == ["cgroup.subtree_control"]
    assert (parent / "cgroup.subtree_control").read_text() == "+memory +pids +cpu"


@pytest.mark.parametrize("version", [1, 2])
def test_the_group_of_another_program_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    lines = {1: "9:cpu,cpuacct:/docker/abc\n0::/docker/abc\n", 2: "0::/system.slice/docker-abc.scope\n"}[version]
    place = {1: "cpuacct/docker/abc", 2: "system.slice/docker-abc.scope"}[version]
    read_text = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda path: lines if path == Path("/proc/7/cgroup") else read_text(path))
    assert cgroups.find_cgroup(7, "abc", tmp_path) is None, "it is not mounted here"
    (tmp_path / place).mkdir(parents=True)
    assert cgroups.find_cgroup(7, "abc", tmp_path) == cgroups.Cgroup((tmp_path / place,))
    assert cgroups.find_cgroup(7, "def", tmp_path) is None, "the number is another process's here"
    assert cgroups.find_cgroup(2**31 - 1, "abc", tmp_path) is None


def test_no_control_groups_without_permission(tmp_path: Path) -> None:
    assert cgroups.make_cgroup(Limits(), tmp_path / "none") is None


def test_groups_of_dead_owners_are_removed(tmp_path: Path) -> None:
    mark = process_mark().replace(":", ",")
    dead, alive = f"{mark.rpartition(',')[0]},1,0", f"{mark},0"
    for controller in ("memory", "pids", "cpu", "cpuacct"):
        for name in (dead, alive):
            (tmp_path / controller / "stackrank" / name).mkdir(parents=True)
    cgroups.reap(tmp_path)
    assert [path.name for path in (tmp_path / "memory" / "stackrank").iterdir()] == [alive]


def note(proc: Path, pid: int, waited_s: int, ran_s: int) -> None:
    """Write what the kernel says about a process."""
    folder = proc / str(pid)
    folder.mkdir(exist_ok=True)
    (folder / "schedstat").write_text(f"{ran_s}000000000 {waited_s}000000000 12\n")
    ticks = ran_s * os.sysconf("SC_CLK_TCK")
    (folder / "stat").write_text(f"{pid} (a ) b) R {'0 ' * 10}{ticks} 0 0 0 20\n")


class Clock:
    """The time, as the tests want it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


@pytest.mark.parametrize(("ran_s", "message"), [((1, 0), 5.0), ((6, 0), 0.0), ((1, 5), 0.0)])
def test_waiting_for_others_is_told_from_waiting_for_oneself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ran_s: tuple[int, int], message: float
) -> None:
    monkeypatch.setattr(resource, "getrusage", lambda _: SimpleNamespace(ru_utime=0.0, ru_stime=0.0))
    note(tmp_path, 6, 100, 50)
    clock = Clock(monkeypatch)
    limit = Allowance(3, lambda: [6, 7, 8, 9], str(tmp_path))
    clock.now += 1
    assert limit.left() > 0 and limit.waited_s() == 0
    for pid, waited, ran in zip((7, 8), (5, 2), ran_s, strict=True):
        note(tmp_path, pid, waited, ran)
    assert limit.waited_s() == message, "process 6 waited and ran before"


def test_a_limit_makes_up_for_waiting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrusage", lambda _: SimpleNamespace(ru_utime=0.0, ru_stime=0.0))
    clock = Clock(monkeypatch)
    limit = Allowance(10, lambda: [7], str(tmp_path))
    clock.now += 30
    assert limit.left() == pytest.approx(9.9), "who asks so late had to wait himself"
    note(tmp_path, 7, 4, 1)
    clock.now += 9.9
    assert limit.left() == pytest.approx(4) and limit.waited_s() == 0, "it waited 4 of the 10 seconds"
    clock.now += 4
    assert limit.left() <= 0, "and no longer"
    note(tmp_path, 7, 4000, 1)
    assert limit.left() == pytest.approx((PATIENCE - 1) * 10 - 4) and limit.waited_s() > 3000, "not for ever"
    clock.now += 100
    assert limit.left() < 0


def test_nobody_looks_at_processes_for_what_is_over_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []
    clock = Clock(monkeypatch)

    def pids() -> list[int]:
        looks.append(clock.now)
        return []

    limit = Allowance(10, pids)
    clock.now += 0.04
    assert limit.left() == pytest.approx(0.06), "then it has to be asked again"
    assert limit.waited_s() == 0 and limit.used_s() == pytest.approx(0.04) and not looks
    clock.now += 0.07
    assert limit.left() == pytest.approx(9.9) and looks == [clock.now]
    clock.now += 5
    assert limit.left() == pytest.approx(4.9) and len(looks) == 1
