"""Where the files of a repository lie, and whether they are its own.

A repository can name other places of this machine: `.git` may be a file that leads to the git directory of a worktree
or a submodule, `commondir` leads to what worktrees share, `alternates` to objects of other repositories, and links
lead anywhere. Whoever made the repository chose these places. So a place outside of the folder that the user named is
used only if it names that folder in return, as git makes it do for worktrees and submodules, or if the user names it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.host.plain_files import is_plain, list_special, read_plain, real_path

SHARED = ("refs", "packed-refs", "reftable", "shallow")
"""What git reads beside objects from the directory that worktrees share."""
OF_A_CHECKOUT = ("index", "sharedindex.*")
"""What git reads from the directory of one checkout, beside `HEAD`."""
NAMED_OBJECTS = "GIT_ALTERNATE_OBJECT_DIRECTORIES"
"""Git's own variable with folders of objects. Those that the user lists in it may be alternates."""
_LINE = 1 << 16
_CONFIG = 1 << 24


class GitError(BenchmarkError):
    """Git failed. `reason`: all that it said, in one line."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason or message


def find_folders(repository: Path, worktree_of: Callable[[Path], str]) -> tuple[Path, Path]:
    """Return the absolute git directory of a checkout or a bare repository, and that which it shares with other
    checkouts. Raises GitError, also if one of them belongs to another repository.

    `worktree_of`: returns what the configuration in a git directory says about where its checkout is.
    """
    top = real_path(repository)
    place = top / ".git"
    if not os.path.lexists(place):
        place = top
    elif place.is_symlink():
        raise GitError(f"{place} is a link: name the repository that it leads to")
    elif not place.is_dir():  # of a worktree, or of a submodule
        place = top / read_line(place).removeprefix("gitdir:").strip()
    place = real_path(place)
    if not os.path.lexists(place / "HEAD"):
        raise GitError(f"{repository} is not a git repository")
    shares = os.path.lexists(place / "commondir")
    common = real_path(place / read_line(place / "commondir").strip()) if shares else place
    if place.is_relative_to(top) and common.is_relative_to(top):
        return place, common
    if place.parent == common / "worktrees":
        if _leads_to(place, read_line(place / "gitdir"), top / ".git"):
            return place, common
        raise GitError(f"{common} does not list {repository} as its worktree: run `git worktree repair` there")
    if place == common and _leads_to(place, worktree_of(place), top):
        return place, common
    raise GitError(
        f"{repository} leads to {common}, which belongs to another repository. If both are yours, run "
        f"`git config core.worktree {top}` in {repository}"
    )


def check_files(repository: Path, checkout: Path, common: Path) -> None:
    """Make sure that git finds only plain files of this repository. Raises GitError."""
    named = [real_path(Path(folder)) for folder in os.environ.get(NAMED_OBJECTS, "").split(os.pathsep) if folder]
    own = (real_path(repository), checkout, common, *named)
    places = [checkout / "HEAD", common / "config", *(common / name for name in SHARED)]
    places += (file for pattern in OF_A_CHECKOUT for file in checkout.glob(pattern))
    stores: list[Path] = []
    waiting = [common / "objects"]
    while waiting:
        store = waiting.pop()
        if store in stores:
            continue
        stores.append(store)
        for alternate in _alternates(store):
            if not any(alternate.is_relative_to(folder) for folder in own):
                raise GitError(
                    f"{repository} borrows objects from {alternate}, which belongs to another repository: run "
                    f"`git repack -a -d` there and remove {store / 'info/alternates'}, or name that folder in "
                    f"{NAMED_OBJECTS}"
                )
            waiting.append(alternate)
    for special in _special((*places, *stores)):
        raise GitError(f"{special} is neither a folder nor a plain file, so git is not started in {repository}")


def read_line(file: Path) -> str:
    """Return a file of one line. Raises GitError."""
    try:
        return read_plain(file, most_bytes=_LINE).decode("utf-8", "surrogateescape").rstrip("\n")
    except (OSError, ValueError) as error:
        raise GitError(f"{file} cannot be read ({getattr(error, 'strerror', None) or error})") from None


def is_config(file: Path) -> bool:
    """Whether a file with settings exists. Raises GitError if git cannot be asked to read it."""
    if not os.path.lexists(file):
        return False
    if not is_plain(file) or file.stat().st_size > _CONFIG:
        raise GitError(f"{file} is not a plain file, or too large")
    return True


def _leads_to(folder: Path, path: str, target: Path) -> bool:
    try:
        return bool(path.strip()) and real_path(folder / path.strip()) == target
    except ValueError:  # a null character
        return False


def _alternates(store: Path) -> Iterator[Path]:
    """Yield the folders from which a folder of objects borrows. Raises GitError."""
    file = store / "info" / "alternates"
    if not os.path.lexists(file):
        return
    for line in read_line(file).splitlines():
        if line and not line.startswith("#"):
            yield real_path(store / line)


def _special(places: tuple[Path, ...]) -> Iterator[Path]:
    for place in places:
        try:
            mode = place.lstat().st_mode
            if stat.S_ISDIR(mode):
                yield from list_special(place)
            elif not stat.S_ISREG(mode):
                yield place
        except FileNotFoundError:
            continue
        except OSError as error:
            raise GitError(f"{place} cannot be listed ({error.strerror})") from None
