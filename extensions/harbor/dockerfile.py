"""Read a Dockerfile of others, as far as it can be followed without building it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from stackrank.env.benchmarks.base import BenchmarkError
from stackrank.env.benchmarks.testfiles import words

_IDLE = ("CMD", "LABEL", "ENTRYPOINT", "EXPOSE", "ARG")
"""Lines that change nothing here. A line that uses an ARG is refused."""
_ROOT = PurePosixPath("/")
_QUIET = ("--no-cache-dir", "-q", "--quiet", "--upgrade", "-U")


@dataclass
class Dockerfile:
    """The effect of the lines of a Dockerfile that were read so far."""

    sources: Mapping[str, bytes]
    """The files that it can copy."""
    python: str | None = None
    """Such as `3.11`; empty: any; None: no FROM was read yet."""
    workdir: PurePosixPath = _ROOT
    files: dict[PurePosixPath, bytes] = field(default_factory=dict)
    requirements: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)

    def read(self, text: str, image: bool) -> None:
        """Follow all lines. `image`: there is an image, in which the lines that cannot be followed here have been done.

        Raises BenchmarkError, which names the line.
        """
        joined = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        for line in filter(None, (text_line.strip() for text_line in joined.replace("\\\n", " ").splitlines())):
            name, _, arguments = line.partition(" ")
            if not self._apply(name.upper(), arguments.strip()) and not image:
                raise BenchmarkError(f"`{line[:60]}` is not supported: name a docker_image")

    def workspace(self, image: bool) -> dict[str, bytes]:
        """Return the files in the working directory. Raises BenchmarkError if that is `/`, or if others are needed."""
        if self.workdir == _ROOT:
            raise BenchmarkError("WORKDIR is missing or `/`: name the folder of the program")
        foreign = [path for path in self.files if not path.is_relative_to(self.workdir)]
        if foreign and not image:
            raise BenchmarkError(
                f"{foreign[0]} is copied to outside the WORKDIR {self.workdir}, which cannot be done here: "
                "name a docker_image"
            )
        files = {path: content for path, content in self.files.items() if path not in foreign}
        return {str(path.relative_to(self.workdir)): content for path, content in files.items()}

    def _apply(self, instruction: str, arguments: str) -> bool:
        """Follow a line; return whether that was possible."""
        parts = words(arguments)
        if instruction == "FROM":
            return self._from(arguments)
        if instruction == "WORKDIR" and len(parts) == 1 and "$" not in arguments:
            self.workdir = _normalise(self.workdir / parts[0])
            return True
        if instruction in ("COPY", "ADD") and len(parts) > 1 and not parts[0].startswith("--"):
            into = parts[-1].endswith(("/", "/.")) or parts[-1] == "." or len(parts) > 2
            return all(self._copy(source, _normalise(self.workdir / parts[-1]), into) for source in parts[:-1])
        if instruction == "ENV" and "$" not in arguments:
            pairs = [part.split("=", 1) for part in parts] if "=" in (parts or [""])[0] else [arguments.split(None, 1)]
            self.variables |= {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
            return all(len(pair) == 2 for pair in pairs)
        if instruction == "RUN" and (packages := _packages(arguments)) is not None:
            self.requirements += packages
            return True
        return instruction in _IDLE

    def _from(self, arguments: str) -> bool:
        image = re.fullmatch(
            r"(?:\S+/)?python(?::(?:(3\.\d+)|3\b|[a-z])\S*)?(?:\s+AS\s+\S+)?", arguments, re.IGNORECASE
        )
        if image is None or self.python is not None:
            return False
        self.python = image[1] or ""
        return True

    def _copy(self, source: str, target: PurePosixPath, into: bool) -> bool:
        """Add the files that one source of a COPY brings; return False if it names nothing."""
        source = source.removeprefix("./").strip("/") or "."
        if source in self.sources:
            into = into or target == self.workdir or any(target in path.parents for path in self.files)
            self.files[target / PurePosixPath(source).name if into else target] = self.sources[source]
            return True
        prefix = "" if source == "." else f"{source}/"
        copied = {
            path: content for path, content in self.sources.items() if path.startswith(prefix) and path != "Dockerfile"
        }
        self.files |= {target / path.removeprefix(prefix): content for path, content in copied.items()}
        return bool(copied)


def _normalise(path: PurePosixPath) -> PurePosixPath:
    """Return a path without `..`."""
    parts: list[str] = []
    for part in path.parts[1:]:
        if part == "..":
            parts = parts[:-1]
        else:
            parts.append(part)
    return PurePosixPath("/", *parts)


def _packages(command: str) -> list[str] | None:
    """Return what a RUN installs with pip; None if it does something else."""
    pip_install = re.fullmatch(r"\s*(?:python3? -m )?pip3? install\s+(.+)", command)
    if pip_install is None or re.search(r"[;&|<>`$]", pip_install[1].replace(">=", "").replace("<=", "")):
        return None
    parts = words(pip_install[1])
    if any(part.startswith("-") and part not in _QUIET for part in parts):
        return None
    return [part for part in parts if not part.startswith("-")]
