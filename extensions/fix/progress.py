"""The progress of an interrupted `fix`, so that the same command can continue it."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from stackrank.extensions.fix.finding.folder import STARTED
from stackrank.extensions.fix.finding.problems import Problem
from stackrank.extensions.fix.finding.project import Project
from stackrank.extensions.fix.finding.suite import Suite
from stackrank.home import write_whole


@dataclass
class Progress:
    """The progress, kept in the folder of proposals from when the problems are known until the command is finished."""

    digest: str
    """Identifies the command: the result of `digest_command`."""
    suite: Suite
    problems: list[Problem]
    """The problems that failing tests show."""
    runs: dict[str, int] = field(default_factory=dict)
    """Name -> the run that was started under it."""
    proposed: dict[int, tuple[list[int], dict[str, str]]] = field(default_factory=dict)
    """Run -> the numbers of its proposals, and the problems without one: name -> why."""

    def keep(self, out: Path) -> None:
        """Store the progress in the folder."""
        with suppress(ValueError):  # a test's name may not be valid text; then the command starts over the next time
            write_whole(out / STARTED, _FORM.dump_json(self).decode())


_FORM = TypeAdapter(Progress)


def digest_command(project: Project, *settings: object) -> str:
    """Return a hash that is the same if the same command is given again on the same commit."""
    parts = (
        project.repository,
        project.commit,
        project.subdir,
        project.command,
        project.environment,
        project.timeout_s,
        *settings,
    )
    return hashlib.sha256(repr(parts).encode("utf-8", "backslashreplace")).hexdigest()


def load_progress(out: Path, digest: str) -> Progress | None:
    """Read the progress of the same command in this folder; None if there is none, and the command starts over."""
    with suppress(OSError, ValueError):
        progress = _FORM.validate_json((out / STARTED).read_bytes())
        return progress if progress.digest == digest else None
    return None
