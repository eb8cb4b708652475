"""The workspace: paths, reading, editing, listing, searching, and what changed since the baseline."""

from __future__ import annotations

import contextlib
import difflib
import fnmatch
import io
import os
import re
import stat
import tarfile
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

from . import texts
from .disk import content_of, folder_content, stamp_of
from .parser import Parser
from .processes import TimeLimit, time_limit

SEARCH_LIMIT_S = 5

# The archive of what an environment's set-up made in the source, such as package metadata and compiled modules.
ARTEFACTS = "/opt/environment/stackrank-artefacts.tar"

FILES_LIMIT = 125_000
"""More files and folders than any project has; looking at that many takes seconds."""

MOST_CHANGED = 500
"""The most files changed by one request that are reported to the host."""
_MOST_PARSED = 50

# Made by tools that only read the program.
_NOISE = {"__pycache__", ".git", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}


_MOST_SIMILAR = 3


class Refused(Exception):
    """The request cannot be carried out; the message is for the agent, and nothing was changed."""


class Workspace:
    """The folder of files that the agent works on."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)
        self._baseline: Dict[str, Tuple[int, ...]] = {}
        self._known: Dict[str, Tuple[int, ...]] = {}
        self._built: Set[str] = set()
        self._parser = Parser()

    def __len__(self) -> int:
        """Return how many files the workspace held the last time they were looked at."""
        return len(self._known)

    # ---- paths

    def relative(self, path: str) -> Optional[str]:
        """Return a real path as the agent names it, or None if it lies outside the workspace."""
        if path == self.root:
            return "."
        prefix = self.root + os.sep
        return path[len(prefix) :] if path.startswith(prefix) else None

    def resolve(self, path: str) -> str:
        """Return the real path, inside the workspace, of what the agent named. Raises Refused."""
        if not isinstance(path, str) or not path or "\0" in path:
            reason = "contains a NUL character" if path else "is empty: the workspace itself is `.`"
            raise Refused("the path %s" % reason)
        real = os.path.realpath(os.path.join(self.root, path))
        if self.relative(real) is None:
            raise Refused("%s is outside the workspace (%s)" % (path, self.root))
        return real

    def _existing_file(self, path: str) -> str:
        real = self.resolve(path)
        if os.path.isdir(real):
            raise Refused("%s is a directory, not a file" % path)
        if not os.path.exists(real):
            raise self._missing(path)
        if not os.path.isfile(real):
            raise Refused("%s is not a regular file" % path)
        return real

    def _missing(self, path: str) -> Refused:
        """Return the refusal of a path that does not exist, with what was probably meant."""
        lines = texts.LINES_OF_FILE.fullmatch(path)
        if lines is not None and os.path.isfile(self.resolve(lines[1])):
            return Refused("%s is a place in %s: name the file without lines" % (path, lines[1]))
        name = os.path.basename(path.rstrip("/"))
        files = [candidate for candidate, _ in self._walk()]
        similar = [candidate for candidate in files if os.path.basename(candidate) == name]
        similar = similar or difflib.get_close_matches(path, files, _MOST_SIMILAR, 0.7)
        hint = "did you mean %s?" % " or ".join(similar[:_MOST_SIMILAR]) if similar else "listdir shows what does"
        return Refused("%s does not exist: %s" % (path, hint))

    def _walk(self, top: str = "") -> Iterator[Tuple[str, str]]:
        """Yield (relative path, real path) of every file, in a fixed order; links are not followed."""
        count = 0
        pending = [os.path.join(self.root, top) if top else self.root]
        while pending:
            folders, files = folder_content(pending.pop(), _NOISE)
            count += len(folders) + len(files)
            if count > FILES_LIMIT:
                raise Refused("the workspace holds more than %d files: remove some" % FILES_LIMIT)
            for real in files:
                yield real[len(self.root) + 1 :], real
            pending += reversed(folders)

    # ---- reading and editing

    def _check_new(self, path: str, real: str) -> None:
        """Raise Refused if a path that does not exist is none that a new file can have."""
        if path.endswith("/"):
            raise Refused("%s names a directory: name a file in it" % path)
        folder = os.path.dirname(real)
        while not os.path.exists(folder):
            folder = os.path.dirname(folder)
        if texts.LINES_OF_FILE.fullmatch(path):
            raise self._missing(path)
        if not os.path.isdir(folder):
            raise Refused("%s is a file, so it cannot contain %s" % (self.relative(folder), path))

    def read(self, path: str, limit: int = 8 << 20) -> bytes:
        """Return the content of the whole file."""
        real = self._existing_file(path)
        size = os.path.getsize(real)
        if size > limit:
            raise Refused(
                "%s has %d bytes, more than the %d that can be shown: search it instead" % (path, size, limit)
            )
        try:
            with open(real, "rb") as file:
                return file.read()
        except PermissionError:
            raise Refused("%s cannot be read: its permissions forbid it" % path) from None

    def edit(self, path: str, text: str, start: Optional[int], end: Optional[int]) -> Tuple[Dict[str, Any], bytes]:
        """Replace lines `start` to `end` (1-based, inclusive) or the whole file, atomically.

        The file keeps its encoding, its byte-order mark and its line ends. `end` = `start` - 1 inserts before
        `start`. Returns what was done, with the syntax error that a Python file now has, if any, and the new
        content of the file.
        """
        real = self.resolve(path)
        if os.path.isdir(real):
            raise Refused("%s is a directory, not a file" % path)
        new = not os.path.exists(real)
        if new and start is not None:
            raise Refused("%s does not exist: omit the line numbers to create it" % path)
        if new:
            self._check_new(path, real)
        old = b"" if new else self.read(path)
        try:
            insert = texts.encoded(text, old, path, whole=start is None)
        except texts.NotText as error:
            raise Refused("%s %s" % (path, error)) from None
        bom = b"\xef\xbb\xbf" if old.startswith(b"\xef\xbb\xbf") else b""
        newline = b"\r\n" if old.count(b"\r\n") * 2 > old.count(b"\n") else b"\n"
        lines = texts.LINES.findall(old[len(bom) :])
        if start is None:
            if end is not None:
                raise Refused("an end line needs a start line")
            first, replaced = 1, len(lines)
            insert = insert[len(bom) :] if bom and insert.startswith(bom) else insert
            insert = texts.with_newlines(insert, lines, newline)
            content = bom + insert
        else:
            total = len(lines)
            last = start if end is None else end
            if not 1 <= start <= total + 1 or not start - 1 <= last <= max(total, start - 1):
                raise Refused(texts.explain_lines(start, last, path, total))
            if insert and not insert.endswith(b"\n") and (last < total or not lines or lines[-1].endswith(b"\n")):
                insert += newline
            insert = texts.with_newlines(insert, lines[start - 1 : last], newline)
            head = b"".join(lines[: start - 1])
            if insert and head and not head.endswith(b"\n"):
                head += newline
            content = bom + head + insert + b"".join(lines[last:])
            first, replaced = start, last - start + 1
        self._write(real, content)
        added = insert.count(b"\n") + bool(insert and not insert.endswith(b"\n"))
        result: Dict[str, Any] = {
            "created": new,
            "first": first,
            "replaced": replaced,
            "added": added,
            "changed": content != old,
            "touched": texts.touched_lines(old, content),
        }
        result["syntax_error"] = self._parser.syntax_error(real) if path.endswith(".py") else None
        name = self.relative(real) or path
        self._known[name] = stamp_of(real)
        result["changed_files"] = (
            [(name, len(content), result["syntax_error"] or "")] if result["changed"] or new else []
        )
        return result, content

    def restore(self, path: str, content: Optional[bytes]) -> List[Tuple[str, Optional[int], str]]:
        """Write these bytes to a file, or remove it if they are None. Returns what changed, as `news` does."""
        real = self.resolve(path)
        name = self.relative(real) or path
        if content is None:
            try:
                os.unlink(real)
            except OSError as error:
                raise Refused("%s cannot be removed: %s" % (name, error.strerror)) from None
            self._known.pop(name, None)
            return [(name, None, "")]
        self._write(real, content)
        self._known[name] = stamp_of(real)
        return [(name, len(content), (self._parser.syntax_error(real) if path.endswith(".py") else None) or "")]

    def _write(self, real: str, content: bytes) -> None:
        folder = os.path.dirname(real)
        temporary = os.path.join(folder, ".%s.%d.part" % (os.path.basename(real)[:100], os.getpid()))
        try:
            os.makedirs(folder, exist_ok=True)
            mode = stat.S_IMODE(os.stat(real).st_mode) if os.path.exists(real) else 0o644
            with open(temporary, "wb") as file:
                file.write(content)
            os.chmod(temporary, mode)
            os.replace(temporary, real)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise Refused("%s cannot be written: %s" % (self.relative(real), error.strerror)) from None

    # ---- listing and searching

    def listing(self, path: str, depth: int, limit: int) -> Dict[str, Any]:
        """Return the entries below a directory as [relative path, size in bytes or None for a directory, target].

        The target of a link is the path to which it leads in the workspace; otherwise it is empty.
        """
        real = self.resolve(path)
        if not os.path.isdir(real):
            raise Refused("%s is a file: view shows it" % path) if os.path.exists(real) else self._missing(path)
        entries: List[Tuple[str, Optional[int], str]] = []
        omitted = 0
        for folder, folders, names in os.walk(real):
            folders[:] = sorted(name for name in folders if name not in _NOISE)
            below = os.path.relpath(folder, real)
            level = 0 if below == "." else below.count(os.sep) + 1
            for name in sorted(folders + names):
                if len(entries) >= limit:
                    omitted += 1
                    continue
                full = os.path.join(folder, name)
                relative = self.relative(full) or full
                is_folder = name in folders
                target = self.relative(os.path.realpath(full)) if os.path.islink(full) else None
                entries.append((relative, None if is_folder else os.lstat(full).st_size, target or ""))
            if level + 1 >= depth:
                folders[:] = []
        return {"entries": sorted(entries), "more": omitted}

    def search(self, pattern: str, path: str, glob: str, limit: int, ignore_case: bool) -> Dict[str, Any]:
        """Return the lines that match a regular expression, as [relative path, line number, line]."""
        try:
            expression = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
        except (re.error, RecursionError, OverflowError) as error:
            raise Refused("%r is not a valid regular expression: %s" % (pattern, error)) from None
        real = self.resolve(path)
        if not os.path.exists(real):
            raise self._missing(path)

        try:
            # A hostile expression can take forever; Python checks for signals while it matches.
            with time_limit(SEARCH_LIMIT_S):
                return self._search(expression, real, glob, limit)
        except TimeLimit:
            raise Refused(
                "the search took longer than %d s: use a simpler regular expression or a narrower path" % SEARCH_LIMIT_S
            ) from None

    def _search(self, expression: "re.Pattern[str]", real: str, glob: str, limit: int) -> Dict[str, Any]:
        top = self.relative(real) or "."
        files = [(top, real)] if os.path.isfile(real) else self._walk("" if top == "." else top)
        matches: List[Tuple[str, int, str]] = []
        omitted = 0
        for relative, full in files:
            if glob and not (fnmatch.fnmatch(relative, glob) or fnmatch.fnmatch(os.path.basename(full), glob)):
                continue
            if os.path.islink(full) or not os.path.isfile(full):
                continue
            try:
                with open(full, "rb") as file:
                    data = file.read(4 << 20)
            except OSError:
                continue
            if b"\0" in data:
                continue
            text = data.decode(texts.find_encoding(data, relative), "replace")
            lines = text[text.startswith("\ufeff") :].split("\n")
            # The newline at the end begins no other line.
            for number, line in enumerate(lines if lines[-1] else lines[:-1], 1):
                line = line.rstrip("\r")
                match = expression.search(line)
                if match is not None:
                    if len(matches) < limit:
                        matches.append((relative, number, texts.around(line, match)))
                    else:
                        omitted += 1
        return {"matches": matches, "more": omitted}

    # ---- snapshot and difference

    def put(self, archive: bytes, with_artefacts: bool) -> None:
        """Unpack a tar archive into the workspace, whose content then becomes the baseline.

        `with_artefacts`: first unpack what the environment's set-up made in the source. That is no part of `changes`.
        """
        if with_artefacts and os.path.exists(ARTEFACTS):
            with tarfile.open(ARTEFACTS) as tar:
                self._built.update(self._unpack(member, tar) for member in tar if member.isfile())
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            for member in tar:
                if member.issym():
                    self._link(member)
                    continue
                if not member.isfile():
                    raise Refused("%s is not a regular file" % member.name)
                self._built.discard(self._unpack(member, tar))
        self.set_baseline()

    def _link(self, member: tarfile.TarInfo) -> None:
        folder, name = os.path.split(member.name)
        real = os.path.join(self.resolve(folder or "."), name)
        if self.relative(os.path.normpath(os.path.join(os.path.dirname(real), member.linkname))) is None:
            raise Refused("%s is a link that leads out of the workspace" % member.name)
        try:
            os.makedirs(os.path.dirname(real), exist_ok=True)
            if os.path.lexists(real):
                os.unlink(real)
            os.symlink(member.linkname, real)
        except OSError as error:
            raise Refused("%s cannot be made: %s" % (member.name, error)) from None

    def _unpack(self, member: tarfile.TarInfo, tar: tarfile.TarFile) -> str:
        real = self.resolve(member.name)
        source = tar.extractfile(member)
        assert source is not None
        try:
            os.makedirs(os.path.dirname(real), exist_ok=True)
            with open(real, "wb") as file:
                file.write(source.read())
            os.chmod(real, member.mode & 0o755 | 0o600)
        except (OSError, RecursionError) as error:  # the latter: folders nested too deep
            raise Refused("%s cannot be written: %s" % (member.name, error)) from None
        return real[len(self.root) + 1 :]

    def set_baseline(self) -> None:
        """Make the present content of the workspace the baseline."""
        self._baseline = {relative: stamp_of(real) for relative, real in self._walk()}
        self._known = dict(self._baseline)

    def fingerprint(self, suffix: str = ".py") -> Dict[str, Tuple[int, ...]]:
        """Return a stamp of every file with this suffix, to notice edits however they are made."""
        return {relative: stamp_of(real) for relative, real in self._walk() if relative.endswith(suffix)}

    def news(self) -> List[Tuple[str, Optional[int], str]]:
        """Return the files that changed since the last call, at most MOST_CHANGED.

        Each is [path, size in bytes or None if it is gone, syntax error or ""]. A link or another special file counts
        as gone, as in `changes`. Only Python files of the baseline are parsed.
        """
        old, stamps = self._known, self.fingerprint(suffix="")
        if stamps == old:
            return []
        self._known = stamps
        sizes = {path: stamp[1] for path, stamp in stamps.items() if stamp and stat.S_ISREG(stamp[4])}
        changed = sorted(path for path in {*old, *stamps} - self._built if old.get(path) != stamps.get(path))
        parsed = [path for path in changed if path.endswith(".py") and path in sizes and path in self._baseline]
        errors = {
            path: self._parser.syntax_error(os.path.join(self.root, path)) or "" for path in parsed[:_MOST_PARSED]
        }
        return [(path, sizes.get(path), errors.get(path, "")) for path in changed[:MOST_CHANGED]]

    def changes(self, limit: int = 32 << 20) -> Tuple[Dict[str, Any], bytes]:
        """Return what differs from the baseline: names of deleted and skipped files, and a tar archive of the rest."""
        buffer = io.BytesIO()
        present = set()
        skipped: List[str] = []
        with tarfile.open(fileobj=buffer, mode="w") as tar:
            for relative, real in self._walk():
                present.add(relative)
                if relative in self._built or self._baseline.get(relative) == stamp_of(real):
                    continue
                content = content_of(real, limit - buffer.tell())
                if content is None:
                    skipped.append(relative)
                    continue
                member = tarfile.TarInfo(relative)
                member.size = len(content)
                member.mode = 0o755 if os.lstat(real).st_mode & 0o100 else 0o644
                tar.addfile(member, io.BytesIO(content))
        deleted = sorted(set(self._baseline) - present - self._built)
        return {"deleted": deleted, "skipped": skipped[:100], "skipped_count": len(skipped)}, buffer.getvalue()
