"""Copies in memory of what sandboxes see of this machine, so that no sandbox can leave a trace in them.

Whether a page of a file on disk is in memory is state that programs can change and read, without any right to write
the file. A file in a tmpfs is always in memory: no page of it can be dropped or loaded, its folders are never read
from a disk, and its file system remembers no failed look-ups. Decision 20 has the other ways that were considered.

Each file is copied once (`files`). A tree of hard links to these copies is made of what all environments share, the
system's part, and one of each environment's folder; a view mounts some of these trees.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import inspect
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from stackrank.env.sandbox.base import Say
from stackrank.env.sandbox.bubblewrap import selection, shared_objects
from stackrank.env.sandbox.bubblewrap.mounts import NAMES, names
from stackrank.env.sandbox.bubblewrap.selection import (
    Entries,
    files_below,
    select_folder,
    select_linked,
    select_system,
)
from stackrank.env.sandbox.guest.holder import Problem, lock_file
from stackrank.errors import StackrankError
from stackrank.host.wall_clock import moment_ago
from stackrank.settings import settings

_RESERVE = 4
"""All copies may take one part in this many of the file system, those of a new tree one of what is free of it."""
_UNUSED_S = 2 * 86_400.0
"""A tree that no sandbox was started with for so long is removed."""


class NoMemory(StackrankError):
    """The files cannot be kept in memory. The message completes "is not sealed: "."""


@dataclass(frozen=True)
class Tree:
    """A tree of copies in memory. Beside it are `NAME.top`, the folder that it has copies of, and `NAME.json`."""

    folder: Path
    files: Collection[str]
    """The files and links that it has copies of."""


@dataclass(frozen=True)
class View:
    """The trees in memory that the sandboxes of one environment see."""

    machine: Path
    """The tree of the system's part."""
    bases: tuple[Path, ...]
    """The folders in it, outside of the system's own, that sandboxes see."""
    folders: Mapping[Path, Path]
    """Where sandboxes see a folder -> its tree."""
    names: Path
    """The tree of the files in which names of machines are looked up."""
    problem: str
    """Why the trees may leave memory nevertheless; empty if they cannot."""

    @property
    def trees(self) -> tuple[Path, ...]:
        """Return all trees."""
        return self.machine, self.names, *self.folders.values()

    def mounts(self) -> list[str]:
        """Return the arguments that make bwrap mount the trees."""
        arguments: list[str] = []
        for folder in selection.SYSTEM:
            copy = _below(self.machine, folder)
            if copy.is_symlink():
                arguments += ["--symlink", str(copy.readlink()), str(folder)]
            elif copy.is_dir():
                arguments += ["--ro-bind", str(copy), str(folder)]
        places = {base: _below(self.machine, base) for base in self.bases} | dict(self.folders)
        for place in sorted(places):
            # By itself, bwrap creates parents with the host's permissions: root's home, for example, would be closed.
            parents = [word for parent in reversed(place.parents[:-1]) for word in ("--dir", str(parent))]
            arguments += [*parents, "--ro-bind", str(places[place]), str(place)]
        return [*arguments, *names(self.names)]


class Memory:
    """The copies of this user. Safe to use from several processes and threads at once."""

    def __init__(self, places: Sequence[Path] | None = None) -> None:
        """`places`: folders to try, each in a file system in memory; None for the machine's."""
        self._places = places
        self._in_use: int | None = None
        self._views: dict[object, View | NoMemory] = {}
        self._trees: dict[str, Tree] = {}
        self._locked: set[int] = set()
        self._held: dict[Path, int] = {}
        """Trees that this process uses -> the descriptor of the lock that says so."""

    def view(self, folders: Mapping[Path, Path], say: Say) -> View:
        """Return the view with these folders (where they are -> where sandboxes see them), made if it is missing.

        Each folder has an interpreter at `bin/python`. Raises NoMemory.
        """
        key = tuple(sorted((str(folder), str(seen_as)) for folder, seen_as in folders.items()))
        view = self._views.get(key)
        if view is None or (isinstance(view, View) and not all(tree.is_dir() for tree in view.trees)):
            try:
                view = self._find(folders, say)
            except NoMemory as problem:
                view = problem
            except OSError as error:
                view = NoMemory(f"what sandboxes share cannot be kept in memory ({error})")
            self._views[key] = view
        if isinstance(view, NoMemory):
            raise view
        self._hold(view.trees)
        return view

    def _hold(self, trees: Iterable[Path]) -> None:
        """Mark trees as in use by this process, now."""
        for tree in trees:
            with contextlib.suppress(FileNotFoundError):  # it was replaced meanwhile
                if tree not in self._held:
                    self._held[tree] = os.open(tree, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                    fcntl.flock(self._held[tree], fcntl.LOCK_SH)
                os.utime(_top_of(tree))

    def _find(self, folders: Mapping[Path, Path], say: Say) -> View:
        root = self._root()
        pythons = sorted({(folder / "bin" / "python").resolve() for folder in folders})
        bases = sorted({python.parent.parent for python in pythons})
        with _locked(root / "lock"):
            machine = self._system_tree(root, pythons, select_linked(folders, bases), say)
            trees = {
                seen_as: self._tree(root, str(folder), folder, partial(select_folder, folder)).folder
                for folder, seen_as in folders.items()
            }
            named = self._tree(root, str(NAMES), NAMES, lambda: {file: file.lstat() for file in NAMES.iterdir()}).folder
        own_bases = tuple(base for base in bases if not base.is_relative_to("/usr"))
        view = View(machine.folder, own_bases, trees, named, "")
        return replace(view, problem=self._lock(view.trees)) if _swaps() else view

    def _system_tree(self, root: Path, pythons: Sequence[Path], linked: Entries, say: Say) -> Tree:
        """Return the tree of the system's part. Nearly always it has what packages are `linked` with."""
        programs = settings().sandbox_programs.split()
        key = [[str(python) for python in pythons], programs]

        def select() -> Entries:
            say("copying the programs of sandboxes into memory")
            return select_system(pythons, programs)

        tree = self._tree(root, key, Path("/"), select)
        missing = sorted(str(path) for path in linked if str(path) not in tree.files)
        if not missing:
            return tree
        files = list(map(Path, tree.files))
        return self._tree(root, [*key, missing], Path("/"), lambda: {path: path.lstat() for path in files} | linked)

    def _tree(self, root: Path, key: object, top: Path, select: Callable[[], Entries]) -> Tree:
        """Return the tree of the entries below `top`, made if it is missing. Called with the lock held.

        Raises NoMemory.
        """
        code = [inspect.getsource(module) for module in (selection, shared_objects)]
        name = hashlib.sha256(json.dumps([key, code]).encode()).hexdigest()[:16]
        tree = self._trees.get(name)
        if tree is None or not tree.folder.is_dir():
            tree = _current(root, name)
            if tree is None:
                _prune(root, name)
                tree = _make(root, name, top, select())
            self._trees[name] = tree
        self._hold([tree.folder])  # what is made next may need room
        return tree

    def _lock(self, trees: Iterable[Path]) -> str:
        """Lock the files of trees, so that they cannot be swapped out. Returns why that is impossible."""
        try:
            for file in chain.from_iterable(map(files_below, trees)):
                status = file.lstat()
                if status.st_ino not in self._locked and stat.S_ISREG(status.st_mode) and status.st_size:
                    lock_file(str(file))
                    self._locked.add(status.st_ino)
        except Problem as problem:
            return f"this machine swaps, and {problem}: turn swap off, or raise the limit of locked memory (ulimit -l)"
        return ""

    def _root(self) -> Path:
        """Return this user's folder, marked as in use by this process. Raises NoMemory."""
        for place in self._places if self._places is not None else _machine_places():
            root = place / f"stackrank-{os.getuid()}"
            with contextlib.suppress(FileExistsError):
                root.mkdir(mode=0o700)
            status = root.lstat()
            if status.st_uid != os.getuid() or not stat.S_ISDIR(status.st_mode) or status.st_mode & 0o077:
                raise NoMemory(f"{root} is not a folder that only you can use: remove it")
            if self._in_use is None:
                self._in_use = os.open(root, os.O_RDONLY | os.O_CLOEXEC)
                fcntl.flock(self._in_use, fcntl.LOCK_SH)
            return root
        raise NoMemory("this machine has no file system in memory (/dev/shm) in which programs can be executed")


def _swaps() -> bool:
    """Return whether this machine has somewhere to swap to."""
    try:
        return len(Path("/proc/swaps").read_text().splitlines()) > 1
    except OSError:
        return False


def remove_unused(places: Sequence[Path] | None = None) -> list[str]:
    """Remove this user's copies if no process uses them. Returns what was removed."""
    removed = []
    for place in places if places is not None else _machine_places():
        root = place / f"stackrank-{os.getuid()}"
        with contextlib.suppress(OSError):
            fd = os.open(root, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(root)
                removed.append(str(root))
            finally:
                os.close(fd)
    return removed


def _machine_places() -> list[Path]:
    """Return the folders of this machine that lie in memory and from which programs can be executed."""
    in_memory = {
        fields[1] for line in Path("/proc/mounts").read_text().splitlines() if (fields := line.split())[2] == "tmpfs"
    }
    return [
        Path(place)
        for place in ("/dev/shm", os.environ.get("XDG_RUNTIME_DIR", ""))
        if place in in_memory and os.access(place, os.W_OK) and not os.statvfs(place).f_flag & os.ST_NOEXEC
    ]


@contextlib.contextmanager
def _locked(file: Path) -> Iterator[None]:
    with file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _current(root: Path, name: str) -> Tree | None:
    """Return the tree of that name if the files that it was copied from are still the same."""
    try:
        tree, files = json.loads((root / f"{name}.json").read_text())
        if all(_stamp(os.lstat(path)) == stamp for path, stamp in files.items()) and (root / tree).is_dir():
            return Tree(root / str(tree), files.keys())
    except (OSError, ValueError):
        pass
    return None


def _make(root: Path, name: str, top: Path, entries: Entries) -> Tree:
    """Copy entries, all of them below the folder `top`, and return their tree."""
    store = root / "files"
    store.mkdir(exist_ok=True)
    size = _bytes(entries.values())
    space = os.statvfs(root)
    _make_room(root, space.f_blocks * space.f_frsize // _RESERVE - size)
    free = os.statvfs(root).f_bavail * space.f_frsize
    if size > free // _RESERVE:
        raise NoMemory(
            f"what sandboxes share has {size >> 20} MB, which is too much for the {free >> 20} MB free in {root.parent}"
        )
    tree = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=root))
    tree.chmod(0o755)
    for path, status in entries.items():
        target = tree / path.relative_to(top)
        target.parent.mkdir(parents=True, exist_ok=True)
        if stat.S_ISLNK(status.st_mode):
            target.symlink_to(path.readlink())
        else:
            target.hardlink_to(_copy(store, path, status))
    stamps = {str(path): _stamp(status) for path, status in entries.items()}
    (root / f"{name}.top").write_text(str(top))
    (root / f"{name}.json").write_text(json.dumps([tree.name, stamps]))
    return Tree(tree, stamps.keys())


def _below(tree: Path, path: Path) -> Path:
    return tree / path.relative_to("/")


def _top_of(tree: Path) -> Path:
    """Return the file that names the folder that a tree was copied from; it is touched by who uses it."""
    return tree.with_name(tree.name.rpartition("-")[0] + ".top")


def _prune(root: Path, replaced: str) -> None:
    """Remove the tree of that name, those that nobody needs any more, and the copies that no tree uses.

    Sandboxes that run see their tree as it was, whatever changes on the machine: a tree in use stays.
    """
    unneeded = {file.stem for file in root.glob("*.json") if not _is_needed(file.with_suffix(".top"))}
    trees = [tree for name in {*unneeded, replaced} for tree in root.glob(f"{name}-*") if not _is_used(tree)]
    for name in unneeded:
        for file in root.glob(f"{name}.*"):
            file.unlink()
    for tree in trees:
        shutil.rmtree(tree)
    if trees:
        _remove_unlinked(root)


def _make_room(root: Path, most: int) -> None:
    """Remove trees that no process uses, the longest unused first, until all copies take at most so many bytes."""
    taken = _bytes(copy.stat() for copy in (root / "files").iterdir())
    if taken <= most:
        return
    for top in sorted(root.glob("*.top"), key=lambda file: file.stat().st_mtime):
        trees = list(root.glob(f"{top.stem}-*"))
        if taken <= most or any(map(_is_used, trees)):
            continue
        linked = [file.lstat() for tree in trees for file in files_below(tree)]
        taken -= _bytes(status for status in linked if status.st_nlink == 2)  # its own link, and that of the store
        for tree in trees:
            shutil.rmtree(tree)
        for file in root.glob(f"{top.stem}.*"):
            file.unlink()
    _remove_unlinked(root)


def _remove_unlinked(root: Path) -> None:
    """Remove the copies that no tree has."""
    for copy in (root / "files").iterdir():
        if copy.stat().st_nlink == 1:
            copy.unlink()


def _bytes(statuses: Iterable[os.stat_result]) -> int:
    """Return how much files take, of what may be links, too."""
    return sum(status.st_size for status in statuses if stat.S_ISREG(status.st_mode))


def _is_needed(top: Path) -> bool:
    """Whether the folder of a tree exists, and a process uses the tree or did so lately."""
    try:
        if not Path(top.read_text()).is_dir():
            return False
        is_recent = top.stat().st_mtime > moment_ago(seconds=_UNUSED_S).timestamp()
    except FileNotFoundError:
        return False
    return is_recent or any(_is_used(tree) for tree in top.parent.glob(f"{top.stem}-*"))


def _is_used(tree: Path) -> bool:
    """Whether a process uses a tree."""
    folder = os.open(tree, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(folder)
    return False


def _stamp(status: os.stat_result) -> list[int]:
    return [status.st_ino, status.st_size, status.st_mtime_ns]


def _copy(store: Path, source: Path, status: os.stat_result) -> Path:
    """Return the copy of a file in memory, made if it is missing. Equal files of several environments share one."""
    mode = status.st_mode & 0o555
    with source.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    copy = store / hashlib.sha256(f"{content} {mode} {status.st_mtime_ns}".encode()).hexdigest()[:32]
    if not copy.exists():
        part = store / f".{os.getpid()}-{copy.name}"
        shutil.copyfile(source, part)
        part.chmod(mode)
        os.utime(part, ns=(status.st_mtime_ns, status.st_mtime_ns))
        part.rename(copy)
    return copy
