"""What the control group of a container counts. Format: cgroup-v1/memory.rst and cgroup-v2.rst of Linux."""

from __future__ import annotations

import contextlib
from typing import Dict

_FOLDER = "/sys/fs/cgroup"


def used_s() -> float:
    """Return the processor seconds that were used; 0 if the control group cannot be seen."""
    with contextlib.suppress(OSError):
        return int(_read("/cpuacct/cpuacct.usage")) / 1e9
    with contextlib.suppress(OSError):
        return _numbers(_own() + "/cpu.stat")["usage_usec"] / 1e6
    return 0.0


def held_bytes() -> int:
    """Return the memory that the kernel cannot take back: all but pages of files; 0 if it cannot be seen."""
    with contextlib.suppress(OSError):
        numbers = _numbers("/memory/memory.stat")
        return int(_read("/memory/memory.usage_in_bytes")) - numbers["cache"] + numbers["shmem"]
    with contextlib.suppress(OSError):
        numbers = _numbers(_own() + "/memory.stat")
        reclaimable = numbers["file"] - numbers["shmem"] + numbers["slab_reclaimable"]
        return int(_read(_own() + "/memory.current")) - reclaimable
    return 0


def _own() -> str:
    with open("/proc/self/cgroup") as file:
        return [line.split(":", 2)[2].strip() for line in file][-1]  # the last line is version 2's


def _read(path: str) -> str:
    with open(_FOLDER + path) as file:
        return file.read()


def _numbers(path: str) -> Dict[str, int]:
    return {name: int(number) for name, number in map(str.split, _read(path).splitlines())}
