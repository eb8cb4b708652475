"""Filters of system calls: one for everything that runs in a sandbox, the guest included, and one against debuggers.

Docker's own profile allows some of these calls if a container engine needs them; bubblewrap has no filter at all. The
first filter refuses calls that make namespaces, mounts, modules or key rings or that look into other processes, and
sockets that no network namespace holds back (such as those between a virtual machine and its host).

A debugger of C programs needs ptrace, so the programs in the terminal may call it; all others come under a second
filter that refuses it. The guest is safe from ptrace, because it is not dumpable.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
import sys
from typing import Callable, Dict, List, Set, Tuple

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_FILTER = 2

# include/uapi/linux/bpf_common.h, seccomp.h, audit.h
_LOAD, _JUMP_EQ, _JUMP_GE, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCHITECTURE, _ARGUMENT_0, _ARGUMENT_1 = 0, 4, 16, 24
_X32 = 0x40000000
_NEW_NAMESPACES = 0x7E020080
"""CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET and TIME, as clone takes them in its flags."""
_COMMANDS = (("ioctl", 0x5412), ("fcntl", 1036), ("fcntl", 1038))
"""TIOCSTI writes into a terminal; F_SET_RW_HINT and F_SET_FILE_RW_HINT leave a number at a file that others read."""
_FAMILIES = (1, 2, 10, 16)  # unix, inet, inet6, netlink

# Calls that act on any process of the same user, the guest included, and which of their arguments names the process.
# 0, the caller itself, is allowed.
_ON_ITSELF = {
    "x86_64": {"setpriority": (141, 1), "sched_setparam": (142, 0), "sched_setscheduler": (144, 0),
               "sched_setaffinity": (203, 0), "ioprio_set": (251, 1), "prlimit64": (302, 0), "sched_setattr": (314, 0)},
    "aarch64": {"ioprio_set": (30, 1), "sched_setparam": (118, 0), "sched_setscheduler": (119, 0),
                "sched_setaffinity": (122, 0), "setpriority": (140, 1), "prlimit64": (261, 0),
                "sched_setattr": (274, 0)},
}  # fmt: skip

# The same numbers on every architecture since Linux 5.1.
_COMMON = {
    "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428, "move_mount": 429,
    "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_getfd": 438, "process_madvise": 440,
    "mount_setattr": 442, "quotactl_fd": 443, "memfd_secret": 447,
}  # fmt: skip
_CLONE3 = 435
_X86_64 = {
    "syslog": 103, "uselib": 134, "personality": 135, "ustat": 136, "sysfs": 139, "vhangup": 153,
    "pivot_root": 155, "_sysctl": 156, "adjtimex": 159, "chroot": 161, "acct": 163, "settimeofday": 164, "mount": 165,
    "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169, "iopl": 172, "ioperm": 173, "create_module": 174,
    "init_module": 175, "delete_module": 176, "quotactl": 179, "lookup_dcookie": 212, "clock_settime": 227,
    "kexec_load": 246, "add_key": 248, "request_key": 249, "keyctl": 250, "migrate_pages": 256, "unshare": 272,
    "move_pages": 279, "perf_event_open": 298, "fanotify_init": 300, "name_to_handle_at": 303,
    "open_by_handle_at": 304, "clock_adjtime": 305, "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311,
    "kcmp": 312, "finit_module": 313, "kexec_file_load": 320, "bpf": 321, "userfaultfd": 323,
}  # fmt: skip
_AARCH64 = {
    "lookup_dcookie": 18, "umount2": 39, "mount": 40, "pivot_root": 41, "chroot": 51, "quotactl": 60, "acct": 89,
    "personality": 92, "unshare": 97, "kexec_load": 104, "init_module": 105, "delete_module": 106,
    "clock_settime": 112, "syslog": 116, "reboot": 142, "settimeofday": 170, "adjtimex": 171,
    "add_key": 217, "request_key": 218, "keyctl": 219, "swapon": 224, "swapoff": 225, "migrate_pages": 238,
    "move_pages": 239, "perf_event_open": 241, "fanotify_init": 262, "name_to_handle_at": 264,
    "open_by_handle_at": 265, "clock_adjtime": 266, "setns": 268, "process_vm_readv": 270, "process_vm_writev": 271,
    "kcmp": 272, "finit_module": 273, "bpf": 280, "userfaultfd": 282, "kexec_file_load": 294,
}  # fmt: skip

_PTRACE = {"x86_64": 101, "aarch64": 117}

# machine -> audit architecture, refused calls, and the numbers of calls that are refused with some arguments
_MACHINES: Dict[str, Tuple[int, Dict[str, int], Dict[str, int]]] = {
    "x86_64": (0xC000003E, _X86_64, {"clone": 56, "ioctl": 16, "fcntl": 72, "socket": 41}),
    "aarch64": (0xC00000B7, _AARCH64, {"clone": 220, "ioctl": 29, "fcntl": 25, "socket": 198}),
}


def program(machine: str) -> bytes:
    """The filter as classic BPF. Raises KeyError for a machine that it is not written for."""
    architecture, refused, numbers = _MACHINES[machine]
    code: List[Tuple[int, int, int, int]] = []

    def add(operation: int, value: int, if_true: int = 0, if_false: int = 0) -> None:
        code.append((operation, if_true, if_false, value))

    def answer(number: int) -> None:
        add(_RETURN, _ERRNO | number)

    add(_LOAD, _ARCHITECTURE)
    add(_JUMP_EQ, architecture, 1, 0)
    add(_RETURN, _KILL)  # another architecture's calls have other numbers
    add(_LOAD, _NUMBER)
    if machine == "x86_64":
        add(_JUMP_GE, _X32, 0, 1)
        answer(errno.ENOSYS)
    # The flags of clone3 lie in memory, where a filter cannot look; the C library then uses clone.
    add(_JUMP_EQ, _CLONE3, 0, 1)
    answer(errno.ENOSYS)
    for number in sorted({*refused.values(), *_COMMON.values()}):
        add(_JUMP_EQ, number, 0, 1)
        answer(errno.EPERM)
    for number, argument in _ON_ITSELF[machine].values():
        add(_JUMP_EQ, number, 0, 4)
        add(_LOAD, _ARGUMENT_0 + 8 * argument)
        add(_JUMP_EQ, 0, 1, 0)
        answer(errno.EPERM)
        add(_RETURN, _ALLOW)
    add(_JUMP_EQ, numbers["clone"], 0, 4)
    add(_LOAD, _ARGUMENT_0)
    add(_JUMP_SET, _NEW_NAMESPACES, 0, 1)
    answer(errno.EPERM)
    add(_RETURN, _ALLOW)
    for call, command in _COMMANDS:
        add(_JUMP_EQ, numbers[call], 0, 4)
        add(_LOAD, _ARGUMENT_1)
        add(_JUMP_EQ, command, 0, 1)
        answer(errno.EPERM)
        add(_LOAD, _NUMBER)
    add(_JUMP_EQ, numbers["socket"], 0, len(_FAMILIES) + 3)
    add(_LOAD, _ARGUMENT_0)
    for position, family in enumerate(_FAMILIES):
        add(_JUMP_EQ, family, len(_FAMILIES) - position, 0)
    answer(errno.EAFNOSUPPORT)
    add(_RETURN, _ALLOW)
    add(_RETURN, _ALLOW)
    return b"".join(struct.pack("HBBI", *line) for line in code)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def _installer(code: bytes) -> Callable[[], bool]:
    """Return a function that puts the calling process and all that it will start under a filter, and says if it worked.

    Everything is prepared beforehand, so that a child can call the function between fork and exec.
    """
    buffer = ctypes.create_string_buffer(code, len(code))
    loaded = _Program(len(code) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong, ctypes.c_ulong)

    def install(buffer: object = buffer) -> bool:  # the default keeps the code in memory
        return not prctl(_PR_SET_SECCOMP, _FILTER, ctypes.addressof(loaded), 0, 0)

    prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    return install


def is_known() -> bool:
    """Return whether there is a filter for this machine."""
    return os.uname().machine in _MACHINES and sys.maxsize > 1 << 32


def refused() -> Set[str]:
    """Return the names of the calls that the filter refuses, on whatever machine."""
    return {*_COMMON, *_X86_64, *_AARCH64}


def confine() -> bool:
    """Put this process and all that it will start under the filter. False if the kernel or machine has none."""
    return is_known() and _installer(program(os.uname().machine))()


def no_tracing() -> Callable[[], bool]:
    """Return a function that denies ptrace to the calling process and all that it will start. Call `confine` first."""
    number = _PTRACE[os.uname().machine]
    refuse, allow = (_RETURN, 0, 0, _ERRNO | errno.EPERM), (_RETURN, 0, 0, _ALLOW)
    code = ((_LOAD, 0, 0, _NUMBER), (_JUMP_EQ, 0, 1, number), refuse, allow)
    return _installer(b"".join(struct.pack("HBBI", *line) for line in code))
