"""The files of this machine that sandboxes see: some programs, all that these need, and a Python without packages."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from stackrank.env.sandbox.bubblewrap.shared_objects import linked_files
from stackrank.host.programs import find_program

SYSTEM = tuple(map(Path, ("/usr", "/etc", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")))
"""Where programs of the machine are."""
Entries = dict[Path, os.stat_result]
"""A file or a link -> its own attributes."""

_PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
_PROGRAMS = """
    [ ar arch as awk b2sum base32 base64 basename bash bc bunzip2 bzcat bzip2 c++ cal cat cc chmod chown cksum clear cmp
    col column comm cp cpp csplit cut dash date dc dd df diff diff3 dir dircolors dirname du echo ed egrep env expand
    expr factor false fgrep file find flock fmt fold free g++ gawk gcc gdb getconf getent getopt git grep groups gunzip
    gzip head hexdump hostname iconv id infocmp install ionice jq join kill ld less link ln locale logname look ls make
    mawk md5sum mkdir mkfifo mktemp more mv nano nice nl nm node nohup nproc numfmt objdump od openssl paste patch
    pathchk perl pgrep pidof pinky pkill pmap pr printenv printf ps ptx pwd python3 ranlib readelf readlink realpath
    renice reset rev rg rm rmdir script sdiff sed seq setsid sh sha1sum sha224sum sha256sum sha384sum sha512sum shred
    shuf size sleep sort split sqlite3 stat stdbuf strace strings strip stty sum sync tac tail tar taskset tee test
    timeout top touch tput tr tree true truncate tsort tty uname unexpand uniq unlink unxz unzip uptime users vi vim
    w wc which who whoami xargs xxd xz xzcat yes zcat zip
"""
PROGRAMS = frozenset(_PROGRAMS.split())
"""Programs that sandboxes have, if this machine has them. `STACKRANK_SANDBOX_PROGRAMS` names more."""

_LIBRARY_FOLDERS = ("lib64", "usr/lib64", "lib/*-linux-*", "usr/lib/*-linux-*", "usr/lib")
_LOADED = "libgcc_s.so.1 libnss_*.so.2 libstdc++.so.6 libthread_db.so.1 libutil.so.1 librt.so.1 libdl.so.2"
"""Libraries that programs load by name."""
_STARTUP = "*crt*.o libc.so libc_*.a libm.so libm*.a libdl.a librt.a libutil.a libpthread.a"
"""What C programs are linked with."""
_HEADERS = "*.h arpa asm* bits c++ gnu linux net netinet rpc sys"
_ALWAYS = ""
_DATA = {
    _ALWAYS: (
        "etc/alternatives", "etc/hosts", "etc/ld.so.cache", "etc/localtime", "etc/nsswitch.conf", "usr/share/zoneinfo",
        "usr/share/terminfo/*/*", "lib/terminfo/*/*", "usr/lib/locale/C.*", "usr/lib*/gconv/*", "usr/lib/*/gconv/*",
        *(f"{folder}/{name}" for folder in _LIBRARY_FOLDERS for name in _LOADED.split()),
    ),
    "file": ("usr/share/misc/magic*", "usr/lib/file/magic*"),
    "git": ("usr/lib/git-core", "usr/libexec/git-core", "usr/share/git-core"),
    "gdb": ("usr/share/gdb", "usr/share/gcc"),
    "node": ("usr/share/nodejs", "usr/share/node_modules"),
    "perl": ("usr/lib/*/perl*", "usr/share/perl*", "usr/lib*/perl5"),
    "gcc": (
        "usr/lib/gcc", "usr/libexec/gcc",
        *(f"{folder}/{name}" for folder in _LIBRARY_FOLDERS for name in _STARTUP.split()),
        *(f"{folder}/{name}" for folder in ("usr/include", "usr/include/*-linux-*") for name in _HEADERS.split()),
    ),
}  # fmt: skip
"""Program -> patterns, below the root folder, of files and folders that it reads."""
_LEFT_OUT = re.compile(
    r"/(lib(asan|hwasan|lsan|tsan|ubsan)\.[^/]*|lto1|lto-dump|cc1obj|f951|gnat1|d21)$|/plugin/include/|\.opt-[12]\.pyc$"
    r"|/lib(64)?/python3[^/]*/((site|dist)-packages|config-[^/]*|idlelib|turtledemo|ensurepip/_bundled)/"
    r"|/lib(64)?/python3[^/]*/([^/]+/)*tests?/(?!$|support/|__init__|__pycache__/($|__init__))"
)
"""Large files that hardly any program reads, and packages: a version of a task's own project would show its fix."""
_PYTHON_CODE = re.compile(r"/lib(64)?/python3[^/]*/|/usr/share/(gdb|gcc)/")
"""Where Python's own modules are, and those of gdb. A Python file elsewhere belongs to a project."""
_MOST_LINKS = 40


def select_system(pythons: Iterable[Path], programs: Iterable[str]) -> Entries:
    """Return what all sandboxes need of this machine, in `SYSTEM` and in the folders of the interpreters.

    `pythons`: interpreters, without links; their standard libraries are included. `programs`: further programs.
    """
    selection = _Selection()
    for name in sorted({*PROGRAMS, *programs}):
        if file := find_program(name, path=_PATH):
            selection.add(Path(file))
    for program, patterns in _DATA.items():
        if program == _ALWAYS or find_program(program, path=_PATH):
            selection.add_all(path for pattern in patterns for path in Path("/").glob(pattern))
    # gdb has the system's Python inside.
    system_pythons = [path.resolve() for folder in SYSTEM for path in folder.glob("bin/python3")]
    for python in (*pythons, *system_pythons):
        selection.add_python(python)
    for folder in SYSTEM:
        selection.follow(folder)
    return selection.entries_below((*SYSTEM, *(python.parent.parent for python in pythons)))


def select_linked(folders: Iterable[Path], bases: Iterable[Path]) -> Entries:
    """Return what the packages in folders are linked with, in `SYSTEM` and in the folders `bases`."""
    selection = _Selection()
    for folder in folders:
        for below in files_below(folder):
            if ".so" in below.name:
                selection.add_all(linked_files(below))
    return selection.entries_below((*SYSTEM, *bases))


def select_folder(folder: Path) -> Entries:
    """Return every file and link below a folder. Links are not followed."""
    statuses = {path: path.lstat() for path in files_below(folder)}
    return {
        path: status
        for path, status in statuses.items()
        if stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)
    }


def files_below(folder: Path, left_out: re.Pattern[str] | None = None) -> Iterator[Path]:
    """Yield everything below a folder that is not a folder itself, links included, and is not left out."""
    for place, folders, files in os.walk(folder):
        parent = Path(place)
        if left_out is not None:
            folders[:] = [name for name in folders if not left_out.search(f"{place}/{name}/")]
            files[:] = [name for name in files if not left_out.search(f"{place}/{name}")]
        yield from (parent / name for name in files)
        yield from (path for name in folders if (path := parent / name).is_symlink())


class _Selection:
    def __init__(self) -> None:
        self.entries: Entries = {}
        self._added: set[Path] = set()
        self._real: dict[Path, Path | None] = {Path("/"): Path("/")}
        """A path that was followed -> where it leads."""

    def add_all(self, paths: Iterable[Path]) -> None:
        for path in paths:
            self.add(path)

    def add(self, path: Path) -> None:
        """Add a file with what it needs, or a folder with all below it."""
        if path in self._added:
            return
        self._added.add(path)
        real = self.follow(path)
        if real is None or real in self.entries or _LEFT_OUT.search(str(real)):
            return
        if real.is_dir():
            for below in files_below(real, _LEFT_OUT):
                if not below.is_dir():
                    self.add(below)
                else:
                    self.follow(below)
            return
        if real.suffix in (".py", ".pyc") and not _PYTHON_CODE.search(str(real)):
            return
        status = real.stat()
        if stat.S_ISREG(status.st_mode) and os.access(real, os.R_OK):
            self.entries[real] = status
            if status.st_mode & 0o111 or ".so" in real.name:
                self.add_all(_needs(real))

    def add_python(self, python: Path) -> None:
        """Add an interpreter and its standard library."""
        base = python.parent.parent
        self.add_all((python, *base.glob("bin/python3*"), *base.glob(f"lib*/{python.name}")))

    def entries_below(self, roots: Collection[Path]) -> Entries:
        """Return the entries in some folders."""
        return {
            path: status for path, status in self.entries.items() if any(path.is_relative_to(root) for root in roots)
        }

    def follow(self, path: Path, links: int = 0) -> Path | None:
        """Add the links on a path, and return where it leads; None if that does not exist."""
        if path not in self._real:
            self._real[path] = self._follow_last(path, links)
        return self._real[path]

    def _follow_last(self, path: Path, links: int) -> Path | None:
        folder = self.follow(path.parent, links)
        if folder is None or path.name == "..":
            return folder and folder.parent
        place = folder / path.name
        try:
            status = place.lstat()
        except OSError:
            return None
        if not stat.S_ISLNK(status.st_mode):
            return place
        self.entries[place] = status
        return self.follow(folder / place.readlink(), links + 1) if links < _MOST_LINKS else None


def _needs(file: Path) -> list[Path]:
    with file.open("rb") as stream:
        head = stream.read(128)
    if head.startswith(b"#!"):
        return [Path(os.fsdecode(word)) for word in head[2:].split(b"\n")[0].split()[:1]]
    return linked_files(file)
