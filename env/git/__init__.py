"""Runs git so that a repository decides nothing but the content that git reads.

A repository's own settings can name programs that git runs: hooks, filters, drivers of diffs and merges, monitors,
helpers. So git never gets them. A repository is read through a git directory of ours, made for each call: it has a
configuration of ours, and leads to the repository's objects and references. `.gitattributes` may then still name a
filter or a driver, but no configuration defines one.
"""

from __future__ import annotations

import errno
import functools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from stackrank.env.git.layout import (
    OF_A_CHECKOUT,
    SHARED,
    GitError,
    check_files,
    find_folders,
    is_config,
    read_line,
)
from stackrank.host import programs
from stackrank.host.plain_files import is_plain
from stackrank.host.scratch import scratch
from stackrank.patches.reading import SUBMODULE

__all__ = [
    "GitError", "borrowed", "changed_files", "clone_git", "enclosing_repository", "exchange_git", "git_folders",
    "is_bare", "push_git", "read_git", "remote_addresses", "run_git",
]  # fmt: skip

CONFIG = Path(__file__).with_name("gitconfig")
_NETWORK = {
    "GIT_ASKPASS", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM", "GIT_PROXY_COMMAND", "GIT_SSH",
    "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY",
    "GIT_SSL_NO_VERIFY",
}  # fmt: skip
"""The user's variables for talking to other machines."""
_ALWAYS = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_PAGER": "cat", "GIT_EDITOR": "false",
    "GIT_ATTR_NOSYSTEM": "1",
}  # fmt: skip
_OWN = {
    **_ALWAYS, "GIT_CONFIG_GLOBAL": str(CONFIG), "GIT_CONFIG_NOSYSTEM": "1", "GIT_ALLOW_PROTOCOL": "file",
    "GIT_ASKPASS": "false", "GIT_SSH_COMMAND": "false",
}  # fmt: skip
_NO_PROGRAMS = {"core.hooksPath": os.devnull, "core.fsmonitor": "false", "core.editor": "false"}
"""These take precedence over the user's settings, which may lead into the current folder."""
_MOST_CONTENT, _MOST_LISTED = 1 << 30, 1 << 28
_READING_S = 600.0
"""A repository of a few kilobytes can have more files than any disk. Reading such a one ends with an error."""
_READ_FROM_CHECKOUT = (".gitattributes", ".gitignore", ".gitmodules")
_FORMATS = {"extensions.objectformat": r"sha1|sha256", "extensions.refstorage": r"files|reftable"}
_FILES = {
    "core.autocrlf": "true|false|input", "core.eol": "lf|crlf|native", "core.filemode": "true|false",
    "core.symlinks": "true|false", "core.ignorecase": "true|false", "core.precomposeunicode": "true|false",
    "core.checkstat": "default|minimal", "core.trustctime": "true|false",
}  # fmt: skip
"""Settings that say how files are stored, with their values. Whatever else a repository sets is ignored."""


def run_git(
    *arguments: str,
    folder: Path | str = programs.FOLDER,
    stdin: bytes = b"",
    variables: Mapping[str, str] | None = None,
) -> bytes:
    """Run git with our configuration alone, in a folder of ours, and return its output. Raises GitError."""
    return _run(arguments, folder, stdin, {**_OWN, **(variables or {})}, about=folder)


def read_git(
    repository: Path, *arguments: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None
) -> bytes:
    """Run a git command that reads a repository, and return its output. It sees the repository's objects, references
    and index, and whatever it writes is lost. Raises GitError.
    """
    with borrowed(repository) as folder:
        lent = {**_OWN, "GIT_DIR": str(folder), **(variables or {})}
        return _run(arguments, programs.FOLDER, stdin, lent, about=repository, timeout_s=_READING_S)


def exchange_git(folder: Path, *arguments: str) -> None:
    """Run a git command that talks to another machine, in a folder of ours. The user's own configuration applies,
    because it says how to reach and to persuade other machines. Raises GitError.
    """
    kept = {name: text for name, text in os.environ.items() if name in _NETWORK}
    protocols = {"GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh"}
    _run(arguments, folder, b"", {**kept, **_ALWAYS, **protocols, **_with_settings(_NO_PROGRAMS)}, about=folder)


def clone_git(repository: Path, clone: Path, commits: Iterable[str]) -> None:
    """Clone a repository without checking files out, with those commits even if no branch leads to them any more. The
    clone shares nothing with the repository and has no remote. Raises GitError.
    """
    with borrowed(repository) as folder:
        run_git("clone", "--quiet", "--no-local", "--no-checkout", "--template=", str(folder), str(clone))
        run_git("fetch", "--quiet", str(folder), *dict.fromkeys(commits), folder=clone)
    run_git("remote", "remove", "origin", folder=clone)


def push_git(clone: Path, address: str, branch: str) -> None:
    """Push the current commit of a clone of ours to a branch, whatever that is so far.

    `address`: an absolute path or a URL. A repository on this machine is written to without its hooks and settings.
    Raises GitError.
    """
    arguments = ("push", "--quiet", "--force", "--no-verify")
    if not address.startswith("/"):
        exchange_git(clone, *arguments, address, f"HEAD:refs/heads/{branch}")
        return
    checkout, common = git_folders(Path(address))
    heads = [checkout / "HEAD", common / "HEAD", *common.glob("worktrees/*/HEAD")]
    if not is_bare(Path(address)) and any(read_line(head) == f"ref: refs/heads/{branch}" for head in heads):
        raise GitError(f"{address} has the branch {branch} checked out: check out another one there")
    with borrowed(Path(address), written=True) as folder:
        run_git(*arguments, str(folder), f"HEAD:refs/heads/{branch}", folder=clone)


def _run(
    arguments: tuple[str, ...],
    folder: Path | str,
    stdin: bytes,
    variables: Mapping[str, str],
    *,
    about: Path | str,
    timeout_s: float | None = None,
) -> bytes:
    surroundings = {name: text for name, text in programs.environment().items() if not name.startswith("GIT_")}
    try:
        ended = programs.run(
            ["git", *arguments],
            folder=folder,
            stdin=stdin,
            env={**surroundings, **variables},
            timeout_s=timeout_s,
            most_bytes=_MOST_CONTENT if arguments[0] == "cat-file" else _MOST_LISTED,
        )
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        raise GitError(f"git in {about}: {arguments[0]} was stopped, because {error.strerror}") from None
    except programs.TimeoutExpired:
        raise GitError(f"git in {about}: {arguments[0]} was stopped after {timeout_s:g} s") from None
    if ended.status:
        lines = ended.error_text.strip().splitlines() or ["failed"]
        raise GitError(f"git in {about}: {lines[-1]}", " ".join(" ".join(lines).split()))
    return ended.output


@contextmanager
def borrowed(repository: Path, *, written: bool = False) -> Iterator[Path]:
    """Give a git directory of ours that leads to the objects, references and index of a repository.

    `written`: whether new objects and references go to the repository. Raises GitError.
    """
    checkout, common = git_folders(repository)
    check_files(repository, checkout, common)
    with scratch() as folder:
        if written:
            (folder / "objects").symlink_to(common / "objects")
        else:
            (folder / "objects" / "info").mkdir(parents=True)
            # A path in this file may be in quotes, with the escapes of C.
            quoted = str(common / "objects").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            (folder / "objects" / "info" / "alternates").write_text(f'"{quoted}"\n', errors="surrogateescape")
        (folder / "HEAD").write_text(f"{read_line(checkout / 'HEAD')}\n", errors="surrogateescape")
        places = [common / name for name in SHARED]
        places += (file for pattern in OF_A_CHECKOUT for file in checkout.glob(pattern))
        for place in filter(Path.exists, places):
            (folder / place.name).symlink_to(place)
        if not (folder / "refs").exists():
            (folder / "refs").mkdir()
        (folder / "config").write_text(_config(common))
        yield folder


def changed_files(repository: Path) -> dict[str, str]:
    """Return path -> two letters of git-status(1) for the tracked files of a checkout that differ from its commit. A
    filter's output counts as different, because no filter is run. Raises GitError.
    """
    stored = {**_user_settings(), **_settings_of(git_folders(repository)[1], _FILES)}
    options = ("--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=dirty")
    variables = {**_with_settings(stored), "GIT_WORK_TREE": str(repository.absolute())}
    with borrowed(repository) as folder:
        lent = {**_OWN, "GIT_DIR": str(folder), **variables}

        def ask(*arguments: str, stdin: bytes = b"") -> list[str]:
            out = _run(arguments, programs.FOLDER, stdin, lent, about=repository, timeout_s=_READING_S)
            return out.decode("utf-8", "surrogateescape").split("\0")

        tracked = {path: attributes for attributes, _, path in _split_entries(ask("ls-files", "--stage", "-z"))}
        _check_read_files(repository, tracked)
        if submodules := [path for path, attributes in tracked.items() if attributes.startswith(f"{SUBMODULE} ")]:
            # Git would read which commit they have checked out, from wherever they say that they are.
            index = (folder / "index").read_bytes()
            (folder / "index").unlink()
            (folder / "index").write_bytes(index)
            ask("update-index", "-z", "--skip-worktree", "--stdin", stdin=_listing(submodules))
        return {entry[3:]: entry[:2] for entry in ask("--no-optional-locks", "status", *options) if entry}


def _split_entries(entries: Iterable[str]) -> Iterator[tuple[str, str, str]]:
    return (entry.partition("\t") for entry in entries if entry)


def _listing(paths: Iterable[str]) -> bytes:
    return "".join(f"{path}\0" for path in paths).encode("utf-8", "surrogateescape")


def _check_read_files(repository: Path, tracked: Iterable[str]) -> None:
    """Raises GitError if git would read anything but plain files of a checkout to find out about its tracked files."""
    folders = {parent for path in tracked for parent in PurePosixPath(path).parents}
    if any(".." in folder.parts or folder.is_absolute() for folder in folders):
        raise GitError(f"the index of {repository} has files outside of it")
    for folder in folders:
        for place in (repository / folder / name for name in _READ_FROM_CHECKOUT):
            if os.path.lexists(place) and not place.is_dir() and not is_plain(place):
                raise GitError(f"{place} is not a plain file, so git is not started in {repository}")


def enclosing_repository(folder: Path) -> Path:
    """Return the innermost folder around `folder`, or itself, that is a checkout. Raises GitError."""
    place = folder.absolute()
    checkout = next((around for around in (place, *place.parents) if os.path.lexists(around / ".git")), None)
    if checkout is None:
        raise GitError(f"{folder} is in no git repository")
    return checkout


def is_bare(repository: Path) -> bool:
    """Return whether a repository has no checked out files. Raises GitError."""
    local = _settings_of(git_folders(repository)[1], {"core.bare": "true|false"})
    return not (repository / ".git").exists() or local.get("core.bare") == "true"


def remote_addresses(repository: Path) -> dict[str, str]:
    """Return name -> address for pushing of a repository's remotes. Raises GitError."""
    settings = _all_settings(git_folders(repository)[1])
    names = dict.fromkeys(match[1] for name in settings if (match := re.fullmatch(r"remote\.(.+)\.(push)?url", name)))
    return {name: settings.get(f"remote.{name}.pushurl") or settings.get(f"remote.{name}.url", "") for name in names}


def git_folders(repository: Path) -> tuple[Path, Path]:
    """Return the absolute git directory of a checkout or a bare repository, and that which it shares with other
    checkouts. Raises GitError, also if one of them belongs to another repository (see `env.git.layout`).
    """
    return find_folders(repository, lambda folder: _all_settings(folder).get("core.worktree", ""))


def _config(common: Path) -> str:
    formats = _settings_of(common, _FORMATS)
    version = 1 if formats else 0
    lines = [f"\t{name.partition('.')[2]} = {value}" for name, value in formats.items()]
    core = f"[core]\n\tbare = true\n\trepositoryformatversion = {version}"
    return "\n".join([core, "[uploadpack]\n\tallowAnySHA1InWant = true", "[extensions]", *lines, ""])


def _settings_of(common: Path, wanted: Mapping[str, str]) -> dict[str, str]:
    return _valid(_all_settings(common), wanted)


def _all_settings(common: Path) -> dict[str, str]:
    file = common / "config"
    if not is_config(file):
        return {}
    status = file.stat()
    return dict(_local_settings(file, status.st_mtime_ns, status.st_size))


def _valid(settings: Mapping[str, str], wanted: Mapping[str, str]) -> dict[str, str]:
    return {
        name: settings[name].lower()
        for name, values in wanted.items()
        if name in settings and re.fullmatch(values, settings[name].lower())
    }


@functools.lru_cache(maxsize=64)
def _local_settings(file: Path, _changed_ns: int, _size: int) -> tuple[tuple[str, str], ...]:
    """Return the settings in a file. Git only parses it, and follows no `include`."""
    return _listed("--file", str(file))


@functools.cache
def _user_settings() -> dict[str, str]:
    kept = {name: text for name, text in os.environ.items() if name in _NETWORK}
    variables = {**kept, **_ALWAYS, "GIT_DIR": os.devnull}
    out = _run(("config", "--list", "-z"), programs.FOLDER, b"", variables, about=programs.FOLDER)
    return _valid(dict(_pairs(out)), _FILES)


def _listed(*source: str) -> tuple[tuple[str, str], ...]:
    return _pairs(run_git("config", "--list", "-z", *source))


def _pairs(out: bytes) -> tuple[tuple[str, str], ...]:
    entries = filter(None, out.decode("utf-8", "surrogateescape").split("\0"))
    return tuple((name, value if newline else "true") for name, newline, value in (e.partition("\n") for e in entries))


def _with_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that give git these settings, which take precedence over those in files."""
    variables = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
