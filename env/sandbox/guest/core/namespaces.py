"""Makes, furnishes and joins the namespaces of a sandbox that is forked and not started, without any privilege.

The process that does this runs where nothing of an episode ever runs (see `guest.factory`): in the mounts of the task's
environment, which are read-only, as the user of everything in a sandbox. In a user namespace of its own it may set up
the other namespaces as bubblewrap does, and it gives up that right before anything else runs there.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import socket
import struct
from typing import Any, Dict, Iterable

_NEW = {"user": 0x10000000, "mnt": 0x20000, "pid": 0x20000000, "net": 0x40000000, "ipc": 0x8000000, "uts": 0x4000000}
_NEW_CGROUP = 0x2000000
_ALL = sum(_NEW.values()) | _NEW_CGROUP
_PIDFD_OPEN, _CLOSE_RANGE, _MOUNT_SETATTR = 434, 436, 442  # on every architecture
_PR_SET_DUMPABLE, _PR_CAPBSET_DROP = 4, 24
_CAPABILITY_VERSION_3 = 0x20080522
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1

# include/uapi/linux/mount.h
_READ_ONLY, _NO_SUID, _NO_DEV, _NO_EXEC, _REMOUNT, _BIND, _RECURSIVE, _SLAVE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 19
_AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_READ_ONLY = -100, 0x8000, 1
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
SHARED_MEMORY = 64 << 20
"""Size of a sandbox's /dev/shm in bytes, the same as Docker's."""

_libc = ctypes.CDLL(None, use_errno=True)


def _do(name: str, *arguments: Any) -> int:
    """Call a function of the C library. Raises OSError."""
    result: int = getattr(_libc, name)(*arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, "%s%r: %s" % (name, arguments, os.strerror(number)))
    return result


def leave() -> None:
    """Put this process into new namespaces of every kind, and the processes that it forks into a new pid namespace."""
    uid, gid = os.getuid(), os.getgid()
    # A process that was root before has no access to its own files in /proc.
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
    _do("unshare", _ALL)
    for name, text in (("setgroups", "deny"), ("uid_map", "%d %d 1" % (uid, uid)), ("gid_map", "%d %d 1" % (gid, gid))):
        with open("/proc/self/" + name, "w") as file:
            file.write(text)


def furnish(room: Dict[str, Any]) -> None:
    """Set up the file systems, loopback and limits of a sandbox, as the first process in it.

    `room`: `root` (the workspace), `disk` (bytes for it, and for /tmp), `files` (the most files in each; 0 if they only
    count as memory), `read_only` and `hidden` (paths), `seal` (whether mounts of outside have to be made read-only).
    """
    _mount("none", "/", "", _RECURSIVE | _SLAVE)
    if room["seal"]:
        _seal()
    _mount("proc", "/proc", "proc", _NO_SUID | _NO_DEV | _NO_EXEC)
    # Must come before /proc/sys is read-only. The filter of system calls refuses new user namespaces too.
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")
    for path in filter(os.path.exists, room["read_only"]):
        _bind(path, path)
    for path in filter(os.path.exists, room["hidden"]):
        if os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", _READ_ONLY | _NO_SUID | _NO_DEV)
        else:
            _bind("/dev/null", path)
    for path, size in ((room["root"], room["disk"]), ("/tmp", room["disk"]), ("/dev/shm", SHARED_MEMORY)):
        _empty(path, size, room["files"])
    # The devices are the machine's: whoever may write to one may set its times, which all later sandboxes see.
    for device in _DEVICES:
        if os.path.ismount(device):
            _mount("none", device, "", _REMOUNT | _BIND | _READ_ONLY | _NO_SUID | _NO_EXEC)
    _mount("devpts", "/dev/pts", "devpts", _NO_SUID | _NO_EXEC, "newinstance,ptmxmode=0666,mode=620")
    _loopback()
    os.chdir(room["root"])


def _mount(source: str, target: str, kind: str, flags: int, options: str = "") -> None:
    text = [argument.encode() or None for argument in (source, target, kind)]
    _do("mount", *text, ctypes.c_ulong(flags), options.encode() or None)


def _seal() -> None:
    """Make everything that was mounted outside read-only here: nothing that is written there can reach another sandbox.

    That includes the times of devices and message queues, whatever an engine mounts in a container.
    """
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_READ_ONLY, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    _do("syscall", _MOUNT_SETATTR, _AT_FDCWD, b"/", _AT_RECURSIVE, attributes, size)


def _empty(path: str, size: int, files: int) -> None:
    """Mount an empty file system, which keeps only the folders of the environment that lie there."""
    below = {name: os.open(os.path.join(path, name), os.O_PATH) for name in os.listdir(path)}
    _mount(
        "tmpfs",
        path,
        "tmpfs",
        _NO_SUID | _NO_DEV,
        "mode=0755,size=%d" % size + (",nr_inodes=%d" % files if files else ""),
    )
    for name, fd in below.items():
        os.mkdir(os.path.join(path, name))
        _mount("/proc/self/fd/%d" % fd, os.path.join(path, name), "", _BIND | _RECURSIVE)
        os.close(fd)


def _bind(source: str, target: str) -> None:
    _mount(source, target, "", _BIND | _RECURSIVE)
    keep = _NO_SUID | _NO_EXEC | (0 if source == "/dev/null" else _NO_DEV)
    _mount("none", target, "", _REMOUNT | _BIND | _READ_ONLY | keep)


def _loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        interface = fcntl.ioctl(sock, _SIOCGIFFLAGS, struct.pack("16sh14x", b"lo", 0))
        flags = struct.unpack("16sh14x", interface)[1]
        fcntl.ioctl(sock, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", flags | _IFF_UP))


def join(pid: int) -> None:
    """Put this process into the namespaces of another, and the processes it forks into that one's pid namespace."""
    fd = _do("syscall", _PIDFD_OPEN, pid, 0)
    try:
        _do("setns", fd, _ALL)
    finally:
        os.close(fd)


def give_up() -> None:
    """Give up every capability permanently: no program that is started can bring one back."""
    for capability in range(64):
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    _do("capset", (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0), (ctypes.c_uint32 * 6)())
    # Joining a namespace cleared this flag, and so took away this process's access to its own files in /proc.
    _libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)


def own_copy(fd: int) -> None:
    """Replace an anonymous file with a copy that no other process has."""
    copy_fd = os.memfd_create("guest", os.MFD_CLOEXEC)
    size = os.fstat(fd).st_size
    at = 0
    while at < size:
        at += os.sendfile(copy_fd, fd, at, size - at)
    os.dup2(copy_fd, fd, inheritable=os.get_inheritable(fd))
    os.close(copy_fd)


def keep_only(fds: Iterable[int]) -> None:
    """Close all descriptors except these and the standard ones."""
    low = 3
    for fd in sorted(fds):
        os.closerange(low, fd)
        low = fd + 1
    try:
        _do("syscall", _CLOSE_RANGE, low, ctypes.c_uint(0xFFFFFFFF), 0)
    except OSError as error:
        if error.errno != errno.ENOSYS:
            raise
        os.closerange(low, os.sysconf("SC_OPEN_MAX"))
