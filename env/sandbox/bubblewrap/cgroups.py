"""Memory, process and CPU limits for a process tree by control groups, version 2 or 1, if this user may create them.

Version 2: root creates a group `stackrank` at the top, other users next to their own group if systemd delegates it.
Version 1: there is a group `stackrank` in each of the controllers memory, pids, cpu and cpuacct.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from stackrank.env.task import Limits
from stackrank.home import is_dead, process_mark

MOUNT = Path("/sys/fs/cgroup")
_PARENT = "stackrank"
_CONTROLLERS = ("memory", "pids", "cpu")
_CONTROLLERS_V1 = (*_CONTROLLERS, "cpuacct")
_PERIOD_US = 100_000
_numbers = itertools.count()


@dataclass(frozen=True)
class Cgroup:
    """The control group of one sandbox: one folder in version 2, one for each controller in version 1."""

    folders: tuple[Path, ...]

    def add(self, pid: int) -> None:
        """Move a process and its existing descendants into the group."""
        for folder in self.folders:
            _write(folder / "cgroup.procs", str(pid))
        # Processes that it starts from now on join the group automatically.
        for child in _children(pid):
            self.add(child)

    def expect(self, member: int) -> None:
        """Prepare the kernel, in the background, for an `add` to any group.

        The first move of a process after a pause waits for an RCU grace period (10 ms). This moves `member`, which is
        in this group already, so that `add` need not wait.
        """
        threading.Thread(target=self._move, args=(member,), name="cgroup-expect", daemon=True).start()

    def _move(self, member: int) -> None:
        with contextlib.suppress(OSError):  # the process has ended
            _write(self.folders[0] / "cgroup.procs", str(member))

    def used_s(self) -> float:
        """Return the processor seconds used by all processes that ever ran in the group."""
        with contextlib.suppress(OSError):
            return int((self.folders[-1] / "cpuacct.usage").read_text()) / 1e9
        with contextlib.suppress(OSError):
            lines = (self.folders[-1] / "cpu.stat").read_text().splitlines()
            return int(dict(line.split(maxsplit=1) for line in lines).get("usage_usec", 0)) / 1e6
        return 0.0

    def close(self) -> None:
        """Kill the remaining processes and remove the group."""
        for _ in range(100):
            with contextlib.suppress(OSError):
                for pid in (self.folders[0] / "cgroup.procs").read_text().split():
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
            if all(_remove(folder) for folder in self.folders):
                return
            time.sleep(0.02)


def _children(pid: int) -> list[int]:
    pids: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            pids += map(int, (task / "children").read_text().split())
    return pids


def _remove(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _write(file: Path, text: str) -> None:
    # Never create the file: if the controller file is missing, the limit would not hold.
    fd = os.open(file, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def make_cgroup(limits: Limits, mount: Path = MOUNT) -> Cgroup | None:
    """Create a group with these limits. Returns None if this user cannot create one that enforces them."""
    for parents in _parents(mount):
        name = f"{process_mark().replace(':', ',')},{next(_numbers)}"
        group = Cgroup(tuple(parent / name for parent in parents))
        try:
            for folder in group.folders:
                folder.mkdir()
            if len(parents) == 1:
                _limit_v2(group.folders[0], limits)
            else:
                _limit_v1(group.folders, limits)
        except OSError:
            for folder in group.folders:
                _remove(folder)
            continue
        return group
    return None


def factories_cgroup(mount: Path = MOUNT) -> Cgroup | None:
    """Return the permanent group of the factories, which has no limits; None if this user cannot create one."""
    for parents in _parents(mount):
        group = Cgroup(tuple(parent / "factories" for parent in parents))
        with contextlib.suppress(OSError):
            for folder in group.folders:
                folder.mkdir(exist_ok=True)
            # Another user may have created it.
            if all(os.access(folder / "cgroup.procs", os.W_OK) for folder in group.folders):
                return group
    return None


def find_cgroup(pid: int, name: str, mount: Path = MOUNT) -> Cgroup | None:
    """Return the group that counts the processor time of a local process, if `name` is a part of the group's path.

    If the engine is on another machine or sees other process ids, the name is missing. Format: cgroups(7).
    """
    try:
        lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    except OSError:
        return None
    # If both versions are mounted, version 1 (the line with the controller's name) counts the time.
    for controller, folder in (("cpuacct", mount / "cpuacct"), ("", mount)):
        for line in lines:
            _, controllers, path = line.split(":", 2)
            group = folder / path.lstrip("/")
            if controller in controllers.split(",") and name in path and group.is_dir():
                return Cgroup((group,))
    return None


@functools.cache
def _parents(mount: Path) -> tuple[tuple[Path, ...], ...]:
    """Return the parents to try, each one folder (version 2) or one per controller (version 1); create missing ones."""
    if (mount / "cgroup.controllers").exists():
        tops = [mount]
        with contextlib.suppress(OSError):
            own_path = Path("/proc/self/cgroup").read_text().strip().rpartition("::/")[2]
            tops.append((mount / own_path).parent)
        return tuple((top / _PARENT,) for top in tops if _enable(top))
    # Some controllers are mounted together, under both names.
    mounted = dict.fromkeys((mount / controller).resolve() for controller in _CONTROLLERS_V1)
    places = tuple(controller / _PARENT for controller in mounted)
    try:
        for place in places:
            place.mkdir(exist_ok=True)
    except OSError:
        return ()
    return (places,)


def _enable(top: Path) -> bool:
    """Enable the needed controllers below `top`. Returns whether groups can be created there."""
    controllers = " ".join(f"+{controller}" for controller in _CONTROLLERS)
    try:
        (top / _PARENT).mkdir(exist_ok=True)
        with contextlib.suppress(OSError):  # they may be enabled already, by somebody else
            _write(top / "cgroup.subtree_control", controllers)
        _write(top / _PARENT / "cgroup.subtree_control", controllers)
    except OSError:
        return False
    return True


def _memory(limits: Limits) -> str:
    # As under Docker: the content of a tmpfs counts as memory.
    return str((limits.memory_mb + 2 * limits.disk_mb) << 20)


def _limit_v2(folder: Path, limits: Limits) -> None:
    _write(folder / "memory.max", _memory(limits))
    with contextlib.suppress(OSError):  # a kernel without swap accounting has no such file
        _write(folder / "memory.swap.max", "0")
    _write(folder / "pids.max", str(limits.pids))
    _write(folder / "cpu.max", f"{int(limits.cpus * _PERIOD_US)} {_PERIOD_US}")


def _limit_v1(folders: tuple[Path, ...], limits: Limits) -> None:
    memory, pids, cpu = folders[:3]
    _write(memory / "memory.limit_in_bytes", _memory(limits))
    with contextlib.suppress(OSError):
        _write(memory / "memory.memsw.limit_in_bytes", _memory(limits))
    _write(pids / "pids.max", str(limits.pids))
    _write(cpu / "cpu.cfs_period_us", str(_PERIOD_US))
    _write(cpu / "cpu.cfs_quota_us", str(int(limits.cpus * _PERIOD_US)))


def reap(mount: Path = MOUNT) -> None:
    """Remove groups whose owner process is dead."""
    for parents in _parents(mount):
        for parent in parents:
            with contextlib.suppress(OSError):
                for folder in parent.iterdir():
                    if folder.is_dir() and is_dead(folder.name.rpartition(",")[0].replace(",", ":")):
                        Cgroup((folder,)).close()
